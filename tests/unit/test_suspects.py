"""Suspects take turns alone."""

import pytest

from capture_consumer.ipc import messages as say
from capture_consumer.supervisor.suspects import Member, Turns


@pytest.fixture
def turns():
    """Return turns at the design's pace."""
    return Turns(gap_s=10.0, quiet_s=2.0)


def member(slot, **more):
    return Member(slot, **{"ready": True, "holding": False, **more})


def begin(turns, *others, now=0.0):
    """Have slot 0 look and ask."""
    turns.look([member(0), *others], now, draining=False)
    return turns.look([member(0, asks=True), *others], now, draining=False)


def test_the_lowest_living_slot_looks_for_suspects(turns):
    """SUP-41."""
    assert turns.look([member(0, ready=False), member(1), member(2)], 0.0, draining=False) == [
        (1, say.Suspects(on=True))
    ]
    assert turns.look([member(0), member(1)], 1.0, draining=False) == [
        (1, say.Suspects(on=False)),
        (0, say.Suspects(on=True)),
    ]
    assert turns.look([member(1)], 2.0, draining=False) == [(1, say.Suspects(on=True))]


def test_a_new_process_in_the_slot_is_told_again(turns):
    """SUP-41."""
    turns.look([member(0)], 0.0, draining=False)

    turns.renewed(0)

    assert turns.look([member(0)], 1.0, draining=False) == [(0, say.Suspects(on=True))]


def test_with_one_consumer_it_is_granted_at_once(turns):
    """SUP-41."""
    assert begin(turns) == [(0, say.Granted())]


def test_the_others_finish_what_they_hold_before_it_is_granted(turns):
    """SUP-41."""
    assert begin(turns, member(1, holding=True), member(2, said_paused=True)) == [
        (1, say.Pause()),
        (2, say.Pause()),
    ]
    here = [member(0, asks=True), member(1, holding=True), member(2, said_paused=True)]
    assert turns.look(here, 50.0, draining=False) == []
    here[1] = member(1, said_paused=True)
    assert turns.look(here, 51.0, draining=False) == [(0, say.Granted())]


def test_one_that_does_not_answer_is_believed_when_it_was_quiet_for_a_while(turns):
    """SUP-41: a claim may be on its way when PAUSE comes."""
    begin(turns, member(1))
    here = [member(0), member(1)]

    assert turns.look(here, 1.9, draining=False) == []
    assert turns.look(here, 2.0, draining=False) == [(0, say.Granted())]


def test_one_that_asks_for_the_host_itself_stands_back(turns):
    """SUP-41, SUP-43: the one that looked before may still wait for its answer."""
    turns.look([member(0), member(1)], 0.0, draining=False)
    both = [member(0, asks=True), member(1, asks=True)]

    orders = turns.look(both, 0.1, draining=False)

    assert orders == [(1, say.Pause()), (0, say.Granted())]


def test_one_that_comes_up_during_a_turn_stands_back_too(turns):
    """SUP-41."""
    begin(turns)

    orders = turns.look([member(0), member(1, ready=False)], 1.0, draining=False)

    assert orders == [(1, say.Pause())]


def alone(turns):
    """Bring a turn to the point where slot 0 works alone, slot 1 stands back."""
    begin(turns, member(1, said_paused=True))
    turns.look([member(0, holding=True, claims=1), member(1)], 1.0, draining=False)


def test_after_its_end_all_go_on(turns):
    """SUP-41."""
    alone(turns)

    here = [member(0, claims=1), member(1)]
    assert turns.look(here, 9.0, draining=False) == [(1, say.Resume())]


def test_a_turn_is_over_though_the_next_job_was_claimed_before_anybody_looked(turns):
    """SUP-41: the end of the suspect and an ordinary claim may arrive together."""
    alone(turns)
    here = [member(0, holding=True, claims=2), member(1)]

    assert turns.look(here, 9.0, draining=False) == [(1, say.Resume())]


def test_a_suspect_that_ended_before_anybody_looked_was_the_turn(turns):
    """SUP-41: nobody stands back for a quarter of a minute more."""
    begin(turns, member(1, said_paused=True))

    orders = turns.look([member(0, claims=1), member(1)], 0.1, draining=False)

    assert orders == [(1, say.Resume())]


def test_one_that_is_to_leave_finishes_what_it_holds_before_it_is_granted(turns):
    """SUP-41, SUP-51."""
    begin(turns, member(1, holding=True, leaving=True))
    here = [member(0), member(1, holding=True, leaving=True)]

    assert turns.look(here, 50.0, draining=False) == []
    assert turns.look([member(0)], 51.0, draining=False) == [(0, say.Granted())]


def test_a_guest_that_is_to_leave_stays_alone_until_its_job_has_ended(turns):
    """SUP-41, SUP-51."""
    alone(turns)
    here = [member(0, holding=True, leaving=True, claims=1), member(1)]

    assert say.Resume() not in [order for _, order in turns.look(here, 2.0, draining=False)]
    here[0] = member(0, leaving=True, claims=1)
    assert (1, say.Resume()) in turns.look(here, 3.0, draining=False)


def test_after_its_death_all_go_on(turns):
    """SUP-41, SUP-44."""
    alone(turns)

    orders = turns.look([member(1)], 9.0, draining=False)

    assert (1, say.Resume()) in orders


def test_a_suspect_that_was_gone_when_it_was_granted_holds_nobody_back(turns):
    """SUP-41."""
    begin(turns, member(1, said_paused=True))

    assert turns.look([member(0), member(1)], 15.1, draining=False) == [(1, say.Resume())]


def test_the_others_work_a_while_before_the_next_turn(turns):
    """SUP-43."""
    alone(turns)
    turns.look([member(0, claims=1), member(1)], 9.0, draining=False)
    here = [member(0, asks=True), member(1, said_paused=True)]

    assert turns.look(here, 18.9, draining=False) == []
    assert (0, say.Granted()) in turns.look(here, 19.0, draining=False)


def test_at_a_drain_it_is_denied(turns):
    """SUP-41."""
    turns.look([member(0), member(1)], 0.0, draining=False)

    assert turns.look([member(0, asks=True), member(1)], 1.0, draining=True) == [
        (0, say.Denied())
    ]


def test_a_drain_ends_the_waiting_for_others(turns):
    """SUP-41."""
    begin(turns, member(1, holding=True))

    orders = turns.look([member(0), member(1, holding=True)], 1.0, draining=True)

    assert orders == [(1, say.Resume()), (0, say.Denied())]
