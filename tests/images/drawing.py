"""Pictures drawn by code, a few bytes each, for the corpus of the eye."""

import io
import struct
import zlib
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from capture_consumer.images.decode import Picture, decode

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind: bytes, body: bytes, *, checksum: int | None = None) -> bytes:
    """Return a chunk; a checksum that is given is written as it is."""
    proper = zlib.crc32(kind + body)
    return (
        struct.pack(">I", len(body))
        + kind
        + body
        + struct.pack(">I", proper if checksum is None else checksum)
    )


def header(
    width: int, height: int, *, depth: int = 8, colour: int = 2, interlace: int = 0
) -> bytes:
    """Return an IHDR chunk."""
    return chunk(
        b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    )


def png(*chunks: bytes, end: bool = True) -> bytes:
    """Put chunks together to a file."""
    return SIGNATURE + b"".join(chunks) + (chunk(b"IEND", b"") if end else b"")


def rows(*lines: bytes) -> bytes:
    """Return an IDAT chunk of unfiltered rows."""
    return chunk(b"IDAT", zlib.compress(b"".join(b"\0" + line for line in lines)))


def encoded(image: Image.Image, **how: Any) -> bytes:
    """Encode by Pillow."""
    file = io.BytesIO()
    image.save(file, "PNG", **how)
    return file.getvalue()


def picture(image: Image.Image) -> Picture:
    """Encode by Pillow, decode by us."""
    return decode(encoded(image))


def plain(width: int = 40, height: int = 40, colour: str = "white") -> Image.Image:
    """Return a picture of one colour."""
    return Image.new("RGBA", (width, height), colour)


def with_box(image: Image.Image, box: tuple[int, int, int, int], colour: str) -> Image.Image:
    """Return the picture with a box (left, top, right, bottom; all inside) of a colour."""
    drawn = image.copy()
    ImageDraw.Draw(drawn).rectangle(box, fill=colour)
    return drawn


def striped(height: int, *, width: int = 32, first: int = 0) -> Image.Image:
    """Return a picture in which no two rows are equal."""
    numbers = np.arange(first, first + height, dtype=np.uint32)
    pixels = np.full((height, width, 4), 255, dtype=np.uint8)
    for bit in range(16):
        on = (numbers >> np.uint32(bit)) & np.uint32(1) == 0
        pixels[on, bit * 2 : bit * 2 + 2, :3] = 0
    return Image.fromarray(pixels)
