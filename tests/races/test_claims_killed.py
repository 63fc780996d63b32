"""Whoever is killed between two statements leaves nothing that nobody owns (JOB-42)."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from capture_consumer.builds.effects import Enqueue
from capture_consumer.consumer.outcome import Crashed, Done, Failed, Lost, Released
from capture_consumer.database.transaction import transaction
from capture_consumer.errors import CaptureConsumerError
from capture_consumer.records.reaping import reap
from capture_consumer.tables import jobs
from tests.queueing import (
    LEASE_MS,
    add,
    broken_promises,
    end,
    outcomes_of,
    queue_of,
    take_one,
)
from tests.races.killing import Killer

FOLLOWER = Enqueue("follower", "other")
POINTS = range(20)
"""Before and after every statement and the commit; the last ones are behind the end."""


def test_a_claimer_killed_at_any_point_leaves_a_job_that_the_next_one_gets(new_engine, clock):
    """Q-64, JOB-42: at once if nothing was committed, else when the lease is over."""
    victim, other = new_engine(), new_engine()
    killer = Killer(victim)
    stalled: list[int] = []

    for point in POINTS:
        first, behind = f"{point:02} first", f"{point:02} second"
        add(other, clock, first, behind)
        with killer.killing(point):
            queue_of(victim, clock, owner="victim").claim()
        committed = outcomes_of(other, first) == [None]
        free = take_one(other, clock, owner="next")
        clock.advance(ms=LEASE_MS)
        reap(other, now=clock.now())
        left = sorted(one.job_id for _ in range(2) if (one := take_one(other, clock)))
        if free.job_id != (behind if committed else first) or left != [first, behind]:
            stalled.append(point)
        for job_id in left:
            with transaction(other) as tx:
                jobs.cancel(tx, job_id, clock.now())

    assert stalled == []
    assert broken_promises(other) == []


@pytest.mark.parametrize("how", [Done((FOLLOWER,)), Failed("boom", "x"), Released()])
def test_a_holder_killed_while_it_settles_has_ended_its_attempt_or_has_not(
    new_engine, clock, how
):
    """JOB-44, S2, S5: the end, the job and the effects come together or not at all."""
    victim, other = new_engine(), new_engine()
    killer = Killer(victim)
    torn: list[object] = []

    for point in POINTS:
        job_id = f"job {point}"
        add(other, clock, job_id)
        queue = queue_of(victim, clock, owner=f"victim {point}")
        [claim] = queue.claim()
        effects = (Enqueue(f"{job_id} follower", "other"),)
        with killer.killing(point):
            queue.settle(claim, Done(effects) if isinstance(how, Done) else how)
        with other.connect() as db:
            has_follower = jobs.get(db, f"{job_id} follower") is not None
        if has_follower != (outcomes_of(other, job_id) == ["done"]):
            torn.append(point)
        torn += broken_promises(other)
        with transaction(other) as tx:
            jobs.cancel(tx, job_id, clock.now())

    assert torn == []


def test_a_reaper_killed_at_any_point_leaves_the_rest_to_the_next_one(new_engine, clock):
    """JOB-44, Q-12."""
    victim, other = new_engine(), new_engine()
    killer = Killer(victim)
    left: list[object] = []

    for point in range(30):
        ids = [f"{point} {one}" for one in "ab"]
        add(other, clock, *ids)
        take_one(other, clock), take_one(other, clock)
        clock.advance(ms=LEASE_MS)
        with killer.killing(point):
            reap(victim, now=clock.now())
        reap(other, now=clock.now())
        if [outcomes_of(other, one) for one in ids] != [["lost"], ["lost"]]:
            left.append(point)
        left += broken_promises(other)
        for job_id in ids:
            with transaction(other) as tx:
                jobs.cancel(tx, job_id, clock.now())

    assert left == []


class Storm:
    """Consumers, clerks and people at once; a good part of them is killed on the way."""

    def __init__(self, new_engine, clock, *, workers, jobs_, seed):
        self.chance = random.Random(seed)
        self.clock = clock
        self.killers = [Killer(new_engine()) for _ in range(workers)]
        self.watcher = new_engine()
        self.held: dict[int, tuple[Any, Any]] = {}
        self.lives = 0
        self.ran: Counter[tuple[str, int]] = Counter()
        self.ids = [f"job {n:03}" for n in range(jobs_)]
        add(self.watcher, clock, *self.ids)

    def step(self, *, deadly):
        place = self.chance.randrange(len(self.killers))
        killer = self.killers[place]
        dies = deadly and self.chance.random() < 0.3
        point = self.chance.randrange(14) if dies else None
        before = self.held.get(place)
        done = False
        with killer.killing(point), suppress(CaptureConsumerError):
            self.act(place, killer.engine, deadly=deadly)
            done = True
        if not done and point is not None:
            self.held.pop(place, None)
        if before is not None and dies and self.chance.random() < 0.5:
            self.bury(before)

    def act(self, place, engine, *, deadly):
        turn = self.chance.random()
        if place in self.held:
            queue, claim = self.held.pop(place)
            how = self.end_of(deadly)
            if how is not None:
                queue.settle(claim, how)
        elif turn < 0.1:
            reap(engine, now=self.clock.now())
        elif turn < 0.12 and deadly:
            with transaction(engine) as tx:
                jobs.cancel(tx, self.chance.choice(self.ids), self.clock.now())
        else:
            self.claim(place, engine)

    def claim(self, place, engine):
        self.lives += 1
        queue = queue_of(engine, self.clock, owner=f"life {self.lives}")
        for claim in queue.claim():
            self.ran[claim.work.job_id, claim.work.attempt] += 1
            self.held[place] = (queue, claim)

    def end_of(self, deadly):
        if not deadly:
            return Done(())
        ends = [Done(()), Done(()), Failed("boom", "x"), Released(), None]
        return self.chance.choice(ends)

    def bury(self, before):
        """Let the clerk end what a dead consumer held."""
        _, claim = before
        deaths: list[Any] = [Crashed(code="crashed", text="x"), Lost(code="lost", text="x")]
        how = self.chance.choice(deaths)
        job = claim.work
        end(self.watcher, self.clock, job.job_id, job.attempt, how, owner=job.owner)

    def calm_down(self):
        """Let all of it run fairly: nobody dies any more, and leases run out."""
        self.held.clear()
        for _ in range(8):
            self.clock.advance(ms=400_000)
            reap(self.watcher, now=self.clock.now())
            while (held := take_one(self.watcher, self.clock, owner="last")) is not None:
                assert end(
                    self.watcher, self.clock, held.job_id, held.attempt, Done(()), owner="last"
                )

    def statuses(self):
        with self.watcher.connect() as db:
            return jobs.count_by_status(db)


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_storm_of_deaths_stalls_nothing_and_every_job_ends(new_engine, clock, seed):
    """Q-71, JOB-42 to JOB-44, S1 to S4, S8, L1, L4."""
    storm = Storm(new_engine, clock, workers=8, jobs_=60, seed=seed)

    for _ in range(400):
        storm.step(deadly=True)
        clock.advance(ms=storm.chance.choice([0, 0, 100, 5_000, LEASE_MS // 2]))
    midway = broken_promises(storm.watcher)
    storm.calm_down()

    assert midway == []
    assert broken_promises(storm.watcher) == []
    assert set(storm.statuses()) <= {"done", "failed", "cancelled"}
    assert max(storm.ran.values()) == 1


CLAIMER = """
import sys
from datetime import datetime, UTC
from capture_consumer.database.engine import open_engine
from capture_consumer.queues.jobs import JobsQueue
from sqlalchemy import event

class Fixed:
    def now(self):
        return datetime.fromisoformat(sys.argv[2])

def stop_here(*_):
    print("here", flush=True)
    sys.stdin.read()

engine = open_engine(sys.argv[1])
queue = JobsQueue(engine, clock=Fixed(), handlers={"noop": print}, owner="victim")
if sys.argv[3] == "before the commit":
    engine.dialect.do_commit = stop_here
    queue.claim()
else:
    queue.claim()
    stop_here()
"""


@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.parametrize("when", ["before the commit", "after the commit"])
def test_a_claimer_that_is_killed_dead_never_stalls_the_queue(new_engine, clock, url, when):
    """JOB-42, JOB-44, Q-64, L2: a real process, SIGKILL, no clean-up of any kind."""
    engine = new_engine()
    add(engine, clock, "a", "b")
    child = subprocess.Popen(
        [sys.executable, "-c", CLAIMER, url, clock.now().isoformat(), when],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert child.stdout
    assert child.stdin
    assert b"here\n" in iter(child.stdout.readline, b"")

    os.kill(child.pid, signal.SIGKILL)
    child.wait(10)
    child.stdout.close()
    with suppress(BrokenPipeError):
        child.stdin.close()
    first = take_one(engine, clock, owner="next")
    clock.advance(ms=LEASE_MS)
    reap(engine, now=clock.now())

    wanted = {"before the commit": "a", "after the commit": "b"}
    assert first.job_id == wanted[when]
    assert sorted(take_one(engine, clock).job_id for _ in range(2)) == ["a", "b"]
    assert broken_promises(engine) == []
