"""When a slot may start again."""

import pytest

from capture_consumer.supervisor.restart import Lived, Restarts


@pytest.fixture
def restarts():
    """Return the record of two consumers, with the longest of all waits drawn."""
    return Restarts(starts_a_minute=12, now=0.0, draw=lambda: 1.0)


READY_AND_SHORT = Lived(lived_s=3, was_ready=True)


def test_waits_double_up_to_a_minute(restarts):
    """SUP-48."""
    waits = [restarts.died(0, READY_AND_SHORT, 0.0) for _ in range(8)]

    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_the_wait_is_spread_between_half_and_all_of_it():
    """SUP-48."""
    least = Restarts(starts_a_minute=11, now=0.0, draw=lambda: 0.0)

    assert least.died(0, READY_AND_SHORT, 0.0) == 0.5


@pytest.mark.parametrize(
    "lived",
    [
        Lived(lived_s=60, was_ready=True),
        Lived(lived_s=2, was_ready=True, jobs_done=1),
        Lived(lived_s=2, was_ready=True, jobs_done=1, blamed=True),
        Lived(lived_s=2, was_ready=True, as_asked=True),
    ],
    ids=["long", "a job", "a job, then another's fault", "as asked"],
)
def test_a_life_that_was_worth_it_waits_for_nothing_and_clears_the_slot(restarts, lived):
    """SUP-48, SUP-51."""
    restarts.died(0, READY_AND_SHORT, 0.0)

    assert restarts.died(0, lived, 0.0) == 0
    assert restarts.died(0, READY_AND_SHORT, 0.0) == 1


def test_a_death_that_a_job_answers_for_is_not_the_slots(restarts):
    """SUP-48."""
    blamed = Lived(lived_s=2, was_ready=True, blamed=True)

    assert [restarts.died(0, blamed, 0.0) for _ in range(5)] == [0.5] * 5
    assert restarts.died(0, READY_AND_SHORT, 0.0) == 1


def test_leaving_as_asked_before_it_was_up_is_no_excuse(restarts):
    """SUP-48: else it would be started again without end."""
    at_once = Lived(lived_s=0, was_ready=False, as_asked=True)

    assert [restarts.died(0, at_once, 0.0) for _ in range(3)] == [1, 2, 4]


def test_all_slots_together_start_n_and_ten_times_a_minute(restarts):
    """SUP-48."""
    assert [restarts.take(0.0) for _ in range(13)] == [True] * 12 + [False]
    assert restarts.take(5.0)
    assert not restarts.take(5.0)


def fail(restarts, slot, times, code=1):
    for _ in range(times):
        restarts.died(slot, Lived(lived_s=1, was_ready=False, exit_code=code), 0.0)


def test_five_failures_of_each_slot_before_any_was_up_are_hopeless(restarts):
    """SUP-49."""
    fail(restarts, 0, 5)
    fail(restarts, 1, 4)
    assert not restarts.hopeless([0, 1])

    fail(restarts, 1, 1)
    assert restarts.hopeless([0, 1])


def test_one_failure_of_each_slot_is_enough_when_it_is_the_configuration(restarts):
    """SUP-49."""
    fail(restarts, 0, 1, code=78)
    assert not restarts.hopeless([0, 1])

    fail(restarts, 1, 1, code=78)
    assert restarts.hopeless([0, 1])


def test_once_one_was_up_it_is_tried_for_ever(restarts):
    """SUP-49."""
    restarts.ready(0)

    fail(restarts, 0, 9)
    fail(restarts, 1, 9, code=78)

    assert not restarts.hopeless([0, 1])


def test_a_clerk_that_is_up_says_nothing_about_consumers(restarts):
    """SUP-49."""
    restarts.ready(-1)
    fail(restarts, 0, 1, code=78)
    fail(restarts, 1, 1, code=78)

    assert restarts.hopeless([0, 1])


def test_under_a_web_server_all_rest_a_minute_and_begin_anew(restarts):
    """SUP-49."""
    fail(restarts, 0, 5)
    fail(restarts, 1, 5)

    restarts.rest([0, 1], 100.0)

    assert restarts.due_at(0) == 160.0
    assert not restarts.hopeless([0, 1])
