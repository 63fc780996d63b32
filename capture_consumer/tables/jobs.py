"""The table `jobs`: what has to be done, and how far it is.

A job moves `queued` → `running` → `done`, `failed` or `cancelled`, back to `queued`
while a budget allows, and never again once it has ended (JOB-6). Who holds it is
told by its newest attempt alone, in `tables.attempts`.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Integer,
    SmallInteger,
    Table,
    Text,
    func,
    literal,
    select,
    update,
)

from capture_consumer.consumer.payload import Payload, encode
from capture_consumer.consumer.safetext import safe_text
from capture_consumer.database.columns import METADATA, BigId, Instant, partial_index
from capture_consumer.database.transaction import Tx
from capture_consumer.database.upsert import insert_or_leave

__all__ = [
    "IS_OPEN",
    "IS_QUEUED",
    "IS_RUNNING",
    "JobRow",
    "JobStatus",
    "cancel",
    "cancel_of_build",
    "cancel_of_shard",
    "count_by_status",
    "end",
    "enqueue",
    "fail_open_of_build",
    "get",
    "jobs",
    "listing",
    "lock",
    "lock_free",
    "put_back",
]

JobStatus = Literal["queued", "running", "done", "failed", "cancelled"]
EndStatus = Literal["done", "failed", "cancelled"]
Why = tuple[str | None, str | None] | None
"""A code word and a text for a person, or nothing to say."""


jobs = Table(
    "jobs",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("build_id", BigId),
    Column("shard_id", BigId),
    Column("kind", Text, nullable=False, comment="capture, publish, notify, or a user's own"),
    Column("step", Text, comment="of a capture job: plan, shard, reduce"),
    Column("status", Text, nullable=False),
    Column("priority", SmallInteger, nullable=False, comment="smaller goes first"),
    Column("visible_at", Instant, comment="may be claimed from then on; only while queued"),
    Column("attempt", Integer, nullable=False, comment="number of the newest attempt"),
    Column("suspect", Boolean, nullable=False, comment="to be run alone on its host"),
    Column("payload", Text),
    Column("created_at", Instant, nullable=False),
    Column("started_at", Instant),
    Column("finished_at", Instant),
    Column("code", Text),
    Column("error", Text),
    CheckConstraint("step IN ('plan', 'shard', 'reduce')", name="job_step_is_known"),
    CheckConstraint(
        "status IN ('queued', 'running', 'done', 'failed', 'cancelled')",
        name="job_status_is_known",
    ),
    CheckConstraint(
        "(visible_at IS NOT NULL) = (status = 'queued')", name="job_is_visible_while_queued"
    ),
    CheckConstraint(
        "(finished_at IS NOT NULL) = (status IN ('done', 'failed', 'cancelled'))",
        name="job_is_finished_when_it_ended",
    ),
    partial_index("jobs_ready", "priority", "visible_at", "id", where="status = 'queued'"),
    partial_index("jobs_suspects", "visible_at", "id", where="status = 'queued' AND suspect"),
    partial_index("jobs_open_of_build", "build_id", where="status IN ('queued', 'running')"),
    partial_index(
        "jobs_prune", "finished_at", "id", where="status IN ('done', 'failed', 'cancelled')"
    ),
    comment="what has to be done; each try of it is a row of job_attempts",
    postgresql_with={
        "fillfactor": 80,
        "autovacuum_vacuum_scale_factor": 0.01,
        "autovacuum_vacuum_threshold": 500,
    },
)

QUEUED, RUNNING = (literal(word, literal_execute=True) for word in ("queued", "running"))
IS_QUEUED = jobs.c.status == QUEUED
IS_RUNNING = jobs.c.status == RUNNING
IS_OPEN = jobs.c.status.in_([QUEUED, RUNNING])
# Literals: a partial index cannot serve a parameter (JOB-152).


@dataclass(frozen=True, slots=True)
class JobRow:
    """A job as it stands."""

    id: str
    build_id: int | None
    shard_id: int | None
    kind: str
    step: Literal["plan", "shard", "reduce"] | None
    status: JobStatus
    priority: int
    visible_at: datetime | None
    attempt: int
    suspect: bool
    payload: str | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    code: str | None
    error: str | None


def enqueue(
    tx: Tx,
    *,
    job_id: str,
    kind: str,
    now: datetime,
    step: Literal["plan", "shard", "reduce"] | None = None,
    build_id: int | None = None,
    shard_id: int | None = None,
    priority: int = 0,
    delay_ms: int = 0,
    payload: Mapping[str, Any] | Payload | None = None,
) -> bool:
    """Insert a job, due after `delay_ms`; return False when the id exists (JOB-14, JOB-15)."""
    sent = payload if isinstance(payload, Payload) else Payload(payload or {})
    what = {"kind": kind, "step": step, "build_id": build_id, "shard_id": shard_id}
    due_at = now + timedelta(milliseconds=delay_ms)
    waits = {"status": "queued", "priority": priority, "visible_at": due_at, "created_at": now}
    new = {"id": job_id, "attempt": 0, "suspect": False, "payload": encode(sent)}
    return insert_or_leave(tx, jobs, new | what | waits) == 1


def get(tx: Tx, job_id: str) -> JobRow | None:
    """Return the job, or None when there is none."""
    row = tx.execute(select(jobs).where(jobs.c.id == job_id)).mappings().one_or_none()
    return JobRow(**row) if row else None


def lock(tx: Tx, job_id: str) -> JobRow | None:
    """Lock the job's row and return it as it is now; build and shard come before it."""
    locked = select(jobs).where(jobs.c.id == job_id).with_for_update(key_share=True)
    row = tx.execute(locked).mappings().one_or_none()
    return JobRow(**row) if row else None


def lock_free(tx: Tx, job_ids: Collection[str]) -> Mapping[str, JobRow]:
    """Lock those of these jobs that nobody else has locked, by id; return them."""
    free = select(jobs).where(jobs.c.id.in_(sorted(job_ids))).order_by(jobs.c.id)
    locked = tx.execute(free.with_for_update(key_share=True, skip_locked=True)).mappings()
    return {row["id"]: JobRow(**row) for row in locked}


def end(tx: Tx, job_id: str, *, status: EndStatus, now: datetime, why: Why = None) -> bool:
    """End an open job; return False when it had ended. Its row is locked by the caller.

    `done` clears the mark of a suspect (JOB-158).
    """
    values: dict[str, Any] = {"suspect": False} if status == "done" else {}
    values |= {"status": status, "visible_at": None, "finished_at": now}
    ended = update(jobs).where(jobs.c.id == job_id, IS_OPEN)
    return tx.execute(ended.values(values | told(why))).rowcount == 1


def told(why: Why) -> dict[str, str | None]:
    """Return the columns that say why: a code word and a text made safe (JOB-165)."""
    code, error = why or (None, None)
    return {"code": code, "error": None if error is None else safe_text(error)}


def put_back(tx: Tx, job_id: str, *, due_at: datetime, suspect: bool, why: Why) -> bool:
    """Queue a running job again; `records.ending` knows which budget that names."""
    again = update(jobs).where(jobs.c.id == job_id, IS_RUNNING)
    values = {"status": "queued", "visible_at": due_at, "suspect": suspect} | told(why)
    return tx.execute(again.values(values)).rowcount == 1


def cancel(tx: Tx, job_id: str, now: datetime) -> bool:
    """Cancel an open job; its holder sees it within 5 s (JOB-17). Lock its build first."""
    return cancelled(tx, jobs.c.id == job_id, now) == 1


def cancel_of_build(tx: Tx, build_id: int, now: datetime) -> int:
    """Cancel all open jobs of a build, whose row is locked; return how many (JOB-18)."""
    return cancelled(tx, jobs.c.build_id == build_id, now)


def cancel_of_shard(tx: Tx, shard_id: int, now: datetime) -> int:
    """Cancel the open job of a shard, whose row is locked; return how many."""
    return cancelled(tx, jobs.c.shard_id == shard_id, now)


def cancelled(tx: Tx, which: Any, now: datetime, why: Why = None) -> int:
    """Cancel those that are open, in one conditional update; return how many."""
    values = {"status": "cancelled", "visible_at": None, "finished_at": now} | told(why)
    return tx.execute(update(jobs).where(which, IS_OPEN).values(values)).rowcount


def fail_open_of_build(tx: Tx, build_id: int, now: datetime, code: str, error: str) -> int:
    """End all open jobs of a build that failed, with its error; return how many (JOB-118).

    Those in hand become `cancelled`, so that their holders let go in good order; the
    others become `failed`.
    """
    why, of_build = (code, error), jobs.c.build_id == build_id
    stopped = cancelled(tx, of_build & IS_RUNNING, now, why)
    values = {"status": "failed", "visible_at": None, "finished_at": now} | told(why)
    waiting = update(jobs).where(of_build, IS_QUEUED).values(values)
    return stopped + tx.execute(waiting).rowcount


def listing(
    tx: Tx, *, status: JobStatus | None = None, build_id: int | None = None, limit: int = 100
) -> Sequence[JobRow]:
    """Return jobs for people: open ones first, then the newest."""
    found = select(jobs).order_by(IS_OPEN.desc(), jobs.c.created_at.desc(), jobs.c.id)
    if status is not None:
        found = found.where(jobs.c.status == status)
    if build_id is not None:
        found = found.where(jobs.c.build_id == build_id)
    return [JobRow(**row) for row in tx.execute(found.limit(limit)).mappings()]


def count_by_status(tx: Tx) -> Mapping[str, int]:
    """Return how many jobs there are of each status that occurs."""
    counted = select(jobs.c.status, func.count()).group_by(jobs.c.status)
    return dict(iter(tx.execute(counted)))
