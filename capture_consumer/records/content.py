"""Content rows: blobs, images and comparisons, by the hashes that effects name them with.

They are inserted in this order, sorted by key, "do nothing on conflict" (R21), and
whoever stores a reference to a blob says so in the same transaction (BUILD-100).
"""

from collections.abc import Collection, Iterable
from dataclasses import asdict
from datetime import datetime

from capture_consumer.builds.effects import Compared, KeepContent
from capture_consumer.database.transaction import Tx
from capture_consumer.tables import blobs, comparisons, images

__all__ = ["comparison_ids", "image_ids", "keep"]

Named = tuple[str, str, str]
"""(from pixel sha, to pixel sha, params sha) of a comparison."""


def keep(tx: Tx, contents: Iterable[KeepContent], *, now: datetime) -> None:
    """Insert what is new of all these together, so that one order holds for all."""
    all_of_them = list(contents)
    blobs.keep(tx, [blob for one in all_of_them for blob in one.blobs], now=now)
    images.keep(tx, [image for one in all_of_them for image in one.images])
    keep_comparisons(tx, [made for one in all_of_them for made in one.comparisons], now=now)


def keep_comparisons(tx: Tx, made: list[Compared], *, now: datetime) -> None:
    """Insert comparisons, their images found by the hash of their pixels."""
    if not made:
        return
    shas = {sha for one in made for sha in (one.from_pixel_sha, one.to_pixel_sha)}
    ids = image_ids(tx, shas, now=now)
    pictures = {sha for one in made for sha in (one.mask_sha, one.diff_sha) if sha}
    blobs.touch(tx, pictures, now=now)
    rows = []
    for one in made:
        row = asdict(one) | {"bands": list(one.bands)}
        row["box"] = list(one.box) if one.box else None
        row["from_image"] = ids[row.pop("from_pixel_sha")]
        row["to_image"] = ids[row.pop("to_pixel_sha")]
        rows.append(row)
    comparisons.keep(tx, rows)


def image_ids(tx: Tx, pixel_shas: Collection[str], *, now: datetime) -> dict[str, int]:
    """Return the ids of pictures that are about to be referred to.

    Raises:
        AssertionError: one was never kept; a `KeepContent` is missing.
    """
    found = images.by_pixels(tx, pixel_shas)
    unknown = sorted(set(pixel_shas) - set(found))
    assert not unknown, f"never kept: {', '.join(unknown[:3])}"
    blobs.touch(tx, {image.blob_sha for image in found.values()}, now=now)
    return {sha: image.id for sha, image in found.items()}


def comparison_ids(tx: Tx, named: Collection[Named], *, now: datetime) -> dict[Named, int]:
    """Return the ids of comparisons, by the hashes that name them."""
    shas = {sha for one in named for sha in one[:2]}
    ids = image_ids(tx, shas, now=now)
    found: dict[Named, int] = {}
    for params_sha in sorted({one[2] for one in named}):
        pairs = {(ids[one[0]], ids[one[1]]): one for one in named if one[2] == params_sha}
        for pair, fact in comparisons.among(tx, pairs, params_sha).items():
            found[pairs[pair]] = fact.id
    return found
