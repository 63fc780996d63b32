"""What a handler may do with its claim once somebody has asked for it back."""

import pytest

from capture_consumer.consumer.context import JobContext
from capture_consumer.consumer.job import ConsumerJob
from capture_consumer.consumer.lease import Stop
from capture_consumer.consumer.observer import NoObserver
from capture_consumer.errors import Interrupted, LeaseLost
from tests.unit.test_lease import Row, kept

JOB = ConsumerJob("j", "noop", 1, "me")


class Told(NoObserver):
    """An observer that remembers stories, and may break at each sign of progress."""

    def __init__(self, *, breaks=False):
        self.stories, self.breaks = [], breaks

    def story(self, job, story, **_where):
        self.stories.append(story)

    def touched(self, job):
        if self.breaks:
            raise KeyError


class Held:
    """A context over one row, and what was written through it."""

    def __init__(self, why=None, *, ours=True, breaks=False):
        self.row, self.stop, self.told = Row(), Stop(), Told(breaks=breaks)
        self.written: list[tuple[object, str | None]] = []
        if why:
            self.stop.set(why)

        def write(effects, story):
            self.written.append((effects, story))
            return ours

        self.context = JobContext(
            JOB,
            keeper=kept(self.row, self.stop),
            stop=self.stop,
            observer=self.told,
            write=write,
        )

    def begin(self):
        self.context.begin("story", snapshot_id=1, index=0, of=1, deadline_s=1.0)


def test_a_holder_that_cannot_prove_its_lease_saves_nothing_even_if_the_row_would_take_it():
    """JOB-56, COM-6, decision 6: its own clock decides, not the database that it may reach."""
    held = Held("lost")

    with pytest.raises(LeaseLost):
        held.context.save(())

    assert held.written == []


@pytest.mark.parametrize(
    ("why", "error", "saves"),
    [("lost", LeaseLost, 0), ("cancelled", Interrupted, 0), ("released", None, 1)],
)
def test_a_drain_lets_what_is_finished_be_saved_and_a_cancel_or_a_loss_does_not(
    why, error, saves
):
    """JOB-100, JOB-168."""
    held = Held(why)

    if error:
        with pytest.raises(error):
            held.context.save(())
    else:
        held.context.save(())

    assert len(held.written) == saves


@pytest.mark.parametrize(
    ("why", "error"),
    [("lost", LeaseLost), ("cancelled", Interrupted), ("released", Interrupted)],
)
def test_no_story_begins_once_the_claim_is_asked_back(why, error):
    """JOB-54, JOB-113: nor is anybody told that it does."""
    held = Held(why)

    with pytest.raises(error):
        held.begin()

    assert held.told.stories == []


def test_a_save_names_the_story_in_hand_and_counts_as_a_touch():
    """SUP-46, JOB-168."""
    held = Held()
    held.begin()
    held.row.now_s = 20.0

    held.context.save(("effect",))

    assert held.written == [(("effect",), "story")]
    held.row.now_s = 60.0
    assert held.context._keeper.step() >= 0
    assert held.stop.why is None  # 55 s after the claim, 40 s after the save


@pytest.mark.parametrize(
    ("ended", "error", "why"),
    [
        ("cancelled", Interrupted, "cancelled"),
        ("lost", LeaseLost, "lost"),
        (None, LeaseLost, "lost"),
    ],
)
def test_a_save_that_the_fence_refuses_says_why_and_stops_the_holder(ended, error, why):
    """COM-7, JOB-57."""
    held = Held(ours=False)
    held.row.ended = ended

    with pytest.raises(error):
        held.context.save(())

    assert held.stop.why == why


def test_whoever_listens_to_progress_cannot_break_the_work():
    """JOB-59."""
    held = Held(breaks=True)

    held.context.touch()
    held.context.save(())

    assert len(held.written) == 1
