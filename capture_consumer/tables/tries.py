"""The table `tries`: each time a picture of a snapshot was taken (BUILD-9)."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    func,
    insert,
    select,
)

from capture_consumer.builds.facts import ImageFact, TryFact
from capture_consumer.database.columns import METADATA, BigId, Instant, Json, Sha
from capture_consumer.database.slices import sliced
from capture_consumer.database.transaction import Tx
from capture_consumer.tables.images import images
from capture_consumer.tables.snapshots import snapshots

__all__ = ["add", "counts", "of_build", "tries"]

tries = Table(
    "tries",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column(
        "snapshot_id", BigId, ForeignKey(snapshots.c.id, ondelete="CASCADE"), nullable=False
    ),
    Column("n", Integer, nullable=False, comment="from 1 in its snapshot"),
    Column("job_id", Text, nullable=False, comment="with attempt; no foreign key (R19)"),
    Column("attempt", Integer, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("ended_at", Instant, nullable=False),
    Column("result", Text, nullable=False),
    Column("image_id", BigId, ForeignKey(images.c.id)),
    Column("error", Json),
    Column("log_sha", Sha, comment="a blob: the page's log"),
    Column("trace_sha", Sha, comment="a blob"),
    UniqueConstraint("snapshot_id", "n", name="one_try_a_number"),
    CheckConstraint(
        "result IN ('still', 'moving', 'errored', 'died')", name="try_result_is_known"
    ),
    CheckConstraint("n >= 1", name="tries_count_from_one"),
    comment="Each time a picture of a snapshot was taken (BUILD-45)",
)


def add(tx: Tx, snapshot_id: int, after: int, made: Sequence[Mapping[str, Any]]) -> None:
    """Insert tries of one snapshot, numbered from `after` + 1 on. Under its shard's lock."""
    rows = [
        {"snapshot_id": snapshot_id, "n": after + place, **one}
        for place, one in enumerate(made, start=1)
    ]
    if rows:
        tx.execute(insert(tries), rows)


def counts(tx: Tx, snapshot_ids: Collection[int]) -> dict[int, int]:
    """Return how many tries each of these snapshots has; those with none are left out."""
    found: dict[int, int] = {}
    for some in sliced(snapshot_ids):
        counted = (
            select(tries.c.snapshot_id, func.max(tries.c.n))
            .where(tries.c.snapshot_id.in_(some))
            .group_by(tries.c.snapshot_id)
        )
        found.update({row[0]: row[1] for row in tx.execute(counted)})
    return found


def of_build(tx: Tx, build_id: int) -> dict[int, tuple[TryFact, ...]]:
    """Return all tries of a build by snapshot, in their order."""
    rows = tx.execute(
        select(tries, images.c.pixel_sha, images.c.blob_sha, images.c.width, images.c.height)
        .join(snapshots, snapshots.c.id == tries.c.snapshot_id)
        .outerjoin(images, images.c.id == tries.c.image_id)
        .where(snapshots.c.build_id == build_id)
        .order_by(tries.c.snapshot_id, tries.c.n)
    )
    found: dict[int, list[TryFact]] = {}
    for row in rows:
        picture = None
        if row.image_id is not None:
            picture = ImageFact(
                row.image_id, row.pixel_sha, row.blob_sha, row.width, row.height
            )
        found.setdefault(row.snapshot_id, []).append(
            TryFact(
                n=row.n,
                attempt=row.attempt,
                result=row.result,
                started_at=row.started_at,
                ended_at=row.ended_at,
                image=picture,
                error=row.error,
                log_sha=row.log_sha,
            )
        )
    return {snapshot_id: tuple(made) for snapshot_id, made in found.items()}
