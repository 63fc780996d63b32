"""Many processes at one barrier, in threads with an engine each."""

from collections import Counter
from datetime import timedelta
from threading import Lock

import pytest

from capture_consumer.builds.effects import EndShard
from capture_consumer.consumer.outcome import Done, Failed
from capture_consumer.consumer.work import work
from capture_consumer.database.transaction import again, transaction
from capture_consumer.records.ending import end_attempt
from capture_consumer.records.reaping import reap
from capture_consumer.tables import claims
from capture_consumer.tables.jobs import count_by_status
from tests.made import AtOnce, build_of, captured, jobs_of, shards_of
from tests.queueing import (
    LEASE_MS,
    add,
    broken_promises,
    capturing,
    job_of,
    outcomes_of,
    queue_of,
)

CONSUMERS = 4


def test_of_four_that_take_the_same_job_at_once_one_holds_it(new_engine, clock):
    """JOB-37, JOB-48."""
    engines = [new_engine() for _ in range(CONSUMERS)]
    won = []

    for round_ in range(8):
        add(engines[0], clock, f"job {round_}", priority=-round_)
        with transaction(engines[0]) as tx:
            [seen] = claims.look(tx, kinds=["noop"], now=clock.now(), alone=True)

        def take(place, seen=seen):
            until = clock.now() + timedelta(milliseconds=LEASE_MS)
            holder = claims.Holder(f"c{place}")

            def once(tx):
                return claims.take(tx, seen, holder, now=clock.now(), lease_until=until)

            return again(engines[place], once)

        won.append(sum(held is not None for held in AtOnce(CONSUMERS).run(take)))

    assert won == [1] * 8


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_four_consumers_that_race_for_a_thousand_jobs_run_each_once(new_engine, clock):
    """JOB-48, S4, S5, Q-2: and nothing is left open."""
    jobs = [f"job {n:04}" for n in range(1_000)]
    engines = [new_engine() for _ in range(CONSUMERS)]
    add(engines[0], clock, *jobs)
    ran: Counter[str] = Counter()
    guard = Lock()

    def note(job, hold):
        with guard:
            ran[job.job_id] += 1
        return ()

    def consume(place):
        queue = queue_of(engines[place], clock, owner=f"c{place}", handler=note)
        number = 0
        while found := work(queue):
            number += found
        return number

    shares = AtOnce(CONSUMERS).run(consume)

    assert sum(shares) == 1_000
    assert ran == Counter(jobs)
    assert broken_promises(engines[0]) == []
    with engines[0].connect() as db:
        assert count_by_status(db) == {"done": 1_000}


def test_a_job_that_two_end_at_once_is_ended_once(new_engine, clock):
    """SUP-26, JOB-67: a settle of the holder against the clerk's burial, both ways round."""
    engines = [new_engine() for _ in range(2)]
    ends = [Done(()), Failed("boom", "x", permanent=True)]

    for round_ in range(10):
        job_id = f"job {round_}"
        add(engines[0], clock, job_id)
        [claim] = queue_of(engines[0], clock).claim()
        assert claim.work.job_id == job_id

        def finish(place, job_id=job_id):
            def once(tx):
                return end_attempt(
                    tx, job_id=job_id, attempt=1, owner=None, end=ends[place], now=clock.now()
                )

            return again(engines[place], once)

        came = AtOnce(2).run(finish)
        assert sum(one is not None for one in came) == 1

    assert broken_promises(engines[0]) == []


@pytest.mark.slow
def test_a_build_whose_shards_end_at_once_is_reduced_once(new_engine, clock):
    """Q-72, JOB-133, BUILD-71."""
    engines = [new_engine() for _ in range(6)]
    build_id = capturing(engines[0], clock, *[[f"story {n}"] for n in range(6)])
    for shard in shards_of(engines[0], build_id):
        captured(engines[0], clock, build_id, shard.id)

    def claimed(place):
        queue = queue_of(engines[place], clock, owner=f"c{place}")
        [claim] = queue.claim()
        assert claim.work.shard_id
        return queue, claim, (EndShard(build_id, claim.work.shard_id),)

    held = [claimed(place) for place in range(6)]

    def finish(place):
        queue, claim, effects = held[place]
        return queue.settle(claim, Done(effects))

    settled = AtOnce(6).run(finish)

    assert settled == [True] * 6
    assert build_of(engines[0], build_id).phase == "reducing"
    assert jobs_of(engines[0], build_id)["reduce"] == "queued"


def test_a_lease_that_ends_while_four_look_is_never_held_twice(new_engine, clock):
    """Q-2: twenty times in a row, reapers and claimers together."""
    engines = [new_engine() for _ in range(CONSUMERS)]
    add(engines[0], clock, "j")
    queues = [queue_of(engine, clock, owner=f"c{n}") for n, engine in enumerate(engines)]

    def reap_and_claim(place):
        reap(engines[place], now=clock.now())
        return len(queues[place].claim())

    held = []
    for _ in range(4):
        held.append(sum(AtOnce(CONSUMERS).run(reap_and_claim)))
        clock.advance(ms=LEASE_MS)

    assert held == [1] * 4
    assert outcomes_of(engines[0], "j") == ["lost"] * 3 + [None]
    assert job_of(engines[0], "j").status == "running"
    assert broken_promises(engines[0]) == []
