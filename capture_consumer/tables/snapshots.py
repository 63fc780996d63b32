"""The table `snapshots`: what one build shows of each key, and what people said of it.

Rows are written only under the lock of their shard or build, after the fence
(decision 11). A state is written once: `planned` to another, never on (BUILD-44).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    delete,
    false,
    func,
    literal,
    select,
    update,
)

from capture_consumer.database.columns import METADATA, BigId, partial_index
from capture_consumer.database.slices import sliced
from capture_consumer.database.transaction import Tx
from capture_consumer.database.upsert import insert_many
from capture_consumer.tables.builds import builds
from capture_consumer.tables.comparisons import comparisons
from capture_consumer.tables.images import images
from capture_consumer.tables.keys import keys
from capture_consumer.tables.shards import shards

__all__ = [
    "Answerable",
    "add",
    "answer",
    "answerable",
    "blame",
    "count_planned",
    "lose_planned",
    "of_keys",
    "record",
    "rule",
    "snapshots",
    "withdraw",
]

PENDING_ONLY = "review = 'pending'"

snapshots = Table(
    "snapshots",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column("build_id", BigId, ForeignKey(builds.c.id, ondelete="CASCADE"), nullable=False),
    Column("key_id", BigId, ForeignKey(keys.c.id), nullable=False),
    Column("shard_id", BigId, ForeignKey(shards.c.id, ondelete="CASCADE")),
    Column("title", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("flaky", Boolean, nullable=False, server_default=false()),
    Column("image_id", BigId, ForeignKey(images.c.id)),
    Column("copied_from", BigId, comment="a snapshot's id; no foreign key: it may be pruned"),
    Column("error_code", Text),
    Column("message", Text),
    Column("took_ms", Integer, comment="all its tries together; weighs shards (BUILD-32)"),
    Column("outcome", Text, comment="none until reduced"),
    Column(
        "baseline_image_id", BigId, ForeignKey(images.c.id), comment="tentative, then final"
    ),
    Column(
        "baseline_build_id", BigId, comment="a build's id; no foreign key: it may be pruned"
    ),
    Column("baseline_reason", Text),
    Column("comparison_id", BigId, ForeignKey(comparisons.c.id)),
    Column("review", Text, nullable=False, server_default="none"),
    Column("review_source", Text, comment="person, carried, policy, auto_branch, first_build"),
    Column("review_no", Integer, nullable=False, server_default="0"),
    UniqueConstraint("build_id", "key_id", name="one_snapshot_a_key"),
    CheckConstraint(
        "state IN ('planned', 'captured', 'errored', 'unstable', 'lost', 'skipped', "
        "'inherited')",
        name="snapshot_state_is_known",
    ),
    CheckConstraint(
        "outcome IN ('unchanged', 'changed', 'new', 'removed', 'carried', 'ignored', "
        "'errored', 'unstable', 'lost', 'skipped')",
        name="snapshot_outcome_is_known",
    ),
    CheckConstraint(
        "review IN ('none', 'pending', 'accepted', 'rejected')", name="snapshot_review_is_known"
    ),
    CheckConstraint(
        "state <> 'captured' OR image_id IS NOT NULL",
        name="captured_has_an_image",
    ),
    Index("snapshots_of_shard", "shard_id"),
    Index("snapshots_of_key", "key_id", "id"),
    Index("snapshots_of_image", "image_id"),
    partial_index("snapshots_pending_of_key", "key_id", "image_id", where=PENDING_ONLY),
    comment="What one build shows of one key, and what people said of it",
)

IS_PLANNED = snapshots.c.state == literal("planned", literal_execute=True)


def add(tx: Tx, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert snapshots, many in one statement; all rows have the same columns.

    Under the lock of their build. Sorted by key, as all rows that others may insert.
    """
    insert_many(tx, snapshots, sorted(rows, key=lambda row: int(row["key_id"])))


def record(tx: Tx, shard_id: int, snapshot_id: int, values: Mapping[str, Any]) -> bool:
    """Write what became of a planned snapshot; False, having written nothing, if it has ended.

    Under the lock of its shard. A result is written once (BUILD-13, BUILD-44).
    """
    mine = (snapshots.c.id == snapshot_id, snapshots.c.shard_id == shard_id, IS_PLANNED)
    return tx.execute(update(snapshots).where(*mine).values(**values)).rowcount == 1


def count_planned(tx: Tx, shard_id: int) -> int:
    """Return how many snapshots of a shard are still to be captured."""
    counted = select(func.count()).where(snapshots.c.shard_id == shard_id, IS_PLANNED)
    return int(tx.execute(counted).scalar_one())


def lose_planned(tx: Tx, shard_id: int, *, code: str | None, message: str | None) -> int:
    """Make the planned snapshots of an ended shard `lost`; return how many (BUILD-35)."""
    lost = update(snapshots).where(snapshots.c.shard_id == shard_id, IS_PLANNED)
    return tx.execute(lost.values(state="lost", error_code=code, message=message)).rowcount


def blame(tx: Tx, shard_id: int, story_id: str, *, code: str, message: str) -> int:
    """Make a story's planned snapshots of a shard `errored`; return how many (BUILD-36)."""
    of_story = select(keys.c.id).where(keys.c.story_id == story_id)
    blamed = update(snapshots).where(
        snapshots.c.shard_id == shard_id, IS_PLANNED, snapshots.c.key_id.in_(of_story)
    )
    return tx.execute(blamed.values(state="errored", error_code=code, message=message)).rowcount


def rule(tx: Tx, build_id: int, rows: Sequence[Mapping[str, Any]]) -> None:
    """Write outcomes, many at once; each row has `id` and the same other columns.

    Under the lock of their build.
    """
    if not rows:
        return
    columns: dict[str, Any] = {
        name: bindparam(f"new_{name}") for name in rows[0] if name != "id"
    }
    ruled = update(snapshots).where(
        snapshots.c.id == bindparam("of_id"), snapshots.c.build_id == build_id
    )
    bound = [{"of_id": row["id"]} | {f"new_{k}": row[k] for k in columns} for row in rows]
    tx.execute(ruled.values(**columns), bound)


def answer(tx: Tx, snapshot_id: int, *, review_no: int, review: str, source: str) -> bool:
    """Write a person's answer; False if another one came since `review_no` (BUILD-83)."""
    answered = update(snapshots).where(
        snapshots.c.id == snapshot_id, snapshots.c.review_no == review_no
    )
    values = {"review": review, "review_source": source, "review_no": review_no + 1}
    return tx.execute(answered.values(**values)).rowcount == 1


@dataclass(frozen=True, slots=True)
class Answerable:
    """What a decision on a snapshot has to know of it."""

    id: int
    key_id: int
    image_id: int | None
    baseline_image_id: int | None
    outcome: str | None
    review: str


def answerable(tx: Tx, build_id: int, ids: Collection[int]) -> dict[int, Answerable]:
    """Return snapshots of a locked build by id; those of other builds are left out."""
    columns = [snapshots.c[name] for name in Answerable.__dataclass_fields__]
    found: dict[int, Answerable] = {}
    for some in sliced(ids):
        rows = tx.execute(
            select(*columns).where(snapshots.c.build_id == build_id, snapshots.c.id.in_(some))
        )
        found.update({row.id: Answerable(*row) for row in rows})
    return found


def of_keys(tx: Tx, build_id: int, key_ids: Collection[int]) -> dict[int, int]:
    """Return the ids of a build's snapshots by key, of those keys that have one."""
    found: dict[int, int] = {}
    for some in sliced(key_ids):
        rows = tx.execute(
            select(snapshots.c.key_id, snapshots.c.id).where(
                snapshots.c.build_id == build_id, snapshots.c.key_id.in_(some)
            )
        )
        found.update({row[0]: row[1] for row in rows})
    return found


def withdraw(tx: Tx, build_id: int, ids: Collection[int]) -> None:
    """Delete rows that reduce added for removed keys; never one that was planned."""
    for some in sliced(ids):
        tx.execute(
            delete(snapshots).where(
                snapshots.c.build_id == build_id,
                snapshots.c.id.in_(some),
                snapshots.c.outcome == "removed",
            )
        )
