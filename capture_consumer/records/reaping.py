"""The reap: only it ends attempts whose lease ran out, page by page (JOB-160).

Nobody is leader; every clerk reaps, and looks again under each job's lock. The reap
takes no build's lock: a job that used up its losses leaves a lifecycle row, whose
hook fails shard or build (SUP-42). A page that fails ends this pass, never the next.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal

import structlog

from capture_consumer.consumer.budget import BACKOFF, LIMITS, Again, GiveUp, Limits, after
from capture_consumer.consumer.outcome import Lost
from capture_consumer.database.engine import Engine
from capture_consumer.database.transaction import Tx, again, reading
from capture_consumer.records.evidence import LEASE_EXPIRED, past_of
from capture_consumer.records.exhausted import tell_lifecycle
from capture_consumer.tables import attempts, jobs
from capture_consumer.tables.attempts import AttemptRow, OpenAttempt
from capture_consumer.tables.jobs import JobRow

__all__ = ["reap"]

log = structlog.get_logger()
PAGE = 50
TEXT = "its lease ran out: the host or the process is gone"


@dataclass(frozen=True, slots=True)
class Page:
    """How far a page came: how many attempts it saw and ended, and the last job's id."""

    seen: int
    ended: int
    last: str


def reap(engine: Engine, *, now: datetime, limits: Limits = LIMITS, page: int = PAGE) -> int:
    """End late attempts, put their jobs back as suspects or fail them; return how many.

    Rows that cannot be reaped now do not hide others: pages go on by job id (Q-8).
    A look without a write lock comes first, so an idle reap disturbs nobody.
    """
    with reading(engine) as tx:
        if not attempts.late(tx, now=now, after="", limit=1):
            return 0
    total, last = 0, ""
    while True:
        one_page = partial(reap_page, last=last, now=now, limits=limits, page=page)
        done = again(engine, one_page)
        total += done.ended
        if done.seen < page:
            break
        last = done.last
    if total:
        log.warning("queue.reaped", count=total)
    return total


def reap_page(tx: Tx, *, last: str, now: datetime, limits: Limits, page: int) -> Page:
    """End the late attempts of one page; jobs that somebody else has locked are skipped."""
    dead = attempts.late(tx, now=now, after=last, limit=page)
    free = jobs.lock_free(tx, [one.job_id for one in dead])
    ended = sum(
        reap_one(tx, free[one.job_id], one, now, limits) for one in dead if one.job_id in free
    )
    return Page(len(dead), ended, dead[-1].job_id if dead else last)


def reap_one(tx: Tx, job: JobRow, late: AttemptRow, now: datetime, limits: Limits) -> bool:
    """End one late attempt, whose job is locked, if it is late still (JOB-45)."""
    held = OpenAttempt(late.job_id, late.attempt, late.owner)
    word: Literal["cancelled", "lost"] = "cancelled" if job.status == "cancelled" else "lost"
    if not attempts.end_late(tx, held, outcome=word, now=now):
        return False
    if job.status != "running" or job.attempt != late.attempt:
        return True
    past = [one for one in past_of(attempts.of_job(tx, job.id)) if one.attempt != late.attempt]
    lost = Lost(code=LEASE_EXPIRED, text=TEXT)
    follows = after(lost, past, now=now, was_suspect=True, limits=limits, backoff=BACKOFF)
    if isinstance(follows, GiveUp):
        jobs.end(tx, job.id, status="failed", now=now, why=(follows.code, follows.text))
        tell_lifecycle(tx, job, follows, now=now)
        log.warning("queue.lease_exhausted", job=job.id, attempts=job.attempt)
        return True
    assert isinstance(follows, Again), "the reap blames no story"
    jobs.put_back(tx, job.id, due_at=now, suspect=True, why=(LEASE_EXPIRED, TEXT))
    return True
