"""Builds that should have moved by now: what the clerk's chores look for.

Only looked up here; whoever acts on an answer locks the build and looks again.
"""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import exists, or_, select

from capture_consumer.builds.facts import Phase
from capture_consumer.database.transaction import Tx
from capture_consumer.tables.builds import IS_OPEN, builds
from capture_consumer.tables.jobs import jobs
from capture_consumer.tables.shards import shards

__all__ = [
    "is_past_deadline",
    "past_deadline",
    "silent_uploads",
    "was_ever_claimed",
    "without_job",
    "without_shard",
]

PAGE = 50
WITH_A_JOB: tuple[Phase, ...] = ("pending", "planning", "reducing")


def silent_uploads(tx: Tx, *, before: datetime) -> Sequence[int]:
    """Return builds whose upload has not moved since `before` (T3)."""
    silent = (IS_OPEN, builds.c.phase == "receiving", builds.c.activity_at < before)
    return ids(tx, *silent)


def past_deadline(tx: Tx, *, now: datetime) -> Sequence[int]:
    """Return open builds whose deadline has passed (T12, BUILD-43)."""
    return ids(tx, IS_OPEN, builds.c.deadline_at <= now)


def without_shard(tx: Tx) -> Sequence[int]:
    """Return capturing builds none of whose shards is open (BUILD-74)."""
    is_open = shards.c.state.in_(["pending", "running"])
    open_shard = exists().where(shards.c.build_id == builds.c.id, is_open)
    return ids(tx, IS_OPEN, builds.c.phase == "capturing", ~open_shard)


def without_job(tx: Tx, *, before: datetime) -> Sequence[int]:
    """Return builds that wait for a job which is neither open nor ended lately (BUILD-74)."""
    recent = or_(jobs.c.finished_at.is_(None), jobs.c.finished_at >= before)
    a_job = exists().where(jobs.c.build_id == builds.c.id, recent)
    waits = (IS_OPEN, builds.c.phase.in_(WITH_A_JOB), builds.c.pending_at < before, ~a_job)
    return ids(tx, *waits)


def is_past_deadline(tx: Tx, build_id: int, *, at: datetime) -> bool:
    """Tell whether this build's deadline had passed at that instant."""
    past = (builds.c.id == build_id, builds.c.deadline_at <= at)
    return tx.execute(select(builds.c.id).where(*past)).first() is not None


def was_ever_claimed(tx: Tx, build_id: int) -> bool:
    """Tell whether any job of the build was ever begun."""
    begun = (jobs.c.build_id == build_id, jobs.c.attempt > 0)
    return tx.execute(select(jobs.c.id).where(*begun).limit(1)).first() is not None


def ids(tx: Tx, *which: object) -> Sequence[int]:
    """Return a page of builds, the oldest first."""
    found = select(builds.c.id).where(*which).order_by(builds.c.id).limit(PAGE)  # type: ignore[arg-type]
    return list(tx.execute(found).scalars())
