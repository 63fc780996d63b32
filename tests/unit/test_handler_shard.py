"""The step shard: each story of a shard, saved as it is finished."""

from dataclasses import replace

import pytest

from capture_consumer.builds.effects import (
    BeginShard,
    EndShard,
    KeepContent,
    RecordSnapshots,
    SnapshotResult,
)
from capture_consumer.builds.facts import FileFact
from capture_consumer.builds.identity import DEFAULT_MODE
from capture_consumer.capture.storybook import Site
from capture_consumer.errors import (
    BrowserDied,
    BrowserUnusable,
    Interrupted,
    NotNow,
    PermanentError,
)
from tests.fakes_of_capture import FakeEnvironment, FakeHold, Shot
from tests.plain import a_png
from tests.unit.capturing import Studio, index_of

MODE = DEFAULT_MODE.canonical
GREY, WHITE, BLACK = Shot(a_png(128)), Shot(a_png(255)), Shot(a_png(0))
THREW = Shot(None, "errored", "story_error", "Error: no\x00 props", log="console: boom")
LATE = Shot(None, "errored", "render_timeout", "It did not render within 15 s.")
DEAD = BrowserDied("the page crashed")


def planned(before=None, **shots) -> Studio:
    """Return a build that is planned, its stories in the order of the keywords."""
    studio = Studio()
    studio.camera.shots = {
        story: made if isinstance(made, list) else [made] for story, made in shots.items()
    }
    studio.submit({"index.json": index_of(*shots)})
    if before:
        studio.grow_from({(story, MODE, "chromium"): png for story, png in before.items()})
    studio.run("plan")
    studio.facts.written.clear()
    return studio


class HurriedAt(FakeHold):
    """A hold that was let go when it begins for the so-manieth time."""

    def __init__(self, facts, *, calls):
        super().__init__(facts)
        self.left = calls

    def begin(self, story, **where):
        self.left -= 1
        if self.left == 0:
            self.stop_soon.why = "released"
        super().begin(story, **where)


def results(studio: Studio) -> list[SnapshotResult]:
    records = [one for one in studio.facts.written if isinstance(one, RecordSnapshots)]
    return [result for record in records for result in record.results]


def records(hold: FakeHold) -> list[RecordSnapshots]:
    return [one for save in hold.saves for one in save if isinstance(one, RecordSnapshots)]


def test_a_shard_begins_is_captured_and_ends():
    """BUILD-31, BUILD-33, JOB-146."""
    studio = planned(a=GREY, b=WHITE)

    hold = studio.run("shard", shard_id=0)

    assert hold.saves[0] == (BeginShard(0),)
    assert studio.facts.written[-1] == EndShard(9, 0)
    assert [studio.state(story) for story in "ab"] == [("captured", None)] * 2
    assert studio.facts.row.phase == "reducing"
    assert studio.camera.site is None


def test_the_story_is_written_down_before_each_time_it_is_taken():
    """SUP-23, BUILD-36."""
    studio = planned(a=GREY)

    hold = studio.run("shard", shard_id=0)

    assert hold.begun == ["a", "a"]
    assert studio.camera.taken == [("a", False), ("a", True)]


def test_a_picture_equal_to_the_baseline_is_taken_once_and_stored_by_nobody():
    """BUILD-45, CAP-21."""
    studio = planned(before={"a": a_png(128)}, a=GREY)

    studio.run("shard", shard_id=0)

    assert studio.camera.taken == [("a", False)]
    assert studio.camera.known == 1
    assert not any(isinstance(one, KeepContent) for one in studio.facts.written)
    assert results(studio)[0].state == "captured"


def test_a_picture_of_equal_pixels_in_other_bytes_is_equal_too():
    """CAP-28."""
    other = a_png(128) + b"after the end"
    studio = planned(before={"a": other}, a=GREY)

    studio.run("shard", shard_id=0)

    assert studio.camera.taken == [("a", False)]
    assert not any(isinstance(one, KeepContent) for one in studio.facts.written)


def test_a_picture_that_differs_is_confirmed_and_compared_right_away():
    """BUILD-45; builds.md section 9, step 3."""
    studio = planned(before={"a": a_png(128)}, a=WHITE)

    studio.run("shard", shard_id=0)

    (compared,) = studio.facts.compared.values()
    assert compared.verdict == "changed"
    assert compared.diff_sha in studio.store
    assert [made.result for made in results(studio)[0].tries] == ["still", "still"]


def test_a_story_that_alternates_is_unstable_and_its_pictures_are_kept():
    """BUILD-45, B-17."""
    studio = planned(a=[GREY, WHITE, BLACK])

    studio.run("shard", shard_id=0)

    (result,) = results(studio)
    assert (result.state, result.pixel_sha) == ("unstable", None)
    pictures = {studio.facts.image_rows[made.pixel_sha or ""].blob_sha for made in result.tries}
    assert len(pictures) == 3
    assert pictures <= studio.store.keys()


def test_a_story_that_never_comes_to_rest_says_so():
    """BUILD-45, C-7."""
    studio = planned(a=[Shot(a_png(1), "moving"), Shot(a_png(2), "moving")])

    studio.run("shard", shard_id=0)

    assert studio.state("a") == ("unstable", None)
    assert results(studio)[0].message == "It did not come to rest in any of 2 tries."


def test_two_of_three_make_a_flaky_picture():
    """BUILD-45."""
    studio = planned(a=[GREY, WHITE, GREY])

    studio.run("shard", shard_id=0)

    assert (results(studio)[0].state, results(studio)[0].flaky) == ("captured", True)


def test_a_story_that_throws_is_errored_and_its_neighbour_captured():
    """BUILD-47, C-13, C-27."""
    studio = planned(a=THREW, b=GREY)

    studio.run("shard", shard_id=0)

    assert studio.state("a") == ("errored", "story_error")
    assert studio.state("b") == ("captured", None)
    assert results(studio)[0].message == r"Error: no\x00 props"
    assert studio.store[results(studio)[0].tries[0].log_sha or ""] == b"console: boom"


def test_a_story_over_its_time_is_tried_twice():
    """BUILD-47."""
    studio = planned(a=LATE)

    studio.run("shard", shard_id=0)

    assert studio.state("a") == ("errored", "render_timeout")
    assert len(studio.camera.taken) == 2


def test_a_story_that_kills_its_browser_twice_is_errored_and_its_neighbours_taken_once():
    """BUILD-46, C-22, CAP-22."""
    studio = planned(before={"a": a_png(128), "c": a_png(128)}, a=GREY, b=DEAD, c=GREY)

    studio.run("shard", shard_id=0)

    assert studio.state("b") == ("errored", "browser_died")
    assert [made.result for made in results(studio)[1].tries] == ["died", "died"]
    assert studio.camera.taken == [("a", False), ("b", False), ("b", True), ("c", False)]


def test_a_story_whose_browser_dies_by_a_hurry_is_not_held_to_blame():
    """SUP-58, BUILD-46: its first death was real, the second is ours."""
    studio = planned(a=[DEAD, DEAD])
    hold = HurriedAt(studio.facts, calls=3)

    with pytest.raises(Interrupted):
        studio.run("shard", shard_id=0, hold=hold)

    assert studio.state("a") == ("planned", None)


def test_a_story_whose_browser_died_once_is_captured():
    """BUILD-46."""
    studio = planned(before={"a": a_png(128)}, a=[DEAD, GREY])

    studio.run("shard", shard_id=0)

    assert studio.state("a") == ("captured", None)


def test_a_browser_that_does_not_start_is_no_fault_of_a_story():
    """BUILD-38."""
    studio = planned(a=GREY, b=BrowserUnusable("no browser"))

    with pytest.raises(BrowserUnusable):
        studio.run("shard", shard_id=0)

    assert studio.state("b") == ("planned", None)
    assert studio.camera.site is None


def test_a_further_attempt_takes_only_what_is_planned():
    """BUILD-33, BUILD-12."""
    studio = planned(a=GREY, b=WHITE)
    with pytest.raises(Interrupted):
        studio.run("shard", shard_id=0, hold=studio.hold(stops_at_story="b"))

    studio.run("shard", shard_id=0, attempt=2)

    assert [story for story, _ in studio.camera.taken] == ["a", "a", "b", "b"]
    assert studio.facts.row.phase == "reducing"


def test_what_is_finished_when_a_drain_comes_is_saved():
    """JOB-113, JOB-168."""
    studio = planned(a=GREY, b=WHITE)

    with pytest.raises(Interrupted):
        studio.run("shard", shard_id=0, hold=studio.hold(stops_at_story="b"))

    assert studio.state("a") == ("captured", None)
    assert studio.state("b") == ("planned", None)


def test_a_drain_is_heard_between_two_tries_of_one_story():
    studio = planned(a=GREY)
    hold = studio.hold()
    take = studio.camera.take

    def take_and_stop(*args, **values):
        hold.stop_soon.why = "released"
        return take(*args, **values)

    studio.camera.take = take_and_stop  # type: ignore[method-assign]
    with pytest.raises(Interrupted):
        studio.run("shard", shard_id=0, hold=hold)

    assert len(studio.camera.taken) == 1
    assert studio.state("a") == ("planned", None)


def test_a_save_is_at_most_thirty_two_snapshots_behind():
    """BUILD-12, R6."""
    studio = planned(**{f"s{number:02}": GREY for number in range(70)})
    studio.facts.shown = {
        number: replace(one, shard_id=0) for number, one in studio.facts.shown.items()
    }

    hold = studio.run("shard", shard_id=0)

    assert [len(record.results) for record in records(hold)] == [32, 32]


def test_a_save_is_at_most_two_seconds_behind():
    """BUILD-12, R6."""
    studio = planned(a=GREY, b=WHITE, c=BLACK)
    take = studio.camera.take

    def take_slowly(*args, **values):
        studio.seconds += 0.6
        return take(*args, **values)

    studio.camera.take = take_slowly  # type: ignore[method-assign]
    hold = studio.run("shard", shard_id=0)

    assert [len(record.results) for record in records(hold)] == [2]


def test_after_a_crash_each_story_is_saved_before_the_next_begins():
    """BUILD-12, JOB-168, SUP-46."""
    studio = planned(a=GREY, b=WHITE)
    studio.facts.died_before = True

    hold = studio.run("shard", shard_id=0)

    assert hold.saves[1] == ()
    assert [len(record.results) for record in records(hold)] == [1]


def test_a_story_to_blame_comes_last_in_a_browser_of_its_own():
    """SUP-45."""
    studio = planned(a=GREY, b=WHITE)
    (first, _) = studio.facts.planned(0)
    studio.facts.shown[first.id] = replace(first, deaths=1)

    studio.run("shard", shard_id=0)

    assert [story for story, fresh in studio.camera.taken if not fresh] == ["b", "a"]
    assert studio.camera.renewed == 1


def test_another_environment_gives_the_job_back_for_a_minute():
    """BUILD-49, C-24."""
    studio = planned(a=GREY)
    studio.camera.environment = FakeEnvironment("other")

    with pytest.raises(NotNow) as caught:
        studio.run("shard", shard_id=0)

    assert (caught.value.code, caught.value.delay_ms) == ("environment_changed", 60_000)
    assert studio.facts.written == []


def test_after_ten_minutes_without_a_fitting_consumer_the_shard_fails():
    """BUILD-49, C-24: ten times given back for a minute each."""
    studio = planned(a=GREY)
    studio.camera.environment = FakeEnvironment("other")
    studio.facts.waited = {"environment_changed": 10}

    with pytest.raises(PermanentError) as caught:
        studio.run("shard", shard_id=0, attempt=12, failures=1)

    assert caught.value.code == "environment_changed"


def test_drains_and_lost_hosts_are_no_waits_for_a_fitting_consumer():
    """BUILD-49: what was let go often is not failed by one unfitting consumer."""
    studio = planned(a=GREY)
    studio.camera.environment = FakeEnvironment("other")
    studio.facts.waited = {"environment_changed": 9, "drained": 20}

    with pytest.raises(NotNow):
        studio.run("shard", shard_id=0, attempt=31)


@pytest.mark.parametrize("phase", ["reducing", "finished", "cancelled", "superseded"])
def test_a_shard_of_a_build_that_went_on_does_nothing(phase):
    """JOB-146, BUILD-37."""
    studio = planned(a=GREY)
    studio.set(phase=phase)

    studio.run("shard", shard_id=0)

    assert studio.facts.written == []
    assert studio.camera.taken == []


@pytest.mark.parametrize("state", ["done", "failed", "cancelled"])
def test_a_shard_that_ended_is_left_alone(state):
    """BUILD-31, BUILD-37."""
    studio = planned(a=GREY)
    studio.facts.shards[0] = replace(studio.facts.shards[0], state=state)

    studio.run("shard", shard_id=0)

    assert studio.facts.written == []


def test_a_shard_with_nothing_planned_ends_without_a_camera():
    """BUILD-33."""
    studio = planned(a=GREY)
    (only,) = studio.facts.planned(0)
    studio.facts.shown[only.id] = replace(only, state="errored")
    studio.with_browser = False

    studio.run("shard", shard_id=0)

    assert studio.facts.written == [EndShard(9, 0)]


def test_warnings_of_a_picture_are_told_with_it():
    """C-1, C-13."""
    warned = Shot(a_png(9), warnings=("1 font not loaded: http://x/y.woff",), empty=True)
    studio = planned(a=warned)

    studio.run("shard", shard_id=0)

    assert (
        results(studio)[0].message == "1 font not loaded: http://x/y.woff; It painted nothing."
    )
    assert results(studio)[0].state == "captured"


def test_a_picture_too_large_to_decode_is_an_error_of_its_story():
    """CAP-27."""
    studio = planned(a=Shot(b"\x89PNG torn"))

    studio.run("shard", shard_id=0)

    assert studio.state("a") == ("errored", "invalid_image")


def test_the_site_is_the_files_that_were_submitted():
    """CAP-7."""
    studio = planned(a=GREY)
    studio.facts.submitted = [FileFact("iframe.html", studio.store.put(b"<html>"), 6)]
    opened = studio.camera.open
    seen: list[Site] = []

    def open_and_tell(site: Site) -> None:
        seen.append(site)
        opened(site)

    studio.camera.open = open_and_tell  # type: ignore[method-assign]
    studio.run("shard", shard_id=0)

    assert seen[0].read(seen[0].files["iframe.html"]) == b"<html>"
