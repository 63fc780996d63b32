"""Hypothesis chooses who looks, takes, naps, dies and ends; the promises hold after each step.

To look and to take are two rules: the faults of a claim hide between them.
"""

from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import delete

from capture_consumer.consumer.outcome import Crashed, Done, Failed, Lost, Released, TimedOut
from capture_consumer.database.transaction import transaction
from capture_consumer.records.reaping import reap
from capture_consumer.tables import attempts, claims, jobs
from capture_consumer.tables.attempts import OpenAttempt
from tests.queueing import LEASE_MS, add, attempts_of, broken_promises, end, job_of, outcomes_of

PROCESSES = st.sampled_from(["p", "q", "r"])
JOBS = st.sampled_from(["j1", "j2", "j3"])
NAPS = st.sampled_from([1, 5_000, LEASE_MS // 2, LEASE_MS + 1, 400_000])
ENDS = st.sampled_from(
    [
        Done(()),
        Failed("boom", "x"),
        Released(),
        Crashed(code="crashed", text="x"),
        TimedOut(code="hung", text="x"),
        Lost(code="lost", text="x"),
    ]
)


class Claiming(RuleBasedStateMachine):
    """Three processes, three jobs, and what each of them believes."""

    def __init__(self, engine, clock):
        super().__init__()
        self.engine, self.clock = engine, clock
        self.seen: dict[str, claims.Candidate] = {}
        self.held: dict[str, tuple[str, int]] = {}
        self.lease_until: dict[tuple[str, int], datetime] = {}
        self.open: dict[str, tuple[str, int]] = {}
        self.ended: set[str] = set()
        with transaction(engine) as tx:
            tx.execute(delete(jobs.jobs))

    @rule(job=JOBS)
    def enqueue(self, job):
        add(self.engine, self.clock, job)

    @rule(who=PROCESSES)
    def look(self, who):
        with transaction(self.engine) as tx:
            found = claims.look(tx, kinds=["noop"], now=self.clock.now(), alone=True)
        if found:
            self.seen[who] = found[0]

    @rule(who=PROCESSES)
    def take(self, who):
        seen = self.seen.pop(who, None)
        if seen is None:
            return
        now = self.clock.now()
        until = now + timedelta(milliseconds=LEASE_MS)
        before = job_of(self.engine, seen.job_id)
        with transaction(self.engine) as tx:
            holder = claims.Holder(who)
            got = claims.take(tx, seen, holder, now=now, lease_until=until)
        is_as_seen = before.status == "queued" and before.attempt == seen.attempt
        is_due = before.visible_at is not None and before.visible_at <= now
        assert (got is not None) == (is_as_seen and is_due)
        if got is not None:
            attempt = (got.job_id, got.attempt)
            assert seen.job_id not in self.open, "held twice"
            assert attempt not in self.lease_until, "a number was used again"
            self.held[who], self.open[got.job_id] = attempt, attempt
            self.lease_until[attempt] = until

    @rule(who=PROCESSES)
    def touch(self, who):
        if who not in self.held:
            return
        job_id, attempt = self.held[who]
        until = self.clock.now() + timedelta(milliseconds=LEASE_MS)
        with transaction(self.engine) as tx:
            held = OpenAttempt(job_id, attempt, who)
            ours = attempts.touch(tx, held, lease_until=until, now=self.clock.now(), story=None)
        assert ours == (self.open.get(job_id) == (job_id, attempt))
        if ours:
            self.lease_until[job_id, attempt] = until

    @rule(who=PROCESSES, how=ENDS)
    def end(self, who, how):
        if who not in self.held:
            return
        job_id, attempt = self.held.pop(who)
        came = end(self.engine, self.clock, job_id, attempt, how, owner=who)
        assert (came is not None) == (self.open.get(job_id) == (job_id, attempt))
        if came is not None:
            del self.open[job_id]

    @rule(who=PROCESSES)
    def die_unseen(self, who):
        self.seen.pop(who, None)
        self.held.pop(who, None)

    @rule(job=JOBS)
    def cancel(self, job):
        with transaction(self.engine) as tx:
            if jobs.cancel(tx, job, self.clock.now()):
                self.ended.add(job)

    @rule(ms=NAPS)
    def nap(self, ms):
        self.clock.advance(ms=ms)

    @rule()
    def reap(self):
        now = self.clock.now()
        late = {job for job, held in self.open.items() if self.lease_until[held] <= now}
        assert reap(self.engine, now=now) == len(late)
        for job in late:
            del self.open[job]

    @invariant()
    def all_promises_hold(self):
        assert broken_promises(self.engine) == []

    @invariant()
    def what_was_cancelled_stays_so(self):
        for job in self.ended:
            assert job_of(self.engine, job).status == "cancelled"

    def teardown(self):
        """Let all run fairly: every job ends, within its budgets (L1, L4)."""
        for _ in range(3):
            self.clock.advance(ms=400_000)
            reap(self.engine, now=self.clock.now())
            for _ in range(3):
                self.finish_one()
        with self.engine.connect() as db:
            left = [job.id for job in jobs.listing(db) if job.status in {"queued", "running"}]
            ids = [job.id for job in jobs.listing(db)]
        assert left == []
        assert all(outcomes_of(self.engine, one).count("done") <= 1 for one in ids)
        assert all(len(attempts_of(self.engine, one)) <= 32 for one in ids)

    def finish_one(self):
        with transaction(self.engine) as tx:
            now = self.clock.now()
            for seen in claims.look(tx, kinds=["noop"], now=now, alone=True):
                until = now + timedelta(milliseconds=LEASE_MS)
                claims.take(tx, seen, claims.Holder("last"), now=now, lease_until=until)
        with self.engine.connect() as db:
            held = attempts.open_of_owner(db, "last")
        for one in held:
            end(self.engine, self.clock, one.job_id, one.attempt, Done(()), owner="last")


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_whatever_the_order_no_job_is_held_twice_and_every_job_ends(engine, clock):
    """JOB-43, JOB-44, JOB-48, Q-64, S1 to S4, S8 to S10."""

    class Here(Claiming):
        def __init__(self):
            super().__init__(engine, clock)

    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=30,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
