"""The hash of decoded pixels: what makes two pictures one (CAP-28)."""

import hashlib
import struct

import numpy as np

from capture_consumer.images.decode import Picture

__all__ = ["pixel_sha"]


def pixel_sha(picture: Picture) -> str:
    """Return sha256, in hex, of width, height and RGBA pixels row by row.

    Width and height are unsigned and of 4 bytes, the most significant first: without them
    2 x 8 and 4 x 4 pixels of one colour would be one picture.
    """
    size = struct.pack(">II", picture.width, picture.height)
    return hashlib.sha256(size + np.ascontiguousarray(picture.pixels).data).hexdigest()
