"""The tables `blobs` and `stores`: what is stored, when it was last needed, and where.

Rows are content rows: written in the order blobs, images, keys, comparisons,
sorted by key, "do nothing on conflict" (R21).
"""

from collections.abc import Collection
from datetime import datetime, timedelta

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Integer,
    Table,
    Text,
    or_,
    select,
    update,
)

from capture_consumer.builds.effects import StoredBlob
from capture_consumer.database.columns import METADATA, Instant, Sha, partial_index
from capture_consumer.database.slices import sliced
from capture_consumer.database.transaction import Tx
from capture_consumer.database.upsert import insert_or_leave

__all__ = [
    "blobs",
    "keep",
    "missing",
    "move_store",
    "newest",
    "record_store",
    "store_url",
    "stores",
    "touch",
]

REFRESH_AFTER = timedelta(hours=1)
"""A reference younger than this is not written again: collecting waits 48 h (BUILD-101)."""

blobs = Table(
    "blobs",
    METADATA,
    Column("sha", Sha, primary_key=True, comment="sha256 of the bytes: its name in the store"),
    Column("bytes", BigInteger, nullable=False),
    Column("kind", Text, nullable=False),
    Column("last_ref_at", Instant, nullable=False, comment="newest reference (BUILD-100)"),
    Column("tombstoned_at", Instant, comment="to be deleted 24 h later (BUILD-101)"),
    CheckConstraint("bytes >= 0", name="blob_bytes_are_counted"),
    CheckConstraint(
        "kind IN ('file', 'image', 'diff', 'mask', 'log', 'trace', 'manifest')",
        name="blob_kind_is_known",
    ),
    partial_index("blobs_tombstoned", "tombstoned_at", where="tombstoned_at IS NOT NULL"),
    comment="What is in the store, by the hash of the content",
)

stores = Table(
    "stores",
    METADATA,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("url", Text, nullable=False, comment="where the blobs are (R25)"),
    Column("recorded_at", Instant, nullable=False),
    CheckConstraint("id = 1", name="one_store_a_database"),
    comment="The store that this database's hashes are found in: one row",
)


def keep(tx: Tx, stored: Collection[StoredBlob], *, now: datetime) -> None:
    """Note blobs that are in the store, and that they are referred to now (BUILD-100)."""
    by_sha = {blob.sha: blob for blob in stored}
    rows = [
        {"sha": sha, "bytes": blob.bytes, "kind": blob.kind, "last_ref_at": now}
        for sha, blob in sorted(by_sha.items())
    ]
    insert_or_leave(tx, blobs, rows)
    touch(tx, by_sha, now=now)


def touch(tx: Tx, shas: Collection[str], *, now: datetime) -> None:
    """Note that blobs are referred to now, and take their tombstones away (BUILD-100).

    Rows are locked in the order of their keys, so two that touch the same never wait
    for each other. Those noted within the last hour are left alone.
    """
    is_stale = or_(
        blobs.c.last_ref_at < now - REFRESH_AFTER, blobs.c.tombstoned_at.is_not(None)
    )
    for some in sliced(shas):
        stale = (
            select(blobs.c.sha)
            .where(blobs.c.sha.in_(some), is_stale)
            .order_by(blobs.c.sha)
            .with_for_update(key_share=True)
        )
        locked = tx.execute(stale).scalars().all()
        if locked:
            tx.execute(
                update(blobs)
                .where(blobs.c.sha.in_(locked))
                .values(last_ref_at=now, tombstoned_at=None)
            )


def missing(tx: Tx, shas: Collection[str]) -> list[str]:
    """Return those of the hashes that the store does not have, sorted."""
    absent: list[str] = []
    for some in sliced(shas):
        there = set(tx.execute(select(blobs.c.sha).where(blobs.c.sha.in_(some))).scalars())
        absent += [sha for sha in some if sha not in there]
    return absent


def store_url(tx: Tx) -> str | None:
    """Return where this database's blobs are; None until the first is stored (R25)."""
    url: str | None = tx.execute(select(stores.c.url)).scalar_one_or_none()
    return url


def record_store(tx: Tx, url: str, *, now: datetime) -> str:
    """Write where the blobs are unless it is written already; return what stands there."""
    insert_or_leave(tx, stores, {"id": 1, "url": url, "recorded_at": now})
    return store_url(tx) or url


def move_store(tx: Tx, url: str, *, now: datetime) -> None:
    """Write that the blobs are somewhere else now, whatever stood there (R25)."""
    record_store(tx, url, now=now)
    tx.execute(update(stores).values(url=url, recorded_at=now))


def newest(tx: Tx, *, limit: int) -> list[str]:
    """Return the blobs that were referred to last."""
    last = select(blobs.c.sha).where(blobs.c.tombstoned_at.is_(None))
    return list(tx.execute(last.order_by(blobs.c.last_ref_at.desc()).limit(limit)).scalars())
