"""Statements over `jobs` and `job_attempts` that find and mend what disagrees (JOB-43)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from sqlalchemy import and_, func, or_, select, update

from capture_consumer.database.transaction import Tx
from capture_consumer.tables.attempts import IS_OPEN, job_attempts
from capture_consumer.tables.jobs import IS_OPEN as IS_OPEN_JOB, IS_QUEUED, IS_RUNNING, jobs

__all__ = ["become", "disagreeing"]


def disagreeing(tx: Tx, *, limit: int, job_id: str | None = None) -> Sequence[str]:
    """Return open jobs whose newest attempt says otherwise, and any with an older open one.

    Only open jobs and open attempts are looked at, through their partial indexes.
    """
    of_job = job_attempts.c.job_id == jobs.c.id
    every = job_attempts.alias("every")
    newest = (
        select(func.max(every.c.attempt))
        .where(every.c.job_id == jobs.c.id)
        .correlate(jobs)
        .scalar_subquery()
    )
    has_open = select(job_attempts.c.attempt).where(of_job, IS_OPEN).exists()
    is_done = (
        select(job_attempts.c.attempt)
        .where(of_job, job_attempts.c.attempt == newest, job_attempts.c.outcome == "done")
        .correlate(jobs)
        .exists()
    )
    number_differs = jobs.c.attempt != func.coalesce(newest, 0)
    wrong = or_(and_(IS_QUEUED, has_open), and_(IS_RUNNING, ~has_open), is_done, number_differs)
    older_open = (
        select(job_attempts.c.job_id)
        .join(jobs, of_job)
        .where(IS_OPEN, job_attempts.c.attempt < jobs.c.attempt)
    )
    found = select(jobs.c.id).where(IS_OPEN_JOB, wrong).union(older_open)
    ids = found.subquery()
    wanted = select(ids.c.id).order_by(ids.c.id).limit(limit)
    if job_id is not None:
        wanted = wanted.where(ids.c.id == job_id)
    return tx.execute(wanted).scalars().all()


def become(
    tx: Tx,
    job_id: str,
    *,
    status: Literal["queued", "running"],
    attempt: int,
    visible_at: datetime | None,
) -> None:
    """Write what an open job is; its row is locked."""
    values = {"status": status, "attempt": attempt, "visible_at": visible_at}
    tx.execute(update(jobs).where(jobs.c.id == job_id, IS_OPEN_JOB).values(values))
