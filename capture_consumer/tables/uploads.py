"""The table `uploads`: which file of a build is which blob.

A path is served from this list, never from a folder (BUILD-106). The blob may
still be on its way, so there is no foreign key; finalize asks for what is missing.
"""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
)

from capture_consumer.database.columns import METADATA, BigId, Sha
from capture_consumer.tables.builds import builds

__all__ = ["uploads"]

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
