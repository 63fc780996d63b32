"""The claim of a job: pick, mark, insert; one transaction, the caller's.

A job is claimed by inserting the row (job, number) into `job_attempts`. The
primary key and the unique index on open attempts decide, nothing else; the order
and SKIP LOCKED only spare lost races (JOB-37). To look and to take are two moments:
`take` looks again at everything that `look` relied on (JOB-45). A claimer that dies
anywhere between them leaves nothing behind, because nothing was committed (JOB-42).
"""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Select, false, func, insert, literal, select, tuple_, update

from capture_consumer.database.columns import Instant
from capture_consumer.database.transaction import Tx
from capture_consumer.tables.attempts import IS_OPEN, job_attempts
from capture_consumer.tables.jobs import IS_QUEUED, jobs

__all__ = [
    "KEYS",
    "Candidate",
    "Claimed",
    "Floor",
    "Holder",
    "held_by",
    "look",
    "suspect_waits",
    "take",
]

KEYS = ("job_attempts_pkey", "job_attempts_open")
"""The keys by which a rival may have been first (JOB-38)."""

COUNTED = ("failed", "timed_out")


@dataclass(frozen=True, slots=True)
class Holder:
    """Whose claim it is. `owner` is the UUID of one process's life; the rest is for people."""

    owner: str
    host: str | None = None
    slot: int | None = None
    pid: int | None = None
    incarnation: str | None = None


@dataclass(frozen=True, slots=True)
class Floor:
    """Below it the last pick found nothing but dead index entries (JOB-155)."""

    priority: int
    visible_at: datetime


@dataclass(frozen=True, slots=True)
class Candidate:
    """A job that looked free. Only `take` can tell."""

    job_id: str
    attempt: int
    priority: int
    visible_at: datetime


@dataclass(frozen=True, slots=True)
class Claimed:
    """A job that is ours."""

    job_id: str
    attempt: int
    build_id: int | None
    shard_id: int | None
    kind: str
    step: Literal["plan", "shard", "reduce"] | None
    suspect: bool
    payload: str | None
    failures: int
    lease_until: datetime


def look(
    tx: Tx,
    *,
    kinds: Collection[str],
    now: datetime,
    alone: bool,
    granted: bool = False,
    limit: int = 1,
    floor: Floor | None = None,
) -> Sequence[Candidate]:
    """Return the oldest jobs that are due, those of the smallest priority number first.

    A suspect is picked only by who is alone on its host; who was granted the host picks
    nothing else, or the others would stand back for ordinary work (JOB-158). A queued job
    that has an open attempt is rubbish, and never stands in the way (JOB-30, JOB-43).
    """
    taken = select(job_attempts.c.attempt).where(job_attempts.c.job_id == jobs.c.id, IS_OPEN)
    free = (
        IS_QUEUED,
        jobs.c.kind.in_(sorted(kinds)),
        jobs.c.visible_at <= now,
        ~taken.exists(),
    )
    oldest = (
        select(jobs.c.id, jobs.c.attempt, jobs.c.priority, jobs.c.visible_at)
        .where(*free)
        .order_by(jobs.c.priority, jobs.c.visible_at, jobs.c.id)
        .limit(limit)
        .with_for_update(of=jobs, key_share=True, skip_locked=True)
    )
    if granted:
        oldest = oldest.where(jobs.c.suspect)
    elif not alone:
        oldest = oldest.where(jobs.c.suspect == false())
    if floor is not None:
        seen = (literal(floor.priority), literal(floor.visible_at, Instant))
        oldest = oldest.where(tuple_(jobs.c.priority, jobs.c.visible_at) >= tuple_(*seen))
    return [Candidate(*row) for row in tx.execute(oldest)]


def take(
    tx: Tx, seen: Candidate, holder: Holder, *, now: datetime, lease_until: datetime
) -> Claimed | None:
    """Mark the job and insert its next attempt; return it when it is ours.

    None means that it was no longer as it was seen. A unique violation by a name of
    `KEYS` means that a rival was first; roll back.
    """
    number = seen.attempt + 1
    still_free = (
        jobs.c.id == seen.job_id,
        IS_QUEUED,
        jobs.c.attempt == seen.attempt,
        jobs.c.visible_at <= now,
    )
    marked = (
        update(jobs)
        .where(*still_free)
        .values(
            status="running",
            visible_at=None,
            attempt=number,
            started_at=func.coalesce(jobs.c.started_at, literal(now, Instant)),
        )
    )
    if tx.execute(marked).rowcount != 1:
        return None
    born = {"job_id": seen.job_id, "attempt": number, "explained": False}
    times = {"started_at": now, "lease_until": lease_until}
    tx.execute(insert(job_attempts).values(born | asdict(holder) | times))
    mine = (job_attempts.c.job_id == seen.job_id, job_attempts.c.attempt == number)
    return next(iter(claimed(tx, *mine)))


def held_by(tx: Tx, owner: str) -> Sequence[Claimed]:
    """Return what this process holds: asked when the answer to a claim was lost (JOB-154)."""
    return claimed(tx, IS_OPEN, job_attempts.c.owner == owner)


def suspect_waits(tx: Tx, *, kinds: Collection[str], now: datetime) -> bool:
    """Tell whether a suspect is due: whoever finds one asks for the host (JOB-158, SUP-43)."""
    due = (IS_QUEUED, jobs.c.suspect, jobs.c.visible_at <= now, jobs.c.kind.in_(sorted(kinds)))
    return tx.execute(select(jobs.c.id).where(*due).limit(1)).first() is not None


def claimed(tx: Tx, *which: Any) -> Sequence[Claimed]:
    """Return open attempts with what their holders need to know."""
    ended = job_attempts.alias("ended")
    failures = (
        select(func.count())
        .select_from(ended)
        .where(
            ended.c.job_id == jobs.c.id,
            ended.c.outcome.in_(COUNTED),
            ended.c.explained == false(),
        )
        .scalar_subquery()
    )
    found: Select[Any] = select(
        jobs.c.id,
        job_attempts.c.attempt,
        jobs.c.build_id,
        jobs.c.shard_id,
        jobs.c.kind,
        jobs.c.step,
        jobs.c.suspect,
        jobs.c.payload,
        failures,
        job_attempts.c.lease_until,
    ).join_from(job_attempts, jobs)
    return [Claimed(*row) for row in tx.execute(found.where(*which))]
