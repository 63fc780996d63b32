"""Mend jobs and attempts that disagree: the newest attempt is the truth (JOB-43).

Our transactions cannot make such rows; a failover that dropped a commit, an older
version or a hand can. They are never in anybody's way, see `tables.claims.look`; a
chore of the clerk brings them here (JOB-151).
"""

from datetime import datetime
from functools import partial

import structlog

from capture_consumer.database.engine import Engine
from capture_consumer.database.transaction import Tx, again, reading
from capture_consumer.tables import attempts, jobs, mended
from capture_consumer.tables.attempts import AttemptRow, OpenAttempt

__all__ = ["mend"]

log = structlog.get_logger()
PAGE = 50


def mend(engine: Engine, *, now: datetime) -> int:
    """Mend up to 50 jobs, each in a transaction of its own; return how many needed it."""
    with reading(engine) as tx:
        found = mended.disagreeing(tx, limit=PAGE)
    fixed = 0
    for job_id in found:
        said = again(engine, partial(mend_one, job_id=job_id, now=now))
        if said:
            fixed += 1
            log.error("reconcile.fixed", job=job_id, now_is=said)
    return fixed


def mend_one(tx: Tx, *, job_id: str, now: datetime) -> str | None:
    """Lock one job, look again, and let its newest attempt say what it is."""
    job = jobs.lock(tx, job_id)
    if job is None or not mended.disagreeing(tx, limit=1, job_id=job_id):
        return None
    rows = attempts.of_job(tx, job_id)
    for one in rows[:-1]:
        if one.ended_at is None:
            held = OpenAttempt(job_id, one.attempt, None)
            attempts.end(tx, held, outcome="lost", now=now, evidence={"code": "not_newest"})
    if job.status not in {"queued", "running"}:
        return job.status
    return become(tx, job_id, rows[-1] if rows else None, now)


def become(tx: Tx, job_id: str, newest: AttemptRow | None, now: datetime) -> str:
    """Write what the newest attempt says of an open job."""
    number = newest.attempt if newest else 0
    if newest is not None and newest.outcome is None:
        mended.become(tx, job_id, status="running", attempt=number, visible_at=None)
        return "running"
    if newest is not None and newest.outcome == "done":
        jobs.end(tx, job_id, status="done", now=now)
        return "done"
    mended.become(tx, job_id, status="queued", attempt=number, visible_at=now)
    return "queued"
