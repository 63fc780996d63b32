"""The eye looks at a tiny pair before a process takes work (CAP-36)."""

import io

import numpy as np
from PIL import Image

from capture_consumer.images import compare, decode, fingerprint, mask

__all__ = ["engine_works"]


def engine_works() -> None:
    """Decode, fingerprint, compare and draw two pictures of which one pixel differs.

    Raises:
        RuntimeError: an answer is wrong; a process that captures or compares exits 78.
        Exception: whatever a library raised that does not work on this machine.
    """
    pixels = np.full((20, 20, 4), 255, dtype=np.uint8)
    white = picture_of(pixels)
    pixels[9, 7, 1:3] = 0
    red = picture_of(pixels)
    if fingerprint.pixel_sha(white) == fingerprint.pixel_sha(red):
        raise RuntimeError("two pictures have one fingerprint")
    found = compare.compare(white, red, compare.Rule())
    if (found.verdict, found.changed_px, found.box) != ("changed", 1, (7, 9, 1, 1)):
        raise RuntimeError(f"one red pixel was seen as {found}")
    if compare.compare(red, picture_of(pixels), compare.Rule()).verdict != "equal":
        raise RuntimeError("a picture differs from itself")
    decode.decode(mask.draw(white, red, found))


def picture_of(pixels: decode.Pixels) -> decode.Picture:
    """Encode by Pillow and decode by us."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return decode.decode(file.getvalue())
