"""Effects to rows, one case each, with the lifecycle rows that follow from them.

`write` is called inside a settle or a save, after `order.lock` and after the fence
has held. A case is a few lines here and a function in the file of its kind:
`content`, `planning`, `results`, `finishing`; what moves a phase is `moving`.
"""

from datetime import datetime

from capture_consumer.builds.effects import (
    BeginPlanning,
    BeginShard,
    CancelJobs,
    DealShards,
    Effect,
    Effects,
    EndBuild,
    EndShard,
    Enqueue,
    FinishBuild,
    GiveUp,
    KeepContent,
    RecordOutcomes,
    RecordSnapshots,
    ReviewSnapshots,
    SupersedeOlder,
)
from capture_consumer.database.transaction import Tx
from capture_consumer.records import content, finishing, moving, planning, results
from capture_consumer.tables import jobs, shards

__all__ = ["write"]

OfPlanning = BeginPlanning | DealShards
OfShard = BeginShard | RecordSnapshots | EndShard
OfVerdict = RecordOutcomes | FinishBuild | ReviewSnapshots
OfEnd = EndBuild | SupersedeOlder | CancelJobs | GiveUp


def write(tx: Tx, effects: Effects, *, now: datetime) -> None:
    """Write effects in their order, content rows of all of them first (R21).

    Raises:
        Refused: a review's page was stale; roll back.
        NotFound: what a review names is not there.
    """
    content.keep(tx, [one for one in effects if isinstance(one, KeepContent)], now=now)
    for effect in effects:
        write_one(tx, effect, now=now)


def write_one(tx: Tx, effect: Effect, *, now: datetime) -> None:
    """Write one effect."""
    match effect:
        case KeepContent():
            pass  # written together, before all others
        case BeginPlanning() | DealShards():
            write_planning(tx, effect, now=now)
        case BeginShard() | RecordSnapshots() | EndShard():
            write_shard(tx, effect, now=now)
        case RecordOutcomes() | FinishBuild() | ReviewSnapshots():
            write_verdict(tx, effect, now=now)
        case EndBuild() | SupersedeOlder() | CancelJobs() | GiveUp():
            write_end(tx, effect, now=now)
        case Enqueue():
            write_job(tx, effect, now=now)


def write_planning(tx: Tx, effect: OfPlanning, *, now: datetime) -> None:
    """Write what a plan comes to."""
    match effect:
        case BeginPlanning():
            planning.begin(tx, effect, now=now)
        case DealShards():
            planning.deal(tx, effect, now=now)


def write_shard(tx: Tx, effect: OfShard, *, now: datetime) -> None:
    """Write what a shard comes to."""
    match effect:
        case BeginShard():
            shards.begin(tx, effect.shard_id)
        case RecordSnapshots():
            results.record(tx, effect, now=now)
        case EndShard():
            moving.end_shard(
                tx,
                build_id=effect.build_id,
                shard_id=effect.shard_id,
                state="done",
                now=now,
            )


def write_verdict(tx: Tx, effect: OfVerdict, *, now: datetime) -> None:
    """Write what a reduce or a review comes to."""
    match effect:
        case RecordOutcomes():
            results.rule(tx, effect, now=now)
        case FinishBuild():
            finishing.finish(tx, effect, now=now)
        case ReviewSnapshots():
            finishing.review(tx, effect, now=now)


def write_end(tx: Tx, effect: OfEnd, *, now: datetime) -> None:
    """Write what ends builds, shards and jobs."""
    match effect:
        case EndBuild():
            moving.end_build(
                tx,
                build_id=effect.build_id,
                to=effect.to,
                code=effect.code,
                text=effect.text,
                superseded_by=effect.superseded_by,
                now=now,
            )
        case SupersedeOlder():
            finishing.supersede_older(tx, effect, now=now)
        case CancelJobs():
            finishing.cancel_jobs(tx, effect, now=now)
        case GiveUp():
            moving.give_up(
                tx,
                build_id=effect.build_id,
                shard_id=effect.shard_id,
                code=effect.code,
                text=effect.text,
                now=now,
            )


def write_job(tx: Tx, effect: Enqueue, *, now: datetime) -> None:
    """Insert a job; an id that exists already is left alone (JOB-15)."""
    jobs.enqueue(
        tx,
        job_id=effect.job_id,
        kind=effect.kind,
        step=effect.step,
        build_id=effect.build_id,
        shard_id=effect.shard_id,
        priority=effect.priority,
        delay_ms=effect.delay_ms,
        payload=effect.payload,
        now=now,
    )
