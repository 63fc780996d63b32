"""Bytes to pixels, guarded: our own checks first, then Pillow.

Every picture becomes 8 bits of red, green, blue and alpha, whatever it was stored as, so
that two files of one picture are one picture (CAP-27, C-32).
"""

import io
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
    with Image.open(io.BytesIO(files.rewrite(checked)), formats=("PNG",)) as opened:
        opened.load()
        if header.colour == 3:
            return from_palette(np.asarray(opened), checked)
        if header.colour == 0:
            return from_grey(opened, header.depth, key)
        pixels = np.array(opened if opened.mode == "RGBA" else opened.convert("RGBA"))
    if header.colour == 2 and key is not None:
        if header.depth == 16:
            raise InvalidImage("a transparent colour of 16 bits is not supported")
        named = np.frombuffer(key[:6], dtype=">u2").astype(np.uint8)
        pixels[(pixels[..., :3] == named).all(axis=2)] = 0
    elif header.colour in (4, 6):
        hide(pixels)
    return pixels


def from_palette(indices: NDArray[Any], checked: files.Png) -> Pixels:
    """Look every pixel up; an index past the palette's end is black, as in browsers."""
    table = np.zeros((256, 4), dtype=np.uint8)
    table[:, 3] = OPAQUE
    colours = np.frombuffer(checked.palette, dtype=np.uint8)
    colours = colours[: len(colours) // 3 * 3].reshape(-1, 3)[:256]
    table[: len(colours), :3] = colours
    alphas = np.frombuffer((checked.transparency or b"")[: len(colours)], dtype=np.uint8)
    table[: len(alphas), 3] = alphas
    hide(table)
    pixels: Pixels = table[indices]
    return pixels


def from_grey(opened: Image.Image, depth: int, key: bytes | None) -> Pixels:
    """Spread grey over three channels; the one transparent grey becomes nothing."""
    stored = np.asarray(opened)
    scale = 255 // ((1 << depth) - 1) if depth < 8 else 1
    shown = (stored >> 8 if depth == 16 else stored * scale if depth == 1 else stored).astype(
        np.uint8
    )
    pixels = np.empty((*shown.shape, 4), dtype=np.uint8)
    pixels[..., :3] = shown[..., np.newaxis]
    pixels[..., 3] = OPAQUE
    if key is not None:
        named = int.from_bytes(key[:2], "big")
        pixels[(stored == named) if depth == 16 else (shown == named * scale)] = 0
    return pixels


def hide(pixels: Pixels) -> None:
    """Zero what alpha hides, so that colours nobody sees make no difference."""
    if not pixels[..., 3].all():
        pixels[pixels[..., 3] == 0] = 0
