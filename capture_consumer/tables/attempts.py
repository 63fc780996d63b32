"""The table `job_attempts`: one row each time a job is tried.

A job is claimed by inserting its next attempt, see `tables.claims`. An attempt is
open until it is ended, once and for good; every write of its holder names (job,
attempt, owner) of an open attempt (COM-6). Budgets are counted from these rows (R5).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    SmallInteger,
    Table,
    Text,
    select,
    update,
)

from capture_consumer.database.columns import METADATA, Instant, Sha, partial_index
from capture_consumer.database.transaction import Tx
from capture_consumer.tables.jobs import jobs

__all__ = [
    "IS_OPEN",
    "AttemptRow",
    "OpenAttempt",
    "check",
    "end",
    "end_late",
    "explain",
    "get",
    "job_attempts",
    "late",
    "of_job",
    "open_of_incarnations",
    "open_of_owner",
    "still_open",
    "touch",
]

Word = Literal["done", "failed", "crashed", "timed_out", "lost", "cancelled", "released"]

job_attempts = Table(
    "job_attempts",
    METADATA,
    Column("job_id", Text, ForeignKey(jobs.c.id, ondelete="CASCADE"), primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("owner", Text, nullable=False, comment="UUID of one process's life"),
    Column("host", Text),
    Column("slot", SmallInteger),
    Column("pid", Integer),
    Column("incarnation", Text, comment="the supervisor's life"),
    Column("started_at", Instant, nullable=False),
    Column(
        "lease_until", Instant, nullable=False, comment="in no index, so that a touch is cheap"
    ),
    Column("touched_at", Instant),
    Column("story", Text, comment="in hand at the last touch"),
    Column("ended_at", Instant, comment="none while it is open"),
    Column(
        "outcome", Text, comment="done, failed, crashed, timed_out, lost, cancelled, released"
    ),
    Column("code", Text),
    Column("error", Text),
    Column("exit_code", Integer),
    Column("signal", Integer),
    Column("oom", Boolean, comment="the kernel killed it for memory"),
    Column("peak_rss", BigInteger, comment="bytes"),
    Column("explained", Boolean, nullable=False, comment="its story took the blame"),
    Column("trace_sha", Sha, comment="the tail of its trace, a blob"),
    CheckConstraint("attempt >= 1", name="attempts_count_from_one"),
    CheckConstraint("(ended_at IS NULL) = (outcome IS NULL)", name="attempt_ends_with_a_word"),
    CheckConstraint(
        "outcome IN ('done', 'failed', 'crashed', 'timed_out', 'lost', 'cancelled', "
        "'released')",
        name="attempt_outcome_is_known",
    ),
    partial_index("job_attempts_open", "job_id", where="ended_at IS NULL", unique=True),
    partial_index("job_attempts_open_of_owner", "owner", where="ended_at IS NULL"),
    comment="tries of jobs; claiming a job is inserting its next row",
    postgresql_with={
        "fillfactor": 70,
        "autovacuum_vacuum_scale_factor": 0.01,
        "autovacuum_vacuum_threshold": 200,
    },
)

IS_OPEN = job_attempts.c.ended_at.is_(None)


@dataclass(frozen=True, slots=True)
class AttemptRow:
    """One attempt, open or ended."""

    job_id: str
    attempt: int
    owner: str
    host: str | None
    slot: int | None
    pid: int | None
    incarnation: str | None
    started_at: datetime
    lease_until: datetime
    touched_at: datetime | None
    story: str | None
    ended_at: datetime | None
    outcome: Word | None
    code: str | None
    error: str | None
    exit_code: int | None
    signal: int | None
    oom: bool | None
    peak_rss: int | None
    explained: bool
    trace_sha: str | None


@dataclass(frozen=True, slots=True)
class OpenAttempt:
    """Who names an open attempt; `owner` is None for whoever may end anybody's."""

    job_id: str
    attempt: int
    owner: str | None


def fence(held: OpenAttempt) -> tuple[Any, ...]:
    """Return the conditions that let only the present holder write."""
    this = (
        job_attempts.c.job_id == held.job_id,
        job_attempts.c.attempt == held.attempt,
        IS_OPEN,
    )
    return this if held.owner is None else (*this, job_attempts.c.owner == held.owner)


def touch(
    tx: Tx, held: OpenAttempt, *, lease_until: datetime, now: datetime, story: str | None
) -> bool:
    """Prolong the lease and note the story in hand; False when it is not ours (JOB-55)."""
    values = {"lease_until": lease_until, "touched_at": now, "story": story}
    return tx.execute(update(job_attempts).where(*fence(held)).values(values)).rowcount == 1


def still_open(tx: Tx, held: OpenAttempt) -> bool:
    """Lock our open attempt, whose job's row is locked; False when it is not ours (R10)."""
    ours = select(job_attempts.c.attempt).where(*fence(held)).with_for_update(key_share=True)
    return tx.execute(ours).first() is not None


def check(tx: Tx, held: OpenAttempt) -> Literal["lost", "cancelled"] | None:
    """Tell whether the holder has to let go, and why; loss before cancel (JOB-54, JOB-57)."""
    here = (job_attempts.c.job_id == held.job_id, job_attempts.c.attempt == held.attempt)
    both = select(jobs.c.status, job_attempts.c.owner, job_attempts.c.outcome).join_from(
        job_attempts, jobs
    )
    row = tx.execute(both.where(*here)).one_or_none()
    if row is None or row.outcome is not None or row.owner != held.owner:
        return "lost"
    return None if row.status == "running" else "cancelled"


def end(
    tx: Tx,
    held: OpenAttempt,
    *,
    outcome: Word,
    now: datetime,
    evidence: Mapping[str, Any] | None = None,
) -> bool:
    """End an open attempt, once; False, nothing written, when it is not ours.

    `evidence` holds the columns code, error, story, signal, exit_code, oom, peak_rss,
    trace_sha. Build, shard and job are locked by the caller.
    """
    values = {**(evidence or {}), "ended_at": now, "outcome": outcome}
    return tx.execute(update(job_attempts).where(*fence(held)).values(values)).rowcount == 1


def explain(tx: Tx, job_id: str, numbers: Collection[int]) -> None:
    """Mark ended attempts whose story took the blame: they no longer count (JOB-126)."""
    blamed = (job_attempts.c.job_id == job_id, job_attempts.c.attempt.in_(sorted(numbers)))
    tx.execute(update(job_attempts).where(*blamed).values(explained=True))


def get(tx: Tx, job_id: str, attempt: int) -> AttemptRow | None:
    """Return one attempt."""
    here = (job_attempts.c.job_id == job_id, job_attempts.c.attempt == attempt)
    return next(iter(rows(tx, *here)), None)


def of_job(tx: Tx, job_id: str) -> Sequence[AttemptRow]:
    """Return all attempts of a job, oldest first."""
    return rows(tx, job_attempts.c.job_id == job_id)


def open_of_owner(tx: Tx, owner: str) -> Sequence[AttemptRow]:
    """Return what this process's life holds (JOB-127, JOB-154)."""
    return rows(tx, IS_OPEN, job_attempts.c.owner == owner)


def open_of_incarnations(tx: Tx, incarnations: Collection[str]) -> Sequence[AttemptRow]:
    """Return what consumers of these supervisors still hold (SUP-33)."""
    return rows(tx, IS_OPEN, job_attempts.c.incarnation.in_(sorted(incarnations)))


def rows(tx: Tx, *which: Any) -> Sequence[AttemptRow]:
    """Return these attempts, by job and number."""
    found = select(job_attempts).where(*which)
    ordered = found.order_by(job_attempts.c.job_id, job_attempts.c.attempt)
    return [AttemptRow(**row) for row in tx.execute(ordered).mappings()]


def late(tx: Tx, *, now: datetime, after: str, limit: int) -> Sequence[AttemptRow]:
    """Return a page of open attempts whose lease is over, by job id behind `after`."""
    found = select(job_attempts).where(
        IS_OPEN, job_attempts.c.lease_until <= now, job_attempts.c.job_id > after
    )
    page = found.order_by(job_attempts.c.job_id).limit(limit)
    return [AttemptRow(**row) for row in tx.execute(page).mappings()]


def end_late(tx: Tx, held: OpenAttempt, *, outcome: Word, now: datetime) -> bool:
    """End an attempt if its lease is still over, looked at again under the job's lock."""
    is_late = (*fence(held), job_attempts.c.lease_until <= now)
    values = {"ended_at": now, "outcome": outcome, "code": "lease_expired"}
    return tx.execute(update(job_attempts).where(*is_late).values(values)).rowcount == 1
