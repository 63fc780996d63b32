"""What is done to a step that does not end in time, and what is left alone."""

import threading

import pytest

from capture_consumer.capture.watchdog import Measure, Watchdog


@pytest.fixture
def taken():
    """Return the measures taken, as events."""
    return [threading.Event(), threading.Event()]


@pytest.fixture
def watchdog(taken):
    dog = Watchdog([Measure(0.0, taken[0].set), Measure(0.05, taken[1].set)])
    yield dog
    dog.close()


def test_a_late_step_is_met_with_one_measure_after_the_other(watchdog, taken):
    """CAP-18, R32."""
    watchdog.begin()
    watchdog.expect("render", 0.01)

    assert taken[0].wait(5)
    assert taken[1].wait(5)
    assert watchdog.late == "render"


def test_a_step_that_ends_in_time_is_left_alone(watchdog, taken):
    """CAP-18."""
    watchdog.begin()
    watchdog.expect("render", 0.05)
    watchdog.relax()

    assert not taken[0].wait(0.15)
    assert watchdog.late is None


def test_the_next_step_has_its_own_time(watchdog, taken):
    """CAP-18."""
    watchdog.begin()
    watchdog.expect("load", 0.05)
    watchdog.expect("render", 60)

    assert not taken[0].wait(0.15)


def test_what_a_late_page_still_says_buys_it_no_time(watchdog, taken):
    """CAP-18."""
    watchdog.begin()
    watchdog.expect("render", 0.01)
    assert taken[0].wait(5)
    watchdog.expect("play", 60)

    assert taken[1].wait(5)
    assert watchdog.late == "render"
