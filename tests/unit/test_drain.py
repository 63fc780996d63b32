"""The timetable of a stop."""

import signal

import pytest
from hypothesis import given, strategies as st

from capture_consumer.supervisor.drain import Drain, Timetable, timetable

TERM, INT, QUIT = signal.SIGTERM, signal.SIGINT, signal.SIGQUIT


@pytest.mark.parametrize(
    ("grace_s", "times"),
    [
        (120, Timetable(111, 116, 118, 120)),
        (30, Timetable(21, 26, 28, 30)),
        (12, Timetable(3, 8, 10, 12)),
        (10, Timetable(1, 6, 8, 10)),
        (9, Timetable(0, 5, 7, 9)),
        (8, Timetable(3.5, 6, 7, 8)),
        (0, Timetable(0, 0, 0, 0)),
    ],
)
def test_the_timetable_counts_from_the_end_of_the_grace(grace_s, times):
    """SUP-54, section 9."""
    assert timetable(grace_s) == times


@given(st.floats(min_value=0, max_value=10_000))
def test_the_order_of_the_stages_stays_for_any_grace(grace_s):
    """SUP-54."""
    times = timetable(grace_s)

    assert 0 <= times.hurry_s <= times.kill_s <= times.leave_s <= times.end_s == grace_s


def test_each_stage_begins_at_its_time():
    """Section 9."""
    drain = Drain(30, by=TERM, now=100.0)

    stages = [drain.stage(at) for at in (100, 120.9, 121, 125.9, 126, 127.9, 128)]

    assert stages == ["drain", "drain", "hurry", "hurry", "kill", "kill", "leave"]
    assert drain.soft_deadline_s == 21
    assert [drain.next_at(at) for at in (100, 121, 126)] == [121, 126, 128]
    assert 128 < drain.end_at < 130


def test_the_second_signal_hurries_and_kills_5_s_later():
    """SUP-55."""
    drain = Drain(120, by=TERM, now=0.0)

    drain.signalled(TERM, 10.0)

    assert drain.stage(10.0) == "hurry"
    assert drain.kill_at == 15.0


def test_a_second_signal_never_makes_it_later():
    """SUP-55."""
    drain = Drain(30, by=TERM, now=0.0)

    drain.signalled(TERM, 25.0)

    assert drain.kill_at == 26.0


def test_the_same_signal_at_once_is_the_first_one_again():
    """SUP-55: init systems and terminals signal whole groups."""
    drain = Drain(30, by=INT, now=0.0)

    drain.signalled(INT, 0.4)
    assert drain.stage(0.4) == "drain"

    drain.signalled(TERM, 0.45)
    assert drain.stage(0.45) == "hurry"


def test_the_third_signal_kills_now():
    """SUP-55."""
    drain = Drain(120, by=TERM, now=0.0)

    drain.signalled(TERM, 1.0)
    drain.signalled(TERM, 2.0)

    assert drain.stage(2.0) == "kill"


def test_quit_hurries_at_once():
    """SUP-55."""
    assert Drain(120, by=QUIT, now=0.0).stage(0.0) == "hurry"
