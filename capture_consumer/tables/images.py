"""The table `images`: decoded pictures by the hash of their pixels (decision 12)."""

from collections.abc import Collection

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
    select,
)

from capture_consumer.builds.effects import StoredImage
from capture_consumer.builds.facts import ImageFact
from capture_consumer.database.columns import METADATA, BigId, Sha
from capture_consumer.database.slices import sliced
from capture_consumer.database.transaction import Tx
from capture_consumer.database.upsert import insert_or_leave
from capture_consumer.tables.blobs import blobs

__all__ = ["COLUMNS", "by_pixels", "get", "images", "keep"]

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

COLUMNS = [images.c[name] for name in ImageFact.__dataclass_fields__]


def keep(tx: Tx, stored: Collection[StoredImage]) -> None:
    """Insert pictures that are new; their blobs are kept already (R21)."""
    by_pixel_sha = {image.pixel_sha: image for image in stored}
    rows = [
        {
            "pixel_sha": pixel_sha,
            "blob_sha": image.blob_sha,
            "width": image.width,
            "height": image.height,
            "bytes": image.bytes,
        }
        for pixel_sha, image in sorted(by_pixel_sha.items())
    ]
    insert_or_leave(tx, images, rows)


def by_pixels(tx: Tx, pixel_shas: Collection[str]) -> dict[str, ImageFact]:
    """Return pictures by the hash of their pixels; those not known are left out."""
    found: dict[str, ImageFact] = {}
    for some in sliced(pixel_shas):
        rows = tx.execute(select(*COLUMNS).where(images.c.pixel_sha.in_(some)))
        found.update({row.pixel_sha: ImageFact(*row) for row in rows})
    return found


def get(tx: Tx, image_ids: Collection[int]) -> dict[int, ImageFact]:
    """Return pictures by id; those that are gone are left out."""
    found: dict[int, ImageFact] = {}
    for some in sliced(image_ids):
        rows = tx.execute(select(*COLUMNS).where(images.c.id.in_(some)))
        found.update({row.id: ImageFact(*row) for row in rows})
    return found
