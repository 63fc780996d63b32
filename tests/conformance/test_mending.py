"""Rows that only a failover, an older version or a hand can make are mended (JOB-43)."""

import pytest
from sqlalchemy import insert, update

from capture_consumer.consumer.outcome import Done, Released
from capture_consumer.database.transaction import transaction
from capture_consumer.records.mending import mend
from capture_consumer.tables.attempts import job_attempts
from capture_consumer.tables.jobs import jobs
from tests.queueing import add, broken_promises, end, job_of, outcomes_of, take_one


def torn(engine, clock, how):
    """Make a job whose rows disagree in this way."""
    add(engine, clock, "j")
    take_one(engine, clock)
    queued = {"status": "queued", "visible_at": clock.now(), "finished_at": None}
    running = {"status": "running", "visible_at": None, "finished_at": None}
    if how in {"done", "released"}:
        end(engine, clock, "j", 1, Done(()) if how == "done" else Released())
    values = {"open": queued | {"attempt": 0}, "done": queued, "released": running}[how]
    with transaction(engine) as tx:
        tx.execute(update(jobs).values(values))


@pytest.mark.parametrize(
    ("how", "status"), [("open", "running"), ("done", "done"), ("released", "queued")]
)
def test_the_newest_attempt_says_what_a_job_is(engine, clock, how, status):
    """JOB-43, JOB-151."""
    torn(engine, clock, how)

    assert mend(engine, now=clock.now()) == 1
    assert (job_of(engine, "j").status, job_of(engine, "j").attempt) == (status, 1)
    assert broken_promises(engine) == []
    assert mend(engine, now=clock.now()) == 0


def test_a_job_whose_attempts_were_dropped_begins_anew(engine, clock):
    """JOB-43: a failover that lost them."""
    add(engine, clock, "j")
    take_one(engine, clock)
    with transaction(engine) as tx:
        tx.execute(job_attempts.delete())

    assert mend(engine, now=clock.now()) == 1
    assert take_one(engine, clock).attempt == 1


def test_nothing_is_found_in_a_healthy_database(engine, clock):
    add(engine, clock, "waits", "runs", "ends")
    held = take_one(engine, clock)
    end(engine, clock, held.job_id, held.attempt, Done(()))
    take_one(engine, clock)

    assert mend(engine, now=clock.now()) == 0


def test_an_older_attempt_that_is_open_beside_the_newest_is_lost(engine, clock):
    """JOB-43."""
    add(engine, clock, "j")
    take_one(engine, clock)
    with transaction(engine) as tx:
        done = {"attempt": 2, "outcome": "done", "ended_at": clock.now()}
        row = {"job_id": "j", "owner": "x", "explained": False, "started_at": clock.now()}
        tx.execute(insert(job_attempts).values(row | done | {"lease_until": clock.now()}))

    assert mend(engine, now=clock.now()) == 1
    assert outcomes_of(engine, "j") == ["lost", "done"]
    assert job_of(engine, "j").status == "done"
