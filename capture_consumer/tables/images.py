"""The table `images`: decoded pictures by the hash of their pixels (decision 12)."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Table,
    UniqueConstraint,
)

from capture_consumer.database.columns import METADATA, BigId, Sha
from capture_consumer.tables.blobs import blobs

__all__ = ["images"]

images = Table(
    "images",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column("pixel_sha", Sha, nullable=False, comment="of decoded pixels, not of file bytes"),
    Column("blob_sha", Sha, ForeignKey(blobs.c.sha), nullable=False),
    Column("width", Integer, nullable=False),
    Column("height", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False, comment="of the stored file"),
    UniqueConstraint("pixel_sha", name="one_image_a_pixel_sha"),
    CheckConstraint("width > 0 AND height > 0", name="image_has_an_area"),
    Index("images_of_blob", "blob_sha"),
    comment="Pictures; two files with equal pixels are one",
)
