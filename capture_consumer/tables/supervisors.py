"""The table `supervisors`: who was up lately, for people and for dealing shards.

No claim and no lease depends on it: a row may be missing or stale (SUP-36).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import (
    Boolean,
    Column,
    Index,
    Integer,
    Table,
    Text,
    delete,
    func,
    select,
    update,
)

from capture_consumer.database.columns import METADATA, Instant
from capture_consumer.database.transaction import Tx
from capture_consumer.database.upsert import insert_or_leave

__all__ = ["SupervisorRow", "beat", "consumers_up", "leave", "listing", "supervisors"]

UP_MS = 30_000
FORGET_MS = 600_000

supervisors = Table(
    "supervisors",
    METADATA,
    Column("incarnation", Text, primary_key=True, comment="one supervisor's life"),
    Column("host", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("beat_at", Instant, nullable=False),
    Column("slots", Integer, nullable=False, comment="consumers it keeps"),
    Column("draining", Boolean, nullable=False),
    Index("supervisors_beats", "beat_at"),
    comment="supervisors seen lately; information only",
)


@dataclass(frozen=True, slots=True)
class SupervisorRow:
    """A supervisor that was up lately."""

    incarnation: str
    host: str
    version: str
    started_at: datetime
    beat_at: datetime
    slots: int
    draining: bool


def beat(
    tx: Tx,
    *,
    incarnation: str,
    host: str,
    version: str,
    slots: int,
    draining: bool,
    started_at: datetime,
    now: datetime,
) -> None:
    """Say that this supervisor is up; rows silent for 10 minutes are forgotten on the way."""
    mine = supervisors.c.incarnation == incarnation
    told = update(supervisors).where(mine).values(beat_at=now, slots=slots, draining=draining)
    if tx.execute(told).rowcount == 0:
        insert_or_leave(
            tx,
            supervisors,
            {
                "incarnation": incarnation,
                "host": host,
                "version": version,
                "started_at": started_at,
                "beat_at": now,
                "slots": slots,
                "draining": draining,
            },
        )
    silent = supervisors.c.beat_at < now - timedelta(milliseconds=FORGET_MS)
    tx.execute(delete(supervisors).where(silent))


def leave(tx: Tx, incarnation: str) -> None:
    """Forget a supervisor that ends."""
    tx.execute(delete(supervisors).where(supervisors.c.incarnation == incarnation))


def listing(tx: Tx) -> Sequence[SupervisorRow]:
    """Return the supervisors seen in the last 10 minutes, by host."""
    rows = tx.execute(
        select(supervisors).order_by(supervisors.c.host, supervisors.c.started_at)
    )
    return [SupervisorRow(**row) for row in rows.mappings()]


def consumers_up(tx: Tx, now: datetime) -> int:
    """Return how many consumers are known to be up, at least 1 (BUILD-32)."""
    is_up = (
        supervisors.c.beat_at > now - timedelta(milliseconds=UP_MS),
        supervisors.c.draining.is_(False),
    )
    counted = tx.execute(select(func.coalesce(func.sum(supervisors.c.slots), 0)).where(*is_up))
    return max(1, int(counted.scalar_one()))
