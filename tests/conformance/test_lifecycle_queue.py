"""The queue of lifecycle events: hooks that follow a build's move, whoever dies."""

import json

import pytest
from sqlalchemy import select, update
from structlog.testing import capture_logs

from capture_consumer.builds.effects import NOTHING, EndBuild, Enqueue
from capture_consumer.consumer.outcome import Failed
from capture_consumer.database.transaction import transaction
from capture_consumer.errors import LeaseLost, PermanentError
from capture_consumer.queues.lifecycle import LifecycleQueue
from capture_consumer.records.reaping import reap
from capture_consumer.tables import hook_claims, jobs, lifecycle_events
from capture_consumer.tables.builds import builds
from capture_consumer.tables.lifecycle_events import lifecycle_events as table
from tests.made import AtOnce, build_of, opened, pending, shards_of, written
from tests.queueing import LEASE_MS, capturing, end, take_one

FOLLOWER = Enqueue("follower", "noop")


@pytest.fixture
def build_id(engine, clock):
    return opened(engine, clock)


def add(engine, clock, build_id, *hooks, rev=1):
    with transaction(engine) as tx:
        return lifecycle_events.insert(
            tx,
            build_id=build_id,
            project_id=1,
            rev=rev,
            hooks=[(hook, "", None) for hook in hooks],
            now=clock.now(),
        )


def queue_of(engine, clock, **given):
    hooks = given.pop("hooks", {"h": lambda payload, build: (FOLLOWER,)})
    return LifecycleQueue(
        engine, clock=clock, hooks=hooks, draw=lambda: 0.0, elapsed=lambda: 0.0, **given
    )


def rows(engine):
    with engine.connect() as db:
        return list(db.execute(select(table).order_by(table.c.id)))


def statuses(engine):
    return [row.status for row in rows(engine)]


def has_follower(engine):
    with engine.connect() as db:
        return jobs.get(db, "follower") is not None


def raising(error):
    def hook(payload, build):
        raise error

    return {"h": hook}


def test_what_a_hook_wants_and_its_success_are_one_commit(engine, clock, build_id):
    """LIFE-31, LIFE-42."""
    add(engine, clock, build_id, "h")

    assert queue_of(engine, clock).flush() == 1
    assert (statuses(engine), has_follower(engine)) == (["succeeded"], True)


def test_the_same_move_again_adds_nothing(engine, clock, build_id):
    """LIFE-4: written once for build, rev, hook and key."""
    assert add(engine, clock, build_id, "h", "other") == 2
    assert add(engine, clock, build_id, "h", "other") == 0


def test_a_row_waits_for_the_earlier_one_of_its_build_and_hook(engine, clock, build_id):
    """LIFE-10: different hook types are independent."""
    add(engine, clock, build_id, "h", "other", rev=1)
    add(engine, clock, build_id, "h", rev=2)

    claimed = queue_of(engine, clock).claim(limit=10)

    assert [claim.work.hook_type for claim in claimed] == ["h", "other"]


def test_two_sweepers_never_get_the_same_row(new_engine, clock):
    """LIFE-9."""
    engines = [new_engine() for _ in range(4)]
    for n in range(6):
        add(engines[0], clock, opened(engines[0], clock, nonce=str(n)), "h")

    def claim(place):
        return [one.work.id for one in queue_of(engines[place], clock).claim(limit=3)]

    claimed = [one for batch in AtOnce(4).run(claim) for one in batch]

    assert len(claimed) == len(set(claimed))


def test_a_hook_that_raises_waits_longer_each_time_and_fails_at_its_fifth_attempt(
    engine, clock, build_id
):
    """LIFE-30, LIFE-33, LIFE-34, LIFE-36."""
    add(engine, clock, build_id, "h")
    queue = queue_of(engine, clock, hooks=raising(ValueError("broken")))
    waits = []

    for _ in range(4):
        queue.flush()
        [row] = rows(engine)
        waits.append((row.next_at - clock.now()).total_seconds())
        clock.advance(ms=300_000)
    queue.flush()

    [row] = rows(engine)
    assert waits == [1.0, 2.0, 4.0, 8.0]
    assert (row.status, row.attempts) == ("failed", 5)
    assert row.reason == "5 of 5 attempts made; the last one: broken"


def test_a_row_that_waits_is_not_claimed_before_its_time(engine, clock, build_id):
    """LIFE-7."""
    add(engine, clock, build_id, "h")
    queue = queue_of(engine, clock, hooks=raising(ValueError("x")))
    queue.flush()

    assert queue.flush() == 0


def test_a_permanent_error_fails_the_row_at_once(engine, clock, build_id):
    """LIFE-32."""
    add(engine, clock, build_id, "h")

    queue_of(engine, clock, hooks=raising(PermanentError("no_use", "never"))).flush()

    [row] = rows(engine)
    assert (row.status, row.code, row.attempts) == ("failed", "no_use", 1)


@pytest.mark.parametrize("payload", ["{", "[1]", "7"])
def test_a_payload_that_is_no_object_fails_at_once(engine, clock, build_id, payload):
    """LIFE-27, LIFE-28."""
    add(engine, clock, build_id, "h")
    with transaction(engine) as tx:
        tx.execute(update(table).values(payload=payload))

    queue_of(engine, clock).flush()

    assert rows(engine)[0].code == "bad_payload"


def test_a_hook_that_returns_no_effects_is_a_programming_error(engine, clock, build_id):
    """LIFE-35."""
    add(engine, clock, build_id, "h")

    queue_of(engine, clock, hooks={"h": lambda payload, build: None}).flush()

    assert (rows(engine)[0].status, rows(engine)[0].code) == ("pending", "bad_outcome")


def test_a_hook_nobody_knows_yet_is_put_back_uncounted_for_ten_minutes(engine, clock, build_id):
    """LIFE-25, LIFE-26: a newer version may be rolling out."""
    add(engine, clock, build_id, "unknown")
    queue = queue_of(engine, clock)
    queue.flush()
    first = rows(engine)[0]

    clock.advance(ms=600_000)
    queue.flush()

    assert (first.status, first.attempts) == ("pending", 0)
    assert (first.next_at - first.created_at).total_seconds() == 15
    assert (rows(engine)[0].status, rows(engine)[0].code) == ("failed", "no_handler")


def test_a_stale_row_is_put_back_and_its_late_holder_changes_nothing(engine, clock, build_id):
    """LIFE-17, LIFE-22."""
    add(engine, clock, build_id, "h")
    late, prompt = queue_of(engine, clock), queue_of(engine, clock)
    [claim] = late.claim(limit=1)
    outcome = late.perform(claim)
    clock.advance(ms=60_001)

    assert prompt.reclaim() == 1
    [again] = prompt.claim(limit=1)

    assert late.settle(claim, outcome) is False
    assert has_follower(engine) is False
    with pytest.raises(LeaseLost):
        late.perform(claim)
    assert prompt.settle(again, prompt.perform(again)) is True
    assert (statuses(engine), rows(engine)[0].attempts) == (["succeeded"], 2)


def test_the_last_row_of_a_batch_starts_its_own_clock_when_its_turn_begins(
    engine, clock, build_id
):
    """LIFE-22."""
    add(engine, clock, build_id, "h", "i")
    queue = queue_of(engine, clock, hooks={one: lambda payload, build: () for one in "hi"})
    first, second = queue.claim(limit=2)
    clock.advance(ms=50_000)
    queue.perform(second)
    clock.advance(ms=20_000)

    assert queue.reclaim() == 1
    assert [row.status for row in rows(engine)] == ["pending", "running"]
    assert first.work.hook_type == "h"


def test_a_stale_row_at_its_cap_fails_and_a_person_may_retry_it(engine, clock, build_id):
    """LIFE-38 to LIFE-41."""
    add(engine, clock, build_id, "h")
    with transaction(engine) as tx:
        tx.execute(update(table).values(attempts=4))
    queue = queue_of(engine, clock)
    queue.claim(limit=1)
    clock.advance(ms=60_001)
    queue.reclaim()

    code = rows(engine)[0].code
    with transaction(engine) as tx:
        [exhausted] = hook_claims.exhausted(tx, max_attempts=5)
        assert hook_claims.retry(tx, exhausted.id, clock.now())
    queue.flush()

    assert code == "stale_exhausted"
    assert statuses(engine) == ["succeeded"]


def test_a_build_that_moves_while_its_hook_looks_is_looked_at_again(engine, clock):
    """LIFE-44: what was seen before is never written."""
    build_id = pending(engine, clock)
    with transaction(engine) as tx:
        tx.execute(table.delete())
    add(engine, clock, build_id, "h", rev=9)
    seen = []

    def hook(payload, build):
        seen.append(build.phase)
        if len(seen) == 1:
            written(engine, clock, EndBuild(build_id, "cancelled"))
        return NOTHING if build.phase == "cancelled" else (FOLLOWER,)

    queue = queue_of(engine, clock, hooks={"h": hook, "cancel_jobs": lambda p, b: NOTHING})
    queue.flush(limit=1)

    assert seen == ["pending", "cancelled"]
    assert has_follower(engine) is False
    assert rows(engine)[0].status == "succeeded"
    assert rows(engine)[0].attempts == 1


def test_a_build_that_never_holds_still_is_tried_again_later(engine, clock):
    """LIFE-44: at most three runs, then a retry."""
    build_id = opened(engine, clock)
    add(engine, clock, build_id, "h")

    def moves(payload, build):
        with transaction(engine) as tx:
            tx.execute(update(builds).values(rev=builds.c.rev + 1))
        return (FOLLOWER,)

    queue_of(engine, clock, hooks={"h": moves}).flush()

    assert (rows(engine)[0].status, rows(engine)[0].code) == ("pending", "build_moved")
    assert has_follower(engine) is False


def test_a_hook_of_a_build_that_is_gone_is_over(engine, clock):
    add(engine, clock, 4711, "h")

    queue_of(engine, clock).flush()

    assert (statuses(engine), has_follower(engine)) == (["succeeded"], False)


def test_a_sweep_goes_on_while_its_batches_are_full(engine, clock):
    """LIFE-15, LIFE-16."""
    for n in range(5):
        add(engine, clock, opened(engine, clock, nonce=str(n)), "h")

    assert queue_of(engine, clock, batch=2).sweep() == 5


def test_after_a_stop_nothing_is_claimed_and_rows_not_begun_go_back_uncounted(engine, clock):
    """LIFE-20, LIFE-21."""
    for n in range(3):
        add(engine, clock, opened(engine, clock, nonce=str(n)), "h")

    def stops(payload, build):
        queue.stop()
        return NOTHING

    queue = queue_of(engine, clock, hooks={"h": stops})
    queue.flush()

    assert statuses(engine) == ["succeeded", "pending", "pending"]
    assert [row.attempts for row in rows(engine)] == [1, 0, 0]
    assert queue.flush() == 0


def test_a_flush_never_raises(engine, clock, build_id):
    """LIFE-12, LIFE-18."""
    add(engine, clock, build_id, "h")
    queue = queue_of(engine, clock)
    engine.dispose()
    with transaction(engine) as tx:
        tx.exec_driver_sql("ALTER TABLE lifecycle_events RENAME TO gone")

    with capture_logs() as told:
        done = (queue.flush(), queue.tick())

    assert done == (0, 0)
    assert [one["event"] for one in told] == [
        "life.flush_failed",
        "life.reclaim_failed",
        "life.sweep_failed",
    ]


def test_a_shard_whose_job_lost_all_its_leases_is_failed_by_the_hook(engine, clock):
    """SUP-42, JOB-70: the reap takes no build's lock and leaves a row."""
    build_id = capturing(engine, clock, ["a"])
    for _ in range(5):
        take_one(engine, clock)
        clock.advance(ms=LEASE_MS)
        reap(engine, now=clock.now())
    before = build_of(engine, build_id).phase
    payload = json.loads(rows(engine)[-1].payload)

    LifecycleQueue(engine, clock=clock).sweep()

    assert before == "capturing"
    assert (payload["code"], payload["ends"]) == ("lease_exhausted", {"lost": 5})
    assert [shard.state for shard in shards_of(engine, build_id)] == ["failed"]
    assert build_of(engine, build_id).phase == "reducing"


def test_the_hook_of_a_job_that_was_given_up_under_the_builds_lock_finds_nothing_to_do(
    engine, clock
):
    """JOB-70: harmless late."""
    build_id = capturing(engine, clock, ["a"], ["b"])
    held = take_one(engine, clock)
    end(engine, clock, held.job_id, held.attempt, Failed("bad", "no", permanent=True))
    before = build_of(engine, build_id)

    queue = LifecycleQueue(engine, clock=clock)
    queue.sweep()

    assert build_of(engine, build_id) == before
    assert set(statuses(engine)) == {"succeeded"}
