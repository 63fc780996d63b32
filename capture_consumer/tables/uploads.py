"""The table `uploads`: which file of a build is which blob.

A path is served from this list, never from a folder (BUILD-106). The blob may
still be on its way, so there is no foreign key; finalize asks for what is missing.
"""

from collections.abc import Collection

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    select,
)

from capture_consumer.builds.effects import FileSent
from capture_consumer.builds.facts import FileFact
from capture_consumer.database.columns import METADATA, BigId, Sha
from capture_consumer.database.transaction import Tx
from capture_consumer.database.upsert import insert_or_leave
from capture_consumer.tables.blobs import blobs
from capture_consumer.tables.builds import builds

__all__ = ["add", "missing", "of_build", "uploads"]

uploads = Table(
    "uploads",
    METADATA,
    Column("build_id", BigId, ForeignKey(builds.c.id, ondelete="CASCADE"), primary_key=True),
    Column("path", Text, primary_key=True, comment="inside the folder, with /"),
    Column("sha", Sha, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("shard_idx", Integer, nullable=False, server_default="0"),
    CheckConstraint("bytes >= 0", name="upload_bytes_are_counted"),
    Index("uploads_of_blob", "sha"),
    comment="The file manifest of what was sent",
)


def add(tx: Tx, build_id: int, files: Collection[FileSent]) -> None:
    """Insert what a build consists of; a path that is there already stays as it is."""
    by_path = {file.path: file for file in files}
    rows = [
        {"build_id": build_id, "path": path, "sha": file.sha, "bytes": file.bytes}
        for path, file in sorted(by_path.items())
    ]
    insert_or_leave(tx, uploads, rows)


def of_build(tx: Tx, build_id: int) -> list[FileFact]:
    """Return what a build consists of, by path."""
    rows = tx.execute(
        select(uploads.c.path, uploads.c.sha, uploads.c.bytes)
        .where(uploads.c.build_id == build_id)
        .order_by(uploads.c.path)
    )
    return [FileFact(*row) for row in rows]


def missing(tx: Tx, build_id: int) -> list[str]:
    """Return the hashes of a build's files that the store does not have yet, sorted."""
    rows = tx.execute(
        select(uploads.c.sha)
        .outerjoin(blobs, blobs.c.sha == uploads.c.sha)
        .where(uploads.c.build_id == build_id, blobs.c.sha.is_(None))
        .distinct()
        .order_by(uploads.c.sha)
    )
    return list(rows.scalars())
