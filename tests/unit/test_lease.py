"""Keeping a lease: many touches, few writes; cancel and loss seen in time."""

from dataclasses import dataclass, field
from threading import Event

import pytest

from capture_consumer.consumer.lease import LeaseKeeper, Pace, Stop


@dataclass
class Row:
    """A held row that remembers what was written to it, and when."""

    now_s: float = 0.0
    touches: list[tuple[float, str | None]] = field(default_factory=list)
    ours: bool = True
    away: bool = False
    ended: str | None = None
    touched: Event = field(default_factory=Event)

    def touch(self, story: str | None) -> bool:
        if self.away:
            raise ConnectionError("no database")
        self.touches.append((self.now_s, story))
        self.touched.set()
        return self.ours

    def check(self):
        if self.away:
            raise ConnectionError("no database")
        return self.ended


def kept(row, stop=None, **given):
    return LeaseKeeper(
        row, stop or Stop(), sent_s=0.0, pace=Pace(), elapsed=lambda: row.now_s, **given
    )


def pass_time(keeper, row, seconds, *, touching_every_s=None):
    """Let time pass in steps of 100 ms."""
    for tick in range(round(seconds * 10)):
        row.now_s = round(row.now_s + 0.1, 1)
        if touching_every_s and tick % round(touching_every_s * 10) == 0:
            keeper.touch("story")
        keeper.step()


def test_many_touches_are_one_write_in_15_seconds():
    """JOB-51, Q-5: at least two a lease."""
    row = Row()
    keeper = kept(row)

    pass_time(keeper, row, 60, touching_every_s=0.1)

    assert [at for at, _ in row.touches] == [15.0, 30.0, 45.0, 60.0]


def test_the_last_touch_of_an_interval_is_written_when_it_ends():
    """JOB-52."""
    row = Row()
    keeper = kept(row)

    pass_time(keeper, row, 1)
    keeper.touch("last")
    pass_time(keeper, row, 30)

    assert row.touches == [(15.0, "last")]


def test_without_progress_nothing_is_written_and_the_lease_is_lost_before_it_ends():
    """JOB-53, JOB-55: by our own clock, five seconds before anybody else may begin."""
    row, stop = Row(), Stop()
    keeper = kept(row, stop)

    pass_time(keeper, row, 54.9)
    before = stop.why
    pass_time(keeper, row, 0.1)

    assert (before, stop.why, row.touches) == (None, "lost", [])


def test_a_keep_alive_touches_by_itself_for_as_long_as_it_said():
    """JOB-53, Q-6."""
    row, stop = Row(), Stop()
    keeper = kept(row, stop)

    with keeper.silent(at_most_ms=40_000):
        pass_time(keeper, row, 80)

    assert [at for at, _ in row.touches] == [15.0, 30.0]
    assert stop.why is None


def test_a_step_that_is_silent_for_longer_than_it_said_loses_the_lease():
    """JOB-53."""
    row, stop = Row(), Stop()
    keeper = kept(row, stop)

    with keeper.silent(at_most_ms=20_000):
        pass_time(keeper, row, 100)

    assert stop.why == "lost"


@pytest.mark.parametrize("why", ["cancelled", "lost"])
def test_a_cancel_and_a_loss_are_seen_within_five_seconds(why):
    """JOB-54, Q-66, L6: without any notification."""
    row, stop = Row(), Stop()
    keeper = kept(row, stop)
    pass_time(keeper, row, 7)
    row.ended = why

    pass_time(keeper, row, 5)

    assert stop.why == why


def test_a_touch_that_changes_no_row_is_a_loss():
    """JOB-55."""
    row, stop = Row(ours=False), Stop()
    keeper = kept(row, stop)
    keeper.touch("x")

    pass_time(keeper, row, 15)

    assert stop.why == "lost"


def test_a_database_that_is_away_is_tried_again_and_lost_at_the_margin():
    """JOB-55: a holder that cannot prove its lease stops by itself."""
    row, stop = Row(away=True), Stop()
    keeper = kept(row, stop)

    pass_time(keeper, row, 54, touching_every_s=1)
    before = stop.why
    pass_time(keeper, row, 1)

    assert (before, stop.why) == (None, "lost")


def test_a_database_that_comes_back_in_time_costs_nothing():
    """L5."""
    row, stop = Row(away=True), Stop()
    keeper = kept(row, stop)
    pass_time(keeper, row, 40, touching_every_s=1)
    row.away = False

    pass_time(keeper, row, 40, touching_every_s=1)

    assert stop.why is None
    assert row.touches[0][0] < 56


def test_a_process_that_was_stopped_for_three_leases_sees_the_loss_at_its_first_step():
    """Q-55: before its next write."""
    row, stop = Row(), Stop()
    keeper = kept(row, stop)
    keeper.touch("x")
    row.now_s = 180.0

    keeper.step()

    assert (stop.why, row.touches) == ("lost", [])


def test_a_handler_that_does_not_let_go_costs_the_process_once():
    """JOB-98."""
    row, told = Row(ended="cancelled"), []
    keeper = kept(row, overdue=lambda: told.append(row.now_s))

    pass_time(keeper, row, 40, touching_every_s=1)

    assert told == [15.0]


def test_a_loss_overrides_another_reason_and_a_cancel_does_not():
    """JOB-57."""
    stop = Stop()
    stop.set("released")
    stop.set("cancelled")
    first = stop.why
    stop.set("lost")

    assert (first, stop.why, stop.wait(0)) == ("released", "lost", "lost")


def test_the_thread_writes_a_touch_that_is_due_and_ends_when_closed():
    """JOB-58: closing twice is well, and a later touch does nothing."""
    row = Row()
    keeper = kept(row)
    keeper.start()
    row.now_s = 20.0

    keeper.touch("x")
    written = row.touched.wait(5)
    keeper.close()
    keeper.close()
    keeper.touch("late")

    assert written
    assert row.touches == [(20.0, "x")]


def test_a_pace_that_cannot_keep_a_lease_is_refused():
    """COM-13."""
    with pytest.raises(ValueError, match="touch_every_ms"):
        Pace(lease_ms=10_000, touch_every_ms=8_000)
    with pytest.raises(ValueError, match="check_ms"):
        Pace(check_ms=0)
