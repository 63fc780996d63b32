"""The clerk's books: a death is booked once, late or twice, and acknowledged when it is."""

from typing import Any, cast

import pytest

from capture_consumer.clerk.books import Books, Ledger, Timer
from capture_consumer.consumer.budget import Limits
from capture_consumer.errors import DatabaseAway, StoreUnusable
from capture_consumer.ipc import messages
from tests.made import build_of, pending, states
from tests.queueing import (
    add,
    attempts_of,
    broken_promises,
    capturing,
    job_of,
    outcomes_of,
    queue_of,
    take_one,
)

KILLED = {
    "owner": "dead",
    "attempt": 1,
    "end": "crashed",
    "code": "crashed",
    "signal": 11,
    "text": "killed by SIGSEGV",
    "exact": True,
}


class Kept:
    """A store of one trace, or of none."""

    def __init__(self, *, fails=False):
        self.data, self.fails = b"", fails

    def put(self, data):
        if self.fails:
            raise StoreUnusable("the disk is full")
        self.data = data
        return "a" * 64


@pytest.fixture
def ledger(engine, clock, tmp_path):
    return Ledger(engine, clock, Kept(), tmp_path)


def test_a_death_ends_the_job_in_hand_and_releases_what_was_not_begun(engine, clock, ledger):
    """SUP-26, JOB-128, R15."""
    add(engine, clock, "in hand", "waiting")
    take_one(engine, clock, owner="dead")
    take_one(engine, clock, owner="dead")

    ledger.death(KILLED | {"job": "in hand"})

    assert outcomes_of(engine, "in hand") == ["crashed"]
    assert attempts_of(engine, "in hand")[0].signal == 11
    assert outcomes_of(engine, "waiting") == ["released"]
    assert broken_promises(engine) == []


def test_a_death_that_is_told_twice_or_late_changes_nothing_more(engine, clock, ledger):
    """SUP-26, SUP-31, Q-10: the next life's attempt is not its own."""
    add(engine, clock, "j")
    take_one(engine, clock, owner="dead")
    ledger.death(KILLED | {"job": "j"})
    take_one(engine, clock, owner="alive")

    ledger.death(KILLED | {"job": "j"})

    assert outcomes_of(engine, "j") == ["crashed", None]


def test_a_dead_process_that_held_nothing_or_is_unknown_is_no_fault(engine, clock, ledger):
    """SUP-26."""
    add(engine, clock, "j")
    take_one(engine, clock, owner="alive")

    ledger.death(KILLED | {"job": None})
    ledger.death({"owner": None})

    assert outcomes_of(engine, "j") == [None]


def test_two_deaths_in_one_story_by_the_books_record_the_story(engine, clock, ledger):
    """JOB-126, SUP-27, R4."""
    build_id = capturing(engine, clock, ["a", "b"])
    for attempt in (1, 2):
        held = take_one(engine, clock, owner="dead")
        ledger.death(KILLED | {"job": held.job_id, "attempt": attempt, "story": "a"})

    assert states(engine, build_id) == {"a": "errored", "b": "planned"}


def test_a_time_out_counts_as_often_as_the_setting_says(engine, clock, tmp_path):
    """JOB-16: the clerk has the budget that the consumers have."""
    build_id = pending(engine, clock)
    held = take_one(engine, clock, owner="dead")
    strict = Ledger(engine, clock, Kept(), tmp_path, Limits(failures=1))

    strict.death(KILLED | {"job": held.job_id, "end": "timed_out", "code": "hung"})

    assert build_of(engine, build_id).phase == "failed"


def test_what_earlier_supervisors_left_open_is_lost(engine, clock, ledger):
    """SUP-33."""
    add(engine, clock, "j", "k")
    queue_of(engine, clock, owner="x", incarnation="before").claim()
    queue_of(engine, clock, owner="y", incarnation="now").claim()

    ledger.old(("before",))
    ledger.old(())

    assert (outcomes_of(engine, "j"), outcomes_of(engine, "k")) == (["lost"], [None])
    assert job_of(engine, "j").suspect


@pytest.mark.parametrize("fails", [False, True])
def test_the_tail_of_a_trace_is_kept_and_a_store_that_fails_costs_no_end(
    engine, clock, tmp_path, fails
):
    """R18: 16 KiB; the name is never a path of the child's choice."""
    store = Kept(fails=fails)
    (tmp_path / "trace").write_bytes(b"x" * 20_000 + b"end")
    add(engine, clock, "j")
    take_one(engine, clock, owner="dead")

    Ledger(engine, clock, store, tmp_path).death(
        KILLED | {"job": "j", "trace": "../somewhere/trace"}
    )

    (row,) = attempts_of(engine, "j")
    assert row.outcome == "crashed"
    assert row.trace_sha == (None if fails else "a" * 64)
    assert (len(store.data), store.data.endswith(b"end")) == (
        (0, False) if fails else (16_384, True)
    )


class Away:
    """A ledger whose database comes back at the third try."""

    def __init__(self):
        self.tries = 0

    def death(self, _facts):
        self.tries += 1
        if self.tries < 3:
            raise DatabaseAway("away")


def test_a_death_is_acknowledged_once_the_database_took_it(monkeypatch):
    """SUP-31: while it is away the order waits here and the supervisor keeps its copy."""
    acknowledged: list[Any] = []
    ledger: Any = Away()
    books = Books(ledger, acknowledged.append, lambda: 0.0)
    monkeypatch.setattr(books.leaving, "wait", lambda _s: acknowledged.append("wait"))

    books.obey(messages.Death(n=7, facts={}))

    assert (ledger.tries, acknowledged) == (3, ["wait", "wait", 7])


def test_a_clerk_that_has_to_leave_while_the_database_is_away_acknowledges_nothing():
    """SUP-31, SUP-87: the spool keeps the death for the next clerk."""
    acknowledged: list[int] = []
    ledger: Any = Away()
    books = Books(ledger, acknowledged.append, lambda: 0.0)
    books.hear(messages.Hurry())

    books.obey(messages.Death(n=7, facts={}))

    assert acknowledged == []
    assert books.draining.is_set()


def test_what_was_heard_before_the_end_is_booked_before_it():
    """SUP-87."""
    acknowledged: list[Any] = []
    ledger: Any = Away()
    ledger.tries = 2
    books = Books(ledger, acknowledged.append, lambda: 0.0)
    for order in (
        messages.Death(n=1, facts={}),
        messages.Recycle(),
        messages.Death(n=2, facts={}),
    ):
        books.hear(order)

    books.run()

    assert acknowledged == [1, 2]


def test_a_timer_that_fails_ends_neither_the_books_nor_the_others():
    """SUP-84."""
    done: list[str] = []
    now_s, ledger = [0.0], cast("Any", Away())
    books = Books(ledger, lambda _n: None, lambda: now_s[0])

    def breaks():
        done.append("broken")
        raise KeyError

    books.timers = [Timer(10, breaks), Timer(15, lambda: done.append("other"))]
    for at in (0.0, 9.0, 10.0, 15.0):
        now_s[0] = at
        books.do_what_is_due()

    assert done == ["broken", "other", "broken", "other"]
    assert not books.leaving.is_set()
