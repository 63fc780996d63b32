"""Content that effects name by its hash: bytes, pictures, comparisons (R21)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["Compared", "KeepContent", "StoredBlob", "StoredImage"]


@dataclass(frozen=True, slots=True)
class StoredBlob:
    """Bytes that are in the store already, by their sha256."""

    sha: str
    bytes: int
    kind: Literal["file", "image", "diff", "mask", "log", "trace", "manifest"]


@dataclass(frozen=True, slots=True)
class StoredImage:
    """A picture whose bytes are in the store already."""

    pixel_sha: str
    blob_sha: str
    width: int
    height: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison made; images are named by the hash of their pixels."""

    from_pixel_sha: str
    to_pixel_sha: str
    params_sha: str
    verdict: Literal["equal", "tolerated", "changed"]
    changed_px: int
    ratio: float
    densest_block: int
    box: tuple[int, int, int, int] | None
    bands: tuple[Mapping[str, Any], ...] = ()
    mask_sha: str | None = None
    diff_sha: str | None = None


@dataclass(frozen=True, slots=True)
class KeepContent:
    """Content rows; written first, sorted by key, "do nothing on conflict" (R21)."""

    blobs: tuple[StoredBlob, ...] = ()
    images: tuple[StoredImage, ...] = ()
    comparisons: tuple[Compared, ...] = ()
