"""The step plan: from what was submitted to snapshots and shards."""

import pytest

from capture_consumer.builds.effects import BeginPlanning, DealShards
from capture_consumer.builds.identity import DEFAULT_MODE
from capture_consumer.errors import Interrupted, NotNow, PermanentError
from tests.plain import a_png, a_project
from tests.unit.capturing import Studio, index_of

MODE = DEFAULT_MODE.canonical


def storybook(*stories: str, **entries) -> Studio:
    studio = Studio()
    studio.submit({"index.json": index_of(*stories, **entries), "iframe.html": b"<html>"})
    return studio


def folder(**files: bytes) -> Studio:
    studio = Studio(with_browser=False)
    studio.set(kind="images")
    studio.submit({name.replace("__", "/") + ".png": data for name, data in files.items()})
    return studio


def test_a_plan_says_first_that_it_plans_and_deals_the_stories_then():
    """BUILD-17, JOB-146."""
    studio = storybook("button--a", "button--b")

    hold = studio.run("plan")

    assert hold.saves == [(BeginPlanning(9),)]
    assert studio.facts.row.phase == "capturing"
    assert studio.facts.row.environment == "env"
    assert [one.key.story_id for one in studio.facts.planned(0)] == ["button--a", "button--b"]


@pytest.mark.parametrize(
    "phase", ["receiving", "capturing", "reducing", "finished", "cancelled"]
)
def test_a_plan_of_a_build_that_is_elsewhere_does_nothing(phase):
    """JOB-146, T5."""
    studio = storybook("button--a")
    studio.set(phase=phase)

    studio.run("plan")

    assert studio.facts.written == []


def test_a_plan_that_was_killed_is_made_again():
    """BUILD-81."""
    studio = storybook("button--a")
    studio.set(phase="planning")

    studio.run("plan")

    assert studio.facts.row.phase == "capturing"


def test_every_story_is_taken_in_every_mode():
    """BUILD-29."""
    studio = storybook("a", "b")
    studio.set(project=a_project(modes={"phone": {"width": 375}, "wide": {"width": 1920}}))

    studio.run("plan")

    (shard,) = studio.facts.shards
    assert len(studio.facts.planned(shard)) == 4


def test_tags_and_patterns_leave_stories_out():
    """BUILD-29, CAP-12."""
    tagged = {"type": "story", "title": "T", "name": "n", "tags": ["skip-visual"]}
    wip = {"type": "story", "title": "T", "name": "n", "tags": ["wip"]}
    studio = storybook("a", "b", "c", tagged=tagged, wip=wip)
    studio.set(project=a_project(capture={"skip_tags": ["wip"], "exclude": ["c*"]}))

    studio.run("plan")

    assert studio.outcomes().keys() == {"a", "b"}


def test_an_entry_that_is_unusable_is_an_error_of_its_own():
    """BUILD-27."""
    studio = storybook("a", b={"type": "story", "title": 7})

    studio.run("plan")

    assert studio.state("a") == ("planned", None)
    assert studio.state("b") == ("errored", "bad_entry")


def test_where_no_entry_is_usable_there_is_nothing_to_capture():
    """T7."""
    studio = storybook(b={"type": "story", "title": 7})

    studio.run("plan")

    assert studio.facts.row.phase == "reducing"


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"iframe.html": b""}, "bad_index"),
        ({"index.json": b"<!doctype html><title>404</title>"}, "bad_index"),
        ({"index.json": b'{"v":5,"entries":{}}'}, "no_stories"),
        ({"index.json": b'{"v":5,"entries":{"a":{},"a":{}}}'}, "duplicate_id"),
    ],
)
def test_a_storybook_that_is_none_fails_at_once_with_one_line(files, code):
    """T8, B-12, C-25, C-26."""
    studio = Studio()
    studio.submit(files)

    with pytest.raises(PermanentError) as caught:
        studio.run("plan")

    assert caught.value.code == code
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"capture": {"include": ["nothing--*"]}}, "no_stories"),
        ({"compare": {"treshold": 0.1}}, "bad_compare"),
        ({"compare": {"threshold": 7}}, "bad_compare"),
        ({"modes": {"a": {"width": 9}, "b": {"width": 9}}}, "duplicate_mode"),
    ],
)
def test_settings_that_cannot_be_met_fail_the_plan(values, code):
    """BUILD-5, BUILD-29."""
    studio = storybook("a")
    studio.set(project=a_project(**values))

    with pytest.raises(PermanentError) as caught:
        studio.run("plan")

    assert caught.value.code == code


def test_more_than_twenty_thousand_snapshots_are_too_many():
    """BUILD-29."""
    studio = storybook(*(f"story-{number}" for number in range(10_001)))
    studio.set(project=a_project(modes={"a": {"width": 9}, "b": {"width": 8}}))

    with pytest.raises(PermanentError, match="more than 20000") as caught:
        studio.run("plan")

    assert caught.value.code == "too_many"


def test_a_storybook_is_planned_where_there_is_a_browser():
    """BUILD-49."""
    studio = storybook("a")
    studio.with_browser = False

    with pytest.raises(NotNow):
        studio.run("plan")


def test_stories_go_to_shards_by_the_time_they_took():
    """BUILD-32."""
    studio = storybook("slow", "quick", "new")
    known = {("slow", MODE, "chromium"): 20_000.0, ("quick", MODE, "chromium"): 12_000.0}
    studio.facts.known_ms, studio.facts.up = known, 2

    studio.run("plan")

    shards = {one.key.story_id: one.shard_id for one in studio.facts.shown.values()}
    assert shards == {"slow": 0, "new": 1, "quick": 1}


def test_the_plan_previews_the_baseline_of_each_key():
    """BUILD-30, R28."""
    studio = storybook("a", "b")
    studio.grow_from({("a", MODE, "chromium"): a_png(1)})

    studio.run("plan")

    assert [one.baseline is not None for one in studio.facts.snapshots(9)] == [True, False]


def test_the_pictures_of_a_folder_are_captured_by_the_plan():
    """BUILD-6, BUILD-44, T7."""
    studio = folder(card__wide=a_png(1), card__small=a_png(2))

    studio.run("plan")

    (deal,) = (one for one in studio.facts.written if isinstance(one, DealShards))
    assert {(one.story_id, one.mode, one.browser) for one in deal.snapshots} == {
        ("card/wide", "{}", "image"),
        ("card/small", "{}", "image"),
    }
    assert studio.state("card/wide") == ("captured", None)
    assert studio.facts.row.phase == "reducing"


def test_a_picture_that_is_none_is_an_error_of_its_own():
    """BUILD-44, C-31."""
    studio = folder(good=a_png(1), torn=a_png(2)[:40])

    studio.run("plan")

    assert studio.state("good") == ("captured", None)
    assert studio.state("torn") == ("errored", "invalid_image")


def test_two_files_of_one_name_fail_the_plan_and_both_are_named():
    """BUILD-6."""
    studio = folder()
    studio.submit({"a.png": a_png(1), "a.PNG": a_png(2)})

    with pytest.raises(PermanentError, match=r"a\.png and a\.PNG") as caught:
        studio.run("plan")

    assert caught.value.code == "duplicate_name"


def test_a_folder_without_pictures_has_no_stories():
    """BUILD-29, B-12."""
    studio = folder()
    studio.submit({"readme.txt": b"hello"})

    with pytest.raises(PermanentError) as caught:
        studio.run("plan")

    assert caught.value.code == "no_stories"


def test_a_file_that_is_the_baselines_is_not_decoded_again():
    """CAP-28."""
    studio = folder(a=a_png(1))
    studio.grow_from({("a", "{}", "image"): a_png(1)})

    studio.run("plan")

    assert studio.facts.submitted[0].sha not in studio.store.read
    assert studio.state("a") == ("captured", None)


def test_a_plan_of_a_folder_stops_between_two_pictures():
    """JOB-113."""
    studio = folder(a=a_png(1), b=a_png(2))
    hold = studio.hold(stops_at_touch=True)

    with pytest.raises(Interrupted):
        studio.run("plan", hold=hold)

    assert studio.facts.row.phase == "planning"


def test_a_file_whose_name_cannot_be_a_story_fails_the_plan_and_is_named():
    """BUILD-4, BUILD-6."""
    studio = folder()
    studio.submit({"a\nb.png": a_png(1)})

    with pytest.raises(PermanentError, match="control character") as caught:
        studio.run("plan")

    assert caught.value.code == "bad_name"


def test_a_job_without_a_step_is_no_job():
    """JOB-146."""
    with pytest.raises(PermanentError) as caught:
        storybook("a").run(None, job_id="odd")

    assert caught.value.code == "malformed"
