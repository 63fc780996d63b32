"""The step reduce: what is missing is compared, the verdict is given."""

from dataclasses import replace

import pytest

from capture_consumer.builds import manifest
from capture_consumer.builds.effects import FinishBuild, KeepContent, RecordOutcomes
from capture_consumer.builds.identity import DEFAULT_MODE
from capture_consumer.errors import Interrupted
from tests.fakes_of_capture import FakeCamera, Killed, Shot
from tests.plain import a_png, a_project
from tests.unit.capturing import Studio, index_of

MODE = DEFAULT_MODE.canonical
CALLS = 15


def key(story: str) -> tuple[str, str, str]:
    return (story, "{}", "image")


def folder(before: dict[str, int] | None = None, **greys: int) -> Studio:
    """Return a build of a folder that is reducing: stories and the grey of each picture."""
    studio = Studio(with_browser=False)
    studio.set(kind="images")
    studio.submit({f"{story}.png": a_png(grey) for story, grey in greys.items()})
    if before is not None:
        studio.grow_from({key(story): a_png(grey) for story, grey in before.items()})
    studio.run("plan")
    studio.facts.written.clear()
    return studio


def test_a_first_build_is_accepted_and_leaves_a_manifest():
    """BUILD-56, BUILD-68, BUILD-69."""
    studio = folder(a=1, b=2)

    studio.run("reduce")

    row = studio.facts.row
    assert (row.phase, row.verdict) == ("finished", "accepted")
    assert row.counts == {"accepted": 2, "new": 2, "total": 2}
    assert len(manifest.decode(studio.store[row.manifest_sha or ""])) == 2


def test_each_outcome_comes_out():
    """BUILD-61, BUILD-62."""
    studio = folder({"same": 1, "other": 2, "gone": 3}, same=1, other=200, added=4)

    studio.run("reduce")

    assert studio.outcomes() == {
        "same": "unchanged",
        "other": "changed",
        "added": "new",
        "gone": "removed",
    }
    assert studio.facts.row.verdict == "needs_review"


def test_only_what_differs_is_compared_and_its_difference_is_kept():
    """BUILD-61; builds.md section 9, step 3."""
    studio = folder({"same": 1, "other": 2}, same=1, other=200)

    hold = studio.run("reduce")

    (compared,) = studio.facts.compared.values()
    assert hold.begun == ["other"]
    assert compared.diff_sha in studio.store


def test_what_was_compared_before_is_not_compared_again():
    """BUILD-75."""
    studio = folder({"other": 2}, other=200)
    studio.run("reduce")
    studio.set(phase="reducing")

    hold = studio.run("reduce")

    assert hold.begun == []
    assert studio.outcomes() == {"other": "changed"}


def test_another_rule_is_another_comparison():
    """CAP-31: the cache is keyed by the dials, too."""
    studio = folder({"other": 200}, other=202)
    studio.run("reduce")
    studio.set(phase="reducing", project=a_project(compare={"strict": True}))

    studio.run("reduce")

    assert [one.verdict for one in studio.facts.compared.values()] == ["tolerated", "changed"]
    assert studio.outcomes() == {"other": "changed"}


def test_a_pair_that_killed_two_consumers_is_left_out():
    """BUILD-78."""
    studio = folder({"a": 1, "b": 2}, a=100, b=200)
    studio.facts.shown = {
        number: replace(one, deaths=2 if one.key.story_id == "a" else 0)
        for number, one in studio.facts.shown.items()
    }

    hold = studio.run("reduce")

    assert hold.begun == ["b"]
    assert studio.outcomes() == {"a": "errored", "b": "changed"}
    assert studio.facts.row.verdict == "broken"


def test_content_is_named_before_what_refers_to_it():
    """R21, BUILD-68."""
    studio = folder({"other": 2}, other=200)

    studio.run("reduce")

    kinds = [type(one) for one in studio.facts.written]
    assert kinds == [KeepContent, RecordOutcomes, KeepContent, FinishBuild]


@pytest.mark.parametrize("phase", ["pending", "capturing", "finished", "cancelled"])
def test_a_reduce_of_a_build_that_is_elsewhere_does_nothing(phase):
    """builds.md section 9, step 1."""
    studio = folder(a=1)
    studio.set(phase=phase)

    studio.run("reduce")

    assert studio.facts.written == []


def test_comparisons_are_saved_when_a_drain_comes():
    """JOB-113, BUILD-75."""
    studio = folder({"a": 1, "b": 2}, a=100, b=200)

    with pytest.raises(Interrupted):
        studio.run("reduce", hold=studio.hold(stops_at_story="b"))

    assert len(studio.facts.compared) == 1


def test_after_a_crash_each_comparison_is_saved_before_the_next_begins():
    """BUILD-12, BUILD-78."""
    studio = folder({"a": 1, "b": 2}, a=100, b=200)
    studio.facts.died_before = True

    hold = studio.run("reduce")

    assert [len(save) for save in hold.saves[:3]] == [0, 1, 1]


def made() -> Studio:
    """Return a build of four stories that come to four ends."""
    threw = Shot(None, "errored", "story_error", "no")
    studio = Studio(
        FakeCamera(
            {
                "a": [Shot(a_png(1))],
                "b": [Shot(a_png(90))],
                "c": [threw],
                "d": [Shot(a_png(grey)) for grey in range(5, 12)],
            }
        )
    )
    studio.submit({"index.json": index_of("a", "b", "c", "d")})
    before = {"a": 1, "b": 2, "gone": 3}
    studio.grow_from({(story, MODE, "chromium"): a_png(grey) for story, grey in before.items()})
    return studio


def came_to(studio: Studio) -> tuple[object, ...]:
    row = studio.facts.row
    accepted = manifest.decode(studio.store[row.manifest_sha or ""])
    return (row.phase, row.verdict, dict(row.counts), studio.outcomes(), accepted)


def killed_once(studio: Studio, at: int) -> bool:
    """Take the build to its end, one job after another; kill once, at the nth call."""
    calls, was_killed = 0, False
    steps = {"pending": "plan", "planning": "plan", "capturing": "shard", "reducing": "reduce"}
    while studio.facts.row.phase != "finished":
        step = steps[studio.facts.row.phase]
        hold = studio.hold(dies_at=None if was_killed else at - calls)
        try:
            studio.run(step, hold=hold, shard_id=0, attempt=1 + was_killed)
        except Killed:
            was_killed = studio.facts.died_before = True
        calls += hold.calls
    return was_killed


@pytest.mark.parametrize("at", range(1, CALLS + 1))
def test_a_build_killed_before_and_after_every_save_comes_to_the_same_end(at):
    """BUILD-75, BUILD-81, BUILD-12: and nothing that was saved is recorded twice."""
    undisturbed, disturbed = made(), made()
    undisturbed.run_all()

    killed_once(disturbed, at)

    assert came_to(disturbed) == came_to(undisturbed)
    assert came_to(undisturbed)[3] == {
        "a": "unchanged",
        "b": "changed",
        "c": "errored",
        "d": "unstable",
        "gone": "removed",
    }


def test_every_call_of_a_build_is_among_those_it_was_killed_at():
    """BUILD-81."""
    assert killed_once(made(), CALLS)
    assert not killed_once(made(), CALLS + 1)


def test_a_first_build_without_a_picture_leaves_no_manifest():
    """BUILD-56: the next one is the first."""
    studio = Studio(with_browser=False)
    studio.set(kind="images")
    studio.submit({"torn.png": a_png(1)[:40]})
    studio.run("plan")

    studio.run("reduce")

    assert (studio.facts.row.verdict, studio.facts.row.manifest_sha) == ("broken", None)


def test_a_cancel_saves_nothing_any_more():
    """BUILD-16."""
    studio = folder({"a": 1, "b": 2}, a=100, b=200)
    hold = studio.hold(stops_at_story="b", stops_with="cancelled")

    with pytest.raises(Interrupted):
        studio.run("reduce", hold=hold)

    assert studio.facts.written == []
