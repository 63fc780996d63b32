"""The table `shards`: parts of a build, each captured by one job and ended once.

A shard has no lease, its job has (BUILD-31). The open ones are counted, never
kept as a number to be counted down (BUILD-72).
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    exists,
    func,
    insert,
    literal,
    select,
    update,
)

from capture_consumer.builds.facts import ShardFact
from capture_consumer.database.columns import METADATA, BigId, Instant, partial_index
from capture_consumer.database.transaction import Tx
from capture_consumer.tables.builds import builds

__all__ = [
    "begin",
    "cancel_open",
    "count_ended",
    "deal",
    "end",
    "get",
    "lock",
    "of_build",
    "open_of_build",
    "progress",
    "reduce_when_all_ended",
    "shards",
]

shards = Table(
    "shards",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column("build_id", BigId, ForeignKey(builds.c.id, ondelete="CASCADE"), nullable=False),
    Column("idx", Integer, nullable=False, comment="from 0 in its build"),
    Column("state", Text, nullable=False, server_default="pending"),
    Column("error_code", Text),
    Column("error_text", Text),
    Column("planned", Integer, nullable=False, server_default="0", comment="snapshots dealt"),
    Column("ended", Integer, nullable=False, server_default="0", comment="for progress only"),
    Column("weight_ms", Integer, nullable=False, server_default="0", comment="expected time"),
    Column("ended_at", Instant),
    UniqueConstraint("build_id", "idx", name="one_shard_an_idx"),
    CheckConstraint(
        "state IN ('pending', 'running', 'done', 'failed', 'cancelled')",
        name="shard_state_is_known",
    ),
    CheckConstraint(
        "(ended_at IS NULL) = (state IN ('pending', 'running'))",
        name="shard_ends_with_an_instant",
    ),
    partial_index("shards_open_of_build", "build_id", where="state IN ('pending', 'running')"),
    comment="Parts of a build; the last one that ends moves it to reducing",
)

IS_OPEN = shards.c.state.in_(
    [literal(state, literal_execute=True) for state in ("pending", "running")]
)
COLUMNS = [shards.c.id, shards.c.build_id, shards.c.idx, shards.c.state]


def lock(tx: Tx, shard_id: int) -> ShardFact | None:
    """Lock a shard's row until the end of the transaction; return it, None if it is gone."""
    row = tx.execute(
        select(*COLUMNS).where(shards.c.id == shard_id).with_for_update(key_share=True)
    ).one_or_none()
    return ShardFact(*row) if row else None


def get(tx: Tx, shard_id: int) -> ShardFact | None:
    """Return a shard as it is now."""
    row = tx.execute(select(*COLUMNS).where(shards.c.id == shard_id)).one_or_none()
    return ShardFact(*row) if row else None


def of_build(tx: Tx, build_id: int) -> list[ShardFact]:
    """Return a build's shards in their order."""
    rows = tx.execute(
        select(*COLUMNS).where(shards.c.build_id == build_id).order_by(shards.c.idx)
    )
    return [ShardFact(*row) for row in rows]


def open_of_build(tx: Tx, build_id: int) -> list[ShardFact]:
    """Return the shards of a build that have not ended, in their order."""
    rows = tx.execute(
        select(*COLUMNS).where(shards.c.build_id == build_id, IS_OPEN).order_by(shards.c.id)
    )
    return [ShardFact(*row) for row in rows]


def deal(tx: Tx, build_id: int, dealt: Sequence[tuple[int, int, int]]) -> dict[int, int]:
    """Insert shards given as (idx, weight in ms, snapshots); return their ids by idx."""
    rows = [
        {"build_id": build_id, "idx": idx, "weight_ms": weight_ms, "planned": planned}
        for idx, weight_ms, planned in dealt
    ]
    if not rows:
        return {}
    made = tx.execute(insert(shards).returning(shards.c.idx, shards.c.id), rows)
    return {row.idx: row.id for row in made}


def begin(tx: Tx, shard_id: int) -> bool:
    """Move a shard from pending to running; False if it was running or ended (BUILD-31)."""
    begun = update(shards).where(shards.c.id == shard_id, shards.c.state == "pending")
    return tx.execute(begun.values(state="running")).rowcount == 1


def end(
    tx: Tx,
    shard_id: int,
    state: Literal["done", "failed", "cancelled"],
    *,
    now: datetime,
    code: str | None = None,
    text: str | None = None,
) -> bool:
    """End a shard that is open; False, having written nothing, when it has ended already."""
    ended = update(shards).where(shards.c.id == shard_id, IS_OPEN)
    written = tx.execute(
        ended.values(state=state, ended_at=now, error_code=code, error_text=text)
    )
    return written.rowcount == 1


def cancel_open(tx: Tx, build_id: int, *, now: datetime) -> int:
    """End the open shards of a build as `cancelled`; return how many (BUILD-16)."""
    ended = update(shards).where(shards.c.build_id == build_id, IS_OPEN)
    return tx.execute(ended.values(state="cancelled", ended_at=now)).rowcount


def count_ended(tx: Tx, shard_id: int, more: int) -> None:
    """Add to the number that progress is shown by; nothing is decided by it."""
    tx.execute(
        update(shards).where(shards.c.id == shard_id).values(ended=shards.c.ended + more)
    )


def progress(tx: Tx, build_id: int) -> tuple[int, int]:
    """Return how many snapshots of a build's shards have ended, and of how many."""
    row = tx.execute(
        select(
            func.coalesce(func.sum(shards.c.ended), 0),
            func.coalesce(func.sum(shards.c.planned), 0),
        ).where(shards.c.build_id == build_id)
    ).one()
    return int(row[0]), int(row[1])


def reduce_when_all_ended(tx: Tx, build_id: int) -> int | None:
    """Move a build from capturing to reducing if no shard is open (T9); return its `rev`.

    The caller has locked the build; else two that end together each see the other open.
    """
    still_open = exists().where(shards.c.build_id == build_id, IS_OPEN)
    moved = (
        update(builds)
        .where(builds.c.id == build_id, builds.c.phase == "capturing", ~still_open)
        .values(phase="reducing", rev=builds.c.rev + 1)
    )
    rev: int | None = tx.execute(moved.returning(builds.c.rev)).scalar_one_or_none()
    return rev
