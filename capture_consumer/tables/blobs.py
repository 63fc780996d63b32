"""The tables `blobs` and `stores`: what is stored, when it was last needed, and where.

Rows are content rows: written in the order blobs, images, keys, comparisons,
sorted by key, "do nothing on conflict" (R21).
"""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Integer,
    Table,
    Text,
)

from capture_consumer.database.columns import METADATA, Instant, Sha, partial_index

__all__ = ["blobs", "stores"]

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
