"""What the clerk does about builds that do not move, one build a transaction.

`found` says which there are; `mend` locks one and looks again. In a healthy system
only uploads that somebody gave up are found.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from capture_consumer.database.transaction import Tx
from capture_consumer.records import moving
from capture_consumer.tables import builds, jobs, overdue, shards

__all__ = ["KINDS", "Overdue", "found", "mend"]

UPLOAD_SILENT = timedelta(hours=2)
REDUCING_EXTRA = timedelta(minutes=30)
STUCK_AFTER = timedelta(minutes=15)

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Overdue:
    """A build, and the name of what is wrong with it: a key of `KINDS`."""

    kind: str
    build_id: int


def found(tx: Tx, *, now: datetime) -> list[Overdue]:
    """Return what is overdue: uploads (T3), deadlines (T12), stuck builds (BUILD-74)."""
    ids = {
        "upload": overdue.silent_uploads(tx, before=now - UPLOAD_SILENT),
        "deadline": overdue.past_deadline(tx, now=now),
        "no_shard": overdue.without_shard(tx),
        "no_job": overdue.without_job(tx, before=now - STUCK_AFTER),
    }
    return [Overdue(kind, build_id) for kind, these in ids.items() for build_id in these]


def mend(tx: Tx, one: Overdue, *, now: datetime) -> bool:
    """Do what has to be done about it; False when somebody was first."""
    done = KINDS[one.kind](tx, one.build_id, now)
    if done and one.kind in {"no_shard", "no_job"}:
        log.error("reconcile.fixed", build=one.build_id, what=one.kind)
    return done


def expire(tx: Tx, build_id: int, now: datetime) -> bool:
    """Expire an upload that nobody has continued for 2 h (T3)."""
    build = builds.lock(tx, build_id)
    if build is None or build.phase != "receiving":
        return False
    text = "the upload was never finished"
    return moving.end_build(
        tx, build_id=build_id, to="expired", code="upload_silent", text=text, now=now
    )


def pass_deadline(tx: Tx, build_id: int, now: datetime) -> bool:
    """Fail a build at its deadline; while it captures, reduce what it has (BUILD-43)."""
    build = builds.lock(tx, build_id)
    if build is None:
        return False
    if build.phase == "capturing":
        return fail_open_shards(tx, build_id, now)
    late = now - REDUCING_EXTRA if build.phase == "reducing" else now
    if not overdue.is_past_deadline(tx, build_id, at=late):
        return False
    code, text = "deadline", f"the build was still {build.phase} at its deadline"
    if not overdue.was_ever_claimed(tx, build_id):
        code, text = "no_consumer", "no consumer took the build before its deadline"
    told = moving.fail_build(tx, build_id=build_id, code=code, text=text, now=now)
    return told == "failed"


def fail_open_shards(tx: Tx, build_id: int, now: datetime) -> bool:
    """Fail what is open of a capturing build, and its jobs; the last one moves it on."""
    open_ones = shards.open_of_build(tx, build_id)
    text = "the build's deadline passed before this shard was done"
    for shard in open_ones:
        moving.end_shard(
            tx,
            build_id=build_id,
            shard_id=shard.id,
            state="failed",
            code="deadline",
            text=text,
            now=now,
        )
    for shard in open_ones:
        jobs.cancel_of_shard(tx, shard.id, now)
    return bool(open_ones)


def move_on(tx: Tx, build_id: int, now: datetime) -> bool:
    """Reduce a capturing build that has no open shard left."""
    build = builds.lock(tx, build_id)
    return build is not None and moving.reduce_if_last(tx, build, now=now)


def fail_stuck(tx: Tx, build_id: int, now: datetime) -> bool:
    """Fail a build that waits for a job which does not exist."""
    builds.lock(tx, build_id)
    if build_id not in overdue.without_job(tx, before=now - STUCK_AFTER):
        return False
    text = "no job was left that could move the build"
    told = moving.fail_build(tx, build_id=build_id, code="stuck", text=text, now=now)
    return told == "failed"


KINDS: Mapping[str, Callable[[Tx, int, datetime], bool]] = {
    "upload": expire,
    "deadline": pass_deadline,
    "no_shard": move_on,
    "no_job": fail_stuck,
}
