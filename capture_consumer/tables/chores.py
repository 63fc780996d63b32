"""The table `chores`: when each periodic chore is next due.

Whoever moves `next_at` forward does the chore; nobody is leader, and no lock is
held while it is done (JOB-151, R14).
"""

from datetime import datetime, timedelta

from sqlalchemy import Column, Table, Text, select, update

from capture_consumer.database.columns import METADATA, Instant
from capture_consumer.database.transaction import Tx
from capture_consumer.database.upsert import insert_or_leave

__all__ = ["chores", "take"]

chores = Table(
    "chores",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("next_at", Instant, nullable=False),
    comment="periodic chores: whoever moves next_at forward does one",
)


def take(tx: Tx, name: str, *, every_ms: int, now: datetime) -> bool:
    """Move a due chore's time forward; return True when the chore is ours to do.

    A chore that nobody has seen yet is due at once. A clock that stepped back makes
    no chore due twice (Q-56).
    """
    assert every_ms >= 1
    next_at = now + timedelta(milliseconds=every_ms)
    seen = tx.execute(
        select(chores.c.next_at).where(chores.c.name == name)
    ).scalar_one_or_none()
    if seen is None:
        return insert_or_leave(tx, chores, {"name": name, "next_at": next_at}) == 1
    if seen > now:
        return False
    ours = (chores.c.name == name, chores.c.next_at == seen, chores.c.next_at <= now)
    return tx.execute(update(chores).where(*ours).values(next_at=next_at)).rowcount == 1
