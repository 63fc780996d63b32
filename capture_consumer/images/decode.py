"""Bytes to pixels, guarded: our own checks first, then Pillow.

Every picture becomes 8 bits of red, green, blue and alpha, whatever it was stored as, so
that two files of one picture are one picture (CAP-27, C-32).
"""

import zlib
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from capture_consumer.errors import InvalidImage
from capture_consumer.images import png as files

__all__ = ["LIMITS", "Picture", "Pixels", "decode"]

Pixels = NDArray[np.uint8]

LIMITS: Final = files.Limits()
# Colour type and depth: Pillow's mode and what it calls the way the rows are stored.
MODES: Final = {
    (0, 1): ("1", "1"),
    (0, 2): ("L", "L;2"),
    (0, 4): ("L", "L;4"),
    (0, 8): ("L", "L"),
    (0, 16): ("I;16", "I;16B"),
    (2, 8): ("RGB", "RGB"),
    (2, 16): ("RGB", "RGB;16B"),
    (3, 1): ("P", "P;1"),
    (3, 2): ("P", "P;2"),
    (3, 4): ("P", "P;4"),
    (3, 8): ("P", "P"),
    (4, 8): ("LA", "LA"),
    (4, 16): ("RGBA", "LA;16B"),
    (6, 8): ("RGBA", "RGBA"),
    (6, 16): ("RGBA", "RGBA;16B"),
}
OPAQUE: Final = np.uint8(255)


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """Decoded pixels: height x width x 4, red, green, blue and alpha of 8 bits each.

    Pixels of alpha 0 are all zero: nobody can see their colour. `notes` are remarks for a
    person, such as a colour profile that was not applied. The pixels are not to be written.
    """

    pixels: Pixels
    notes: tuple[str, ...] = field(default=())

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        """Return the number of rows."""
        return int(self.pixels.shape[0])


def decode(data: bytes, *, limits: files.Limits = LIMITS) -> Picture:
    """Return the pixels of a PNG.

    16 bits a channel are cut to the upper 8 (Pillow would turn most greys white, C-29).
    Gamma and profiles change nothing; a profile that is not sRGB is noted.

    Raises:
        InvalidImage: the bytes are not a picture that we accept, whatever went wrong.
    """
    checked = files.read(data, limits)
    try:
        pixels = to_rgba(checked)
    except InvalidImage:
        raise
    except Exception as error:
        raise InvalidImage(f"it cannot be decoded: {type(error).__name__}: {error}") from error
    pixels.flags.writeable = False
    foreign = checked.profile is not None and "srgb" not in checked.profile.lower()
    notes = (f"colour profile '{checked.profile}' is not applied",) if foreign else ()
    return Picture(pixels, notes)


def to_rgba(checked: files.Png) -> Pixels:
    """Decode rows that are known to be whole."""
    header, key = checked.header, checked.transparency
    image = unfiltered(checked)
    if header.colour == 3:
        return from_palette(np.asarray(image), checked)
    if header.colour == 0:
        return from_grey(np.asarray(image), header.depth, key)
    if image.mode == "LA":
        image = image.convert("RGBA")
    # Pillow keeps four bytes a pixel for RGB too, the last of them 255.
    packed = image.tobytes("raw", "RGBX" if image.mode == "RGB" else "RGBA")
    pixels = np.frombuffer(packed, dtype=np.uint8).reshape(header.height, header.width, 4)
    if header.colour == 2 and key is not None:
        if header.depth == 16:
            raise InvalidImage("a transparent colour of 16 bits is not supported")
        named = np.frombuffer(key[:6], dtype=">u2").astype(np.uint8)
        return without(pixels, (pixels[..., :3] == named).all(axis=2))
    return hidden(pixels)


def unfiltered(checked: files.Png) -> Image.Image:
    """Let Pillow undo filters and interlacing.

    It takes rows only as a packed stream, and stored bytes are the quickest to unpack: so
    they are inflated once, by us. Transparency is ours to apply, all else changes no pixel.
    """
    header = checked.header
    mode, stored = MODES[header.colour, header.depth]
    size = (header.width, header.height)
    stream = zlib.compress(checked.rows, 0)
    return Image.frombytes(mode, size, stream, "zip", stored, int(header.interlaced))


def from_palette(indices: NDArray[Any], checked: files.Png) -> Pixels:
    """Look every pixel up; an index past the palette's end is black, as in browsers."""
    table = np.zeros((256, 4), dtype=np.uint8)
    table[:, 3] = OPAQUE
    colours = np.frombuffer(checked.palette, dtype=np.uint8)
    colours = colours[: len(colours) // 3 * 3].reshape(-1, 3)[:256]
    table[: len(colours), :3] = colours
    alphas = np.frombuffer((checked.transparency or b"")[: len(colours)], dtype=np.uint8)
    table[: len(alphas), 3] = alphas
    pixels: Pixels = hidden(table)[indices]
    return pixels


def from_grey(stored: NDArray[Any], depth: int, key: bytes | None) -> Pixels:
    """Spread grey over three channels; the one transparent grey becomes nothing."""
    scale = 255 // ((1 << depth) - 1) if depth < 8 else 1
    shown = (stored >> 8 if depth == 16 else stored * scale if depth == 1 else stored).astype(
        np.uint8
    )
    pixels = np.empty((*shown.shape, 4), dtype=np.uint8)
    pixels[..., :3] = shown[..., np.newaxis]
    pixels[..., 3] = OPAQUE
    if key is not None:
        named = int.from_bytes(key[:2], "big")
        return without(pixels, stored == named if depth == 16 else shown == named * scale)
    return pixels


def hidden(pixels: Pixels) -> Pixels:
    """Zero what alpha hides, so that colours nobody sees make no difference."""
    alpha = pixels[..., 3]
    return pixels if alpha.all() else without(pixels, alpha == 0)


def without(pixels: Pixels, gone: NDArray[np.bool_]) -> Pixels:
    """Return the pixels with some of them zeroed."""
    left = pixels.copy()
    left[gone] = 0
    return left
