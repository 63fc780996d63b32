"""Two processes and one job, step by step: no thread, the same order every time."""

from datetime import timedelta

import pytest
from sqlalchemy import text, update
from sqlalchemy.exc import IntegrityError

from capture_consumer.consumer.outcome import Done, Lost
from capture_consumer.database.transaction import is_unique_violation, transaction
from capture_consumer.records.reaping import reap
from capture_consumer.tables import attempts, claims, jobs
from capture_consumer.tables.attempts import OpenAttempt
from tests.queueing import (
    LEASE_MS,
    add,
    attempts_of,
    broken_promises,
    end,
    job_of,
    outcomes_of,
    take_one,
)


def look(engine, clock):
    with transaction(engine) as tx:
        [seen] = claims.look(tx, kinds=["noop"], now=clock.now(), alone=True)
        return seen


def take(engine, clock, seen, *, owner):
    with transaction(engine) as tx:
        until = clock.now() + timedelta(milliseconds=LEASE_MS)
        holder = claims.Holder(owner)
        return claims.take(tx, seen, holder, now=clock.now(), lease_until=until)


def test_of_two_that_saw_the_same_job_only_the_first_to_take_holds_it(new_engine, clock):
    """JOB-37, JOB-45, JOB-48."""
    here, there = new_engine(), new_engine()
    add(here, clock, "j")
    seen_here, seen_there = look(here, clock), look(there, clock)

    first = take(there, clock, seen_there, owner="there")
    second = take(here, clock, seen_here, owner="here")

    assert first.job_id == "j"
    assert second is None
    assert [one.owner for one in attempts_of(here, "j")] == ["there"]


def test_a_job_cancelled_between_look_and_take_is_not_taken(new_engine, clock):
    """JOB-45, S9."""
    here, there = new_engine(), new_engine()
    add(here, clock, "j")
    seen = look(here, clock)
    with transaction(there) as tx:
        jobs.cancel(tx, "j", clock.now())

    assert take(here, clock, seen, owner="here") is None
    assert broken_promises(here) == []


def test_a_job_put_back_with_a_delay_between_look_and_take_is_not_taken(new_engine, clock):
    """JOB-45: due is looked at again, and so is the number of attempts made."""
    here, there = new_engine(), new_engine()
    add(here, clock, "j")
    seen = look(here, clock)
    held = take_one(there, clock, owner="there")
    end(there, clock, "j", held.attempt, Lost(code="lost", text="x"))

    assert take(here, clock, seen, owner="here") is None
    assert outcomes_of(here, "j") == ["lost"]


def test_a_job_that_somebody_delays_between_look_and_take_is_not_taken(new_engine, clock):
    """JOB-45: due is looked at again by itself, not by the number alone."""
    here, there = new_engine(), new_engine()
    add(here, clock, "j")
    seen = look(here, clock)
    with transaction(there) as tx:
        tx.execute(update(jobs.jobs).values(visible_at=clock.now() + timedelta(minutes=1)))

    assert take(here, clock, seen, owner="here") is None
    assert attempts_of(here, "j") == []


def test_who_was_lost_is_due_at_once_and_a_suspect(engine, clock):
    """JOB-158, JOB-160, R3, R13: it runs alone on its host the next time."""
    add(engine, clock, "j")
    take_one(engine, clock)
    clock.advance(ms=LEASE_MS)

    assert reap(engine, now=clock.now()) == 1

    job = job_of(engine, "j")
    assert (job.status, job.visible_at, job.suspect) == ("queued", clock.now(), True)


def test_an_attempt_that_exists_cannot_be_written_again(engine, clock):
    """JOB-38, JOB-48: the keys decide should all else be wrong, and are told by name."""
    add(engine, clock, "j")
    take_one(engine, clock)
    with transaction(engine) as tx:
        again = {"status": "queued", "visible_at": clock.now(), "attempt": 0}
        tx.execute(update(jobs.jobs).values(again))

    with pytest.raises(IntegrityError) as refused:
        take(engine, clock, claims.Candidate("j", 0, 0, clock.now()), owner="b")

    assert any(is_unique_violation(refused.value, key) for key in claims.KEYS)


def test_two_open_attempts_of_a_job_cannot_be_represented(engine, clock):
    """JOB-48, S1."""
    add(engine, clock, "j")
    take_one(engine, clock)
    with transaction(engine) as tx:
        tx.execute(update(jobs.jobs).values(status="queued", visible_at=clock.now()))

    with pytest.raises(IntegrityError) as refused:
        take(engine, clock, claims.Candidate("j", 1, 0, clock.now()), owner="b")

    assert is_unique_violation(refused.value, "job_attempts_open")


def test_a_queued_job_with_an_open_attempt_stands_in_nobodys_way(engine, clock):
    """Q-4, JOB-30, JOB-43: rubbish that only a failover or a hand can make."""
    add(engine, clock, "0 oldest")
    take_one(engine, clock)
    with transaction(engine) as tx:
        tx.execute(update(jobs.jobs).values(status="queued", visible_at=clock.now()))
    good = [f"good {n}" for n in range(10)]
    add(engine, clock, *good)

    taken = [take_one(engine, clock, owner=f"c{n}").job_id for n in range(10)]

    assert taken == good


def test_a_holder_that_slept_past_its_lease_can_neither_touch_nor_end(new_engine, clock):
    """Q-1, Q-55, S10."""
    sleeper, waker = new_engine(), new_engine()
    add(sleeper, clock, "j")
    old = take_one(sleeper, clock, owner="sleeper")
    clock.advance(ms=LEASE_MS)
    assert reap(waker, now=clock.now()) == 1
    new = take_one(waker, clock, owner="waker")

    with transaction(sleeper) as tx:
        held = OpenAttempt("j", old.attempt, "sleeper")
        later = clock.now() + timedelta(minutes=1)
        assert not attempts.touch(tx, held, lease_until=later, now=clock.now(), story=None)
        assert attempts.check(tx, held) == "lost"
    assert end(sleeper, clock, "j", old.attempt, Done(()), owner="sleeper") is None
    assert end(waker, clock, "j", new.attempt, Done(()), owner="waker").outcome == "done"
    assert outcomes_of(waker, "j") == ["lost", "done"]


def test_a_late_attempt_that_is_touched_before_the_reap_acts_goes_on(new_engine, clock):
    """JOB-45, JOB-61: the reap looks again under the lock."""
    holder, reaper = new_engine(), new_engine()
    add(holder, clock, "j")
    take_one(holder, clock)
    clock.advance(ms=LEASE_MS)
    with reaper.connect() as tx:
        [late] = attempts.late(tx, now=clock.now(), after="", limit=50)
    with transaction(holder) as tx:
        later = clock.now() + timedelta(minutes=1)
        held = OpenAttempt("j", 1, "me")
        attempts.touch(tx, held, lease_until=later, now=clock.now(), story=None)

    with transaction(reaper) as tx:
        ours = OpenAttempt(late.job_id, late.attempt, late.owner)
        assert not attempts.end_late(tx, ours, outcome="lost", now=clock.now())
    assert outcomes_of(holder, "j") == [None]


def test_of_two_reapers_that_saw_the_same_attempt_the_second_changes_nothing(new_engine, clock):
    """Q-11, JOB-66: not even when the job has been claimed again meanwhile."""
    one, two = new_engine(), new_engine()
    add(one, clock, "j")
    take_one(one, clock, owner="dead")
    clock.advance(ms=LEASE_MS)
    seen_at = clock.now()
    assert reap(one, now=seen_at) == 1
    take_one(one, clock, owner="next")

    assert reap(two, now=seen_at) == 0
    assert outcomes_of(one, "j") == ["lost", None]
    assert job_of(one, "j").status == "running"


def test_the_reap_ends_a_cancelled_jobs_attempt_cancelled(engine, clock):
    """JOB-17, JOB-32."""
    add(engine, clock, "j")
    take_one(engine, clock)
    with transaction(engine) as tx:
        jobs.cancel(tx, "j", clock.now())
    clock.advance(ms=LEASE_MS)

    assert reap(engine, now=clock.now()) == 1
    assert (job_of(engine, "j").status, outcomes_of(engine, "j")) == (
        "cancelled",
        ["cancelled"],
    )


def test_the_fifth_lost_lease_fails_the_job(engine, clock):
    """JOB-62, L4, Q-19: four times it comes back as a suspect."""
    add(engine, clock, "j")
    suspect = []

    for _ in range(5):
        take_one(engine, clock)
        clock.advance(ms=LEASE_MS)
        reap(engine, now=clock.now())
        suspect.append(job_of(engine, "j").suspect)

    assert suspect == [True] * 5
    assert (job_of(engine, "j").status, job_of(engine, "j").code) == (
        "failed",
        "lease_exhausted",
    )
    assert take_one(engine, clock) is None


def test_two_lives_with_the_same_host_and_pid_are_told_apart(engine, clock):
    """Q-10."""
    add(engine, clock, "a", "b")
    take_one(engine, clock, owner="first life")
    clock.advance(ms=LEASE_MS - 1)
    take_one(engine, clock, owner="second life")
    clock.advance(ms=1)

    reap(engine, now=clock.now())

    assert (outcomes_of(engine, "a"), outcomes_of(engine, "b")) == (["lost"], [None])


def test_a_reap_passes_over_jobs_that_are_locked_and_finds_the_one_behind(new_engine, clock):
    """Q-8, JOB-160: on PostgreSQL, where rows can be locked."""
    engine, locker, reaper = new_engine(), new_engine(), new_engine()
    if engine.dialect.name == "sqlite":
        pytest.skip("SQLite has one writer; no row is ever locked by another")
    ids = [f"j{n:02}" for n in range(61)]
    add(engine, clock, *ids)
    for _ in ids:
        take_one(engine, clock)
    clock.advance(ms=LEASE_MS)

    with locker.begin() as tx:
        tx.execute(text("SELECT id FROM jobs WHERE id < 'j60' FOR NO KEY UPDATE"))
        assert reap(reaper, now=clock.now()) == 1

    assert outcomes_of(engine, "j60") == ["lost"]
    assert reap(reaper, now=clock.now()) == 60


def test_a_database_whose_default_is_repeatable_read_is_no_obstacle(new_engine, clock):
    """Q-46, decision 3: on PostgreSQL."""
    admin = new_engine()
    if admin.dialect.name == "sqlite":
        pytest.skip("SQLite has no such default")
    with transaction(admin) as tx:
        name = tx.execute(text("SELECT current_database()")).scalar_one()
        setting = "default_transaction_isolation = 'repeatable read'"
        tx.execute(text(f'ALTER DATABASE "{name}" SET {setting}'))
    admin.dispose()
    engine = new_engine()

    with transaction(engine) as tx:
        level = tx.execute(text("SHOW transaction_isolation")).scalar_one()

    add(engine, clock, "j")
    assert level == "read committed"
    assert take_one(engine, clock)
