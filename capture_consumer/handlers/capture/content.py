"""Content that is in the store already, on its way to its rows (R21).

Bytes are put first and named by rows afterwards: a process that dies in between
leaves rubbish for the collector and no row without a file.
"""

from dataclasses import dataclass, field
from typing import Literal

from capture_consumer.builds.effects import (
    Compared,
    Effects,
    KeepContent,
    StoredBlob,
    StoredImage,
)
from capture_consumer.handlers.capture.tools import Blobs
from capture_consumer.images.decode import Picture

__all__ = ["Content"]


@dataclass(slots=True)
class Content:
    """What was put since the last save; each piece once."""

    store: Blobs
    blobs: dict[str, StoredBlob] = field(default_factory=dict)
    images: dict[str, StoredImage] = field(default_factory=dict)
    comparisons: dict[tuple[str, str, str], Compared] = field(default_factory=dict)

    def put(self, data: bytes, kind: Literal["image", "diff", "log", "manifest"]) -> str:
        """Store bytes, note their row, return their hash."""
        sha = self.store.put(data)
        self.blobs[sha] = StoredBlob(sha, len(data), kind)
        return sha

    def put_image(self, png: bytes, pixel_sha: str, picture: Picture) -> None:
        """Store a picture unless it was since the last save, and note its rows."""
        if pixel_sha in self.images:
            return
        sha = self.put(png, "image")
        self.images[pixel_sha] = StoredImage(
            pixel_sha, sha, picture.width, picture.height, len(png)
        )

    def note(self, compared: Compared) -> None:
        """Note the row of a comparison."""
        pair = (compared.from_pixel_sha, compared.to_pixel_sha, compared.params_sha)
        self.comparisons[pair] = compared

    def hand_over(self) -> Effects:
        """Return all of it as effects, and forget it."""
        if not (self.blobs or self.images or self.comparisons):
            return ()
        kept = KeepContent(
            tuple(self.blobs.values()),
            tuple(self.images.values()),
            tuple(self.comparisons.values()),
        )
        self.blobs, self.images, self.comparisons = {}, {}, {}
        return (kept,)
