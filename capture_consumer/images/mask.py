"""The picture of a difference: what changed, in one colour over a faded picture (CAP-34).

Changed pixels are magenta and framed where they lie together, inserted rows stand on
green, removed rows on red; all else is the new picture in pale grey. Colours come from a
palette, which makes the picture small and quick to write.
"""

import io
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from capture_consumer.images.colour import Mask, over
from capture_consumer.images.compare import Box, Comparison
from capture_consumer.images.decode import Picture, Pixels

__all__ = ["draw", "regions"]

GREYS: Final = 64
CHANGED: Final = 252
FRAME: Final = 253
COLOURS: Final = {CHANGED: (219, 0, 116), FRAME: (255, 128, 0)}
# First place in the palette and the colour of paper, for each kind of strip.
TINTS: Final = {
    "both": (0, (255, 255, 255)),
    "inserted": (GREYS, (170, 235, 185)),
    "removed": (2 * GREYS, (250, 185, 180)),
}
# How dark black stays: 0 is as dark as it was, 1 is white.
FADED: Final = 0.72
CELL: Final = 16
MOST_FRAMES: Final = 200
MARGIN: Final = 4


def draw(before: Picture, after: Picture, comparison: Comparison) -> bytes:
    """Return a PNG that shows what changed; pass the comparison of just these two.

    Rows that only one picture has are shown where they belong, so it may be taller than both.
    """
    assert comparison.mask is not None, "nothing differs"
    mask = comparison.mask
    drawn = faded(before.pixels, after.pixels, comparison)
    drawn[mask & ~banded_rows(comparison)[:, np.newaxis]] = CHANGED
    picture = Image.fromarray(drawn)
    picture.putpalette(palette())
    pen = ImageDraw.Draw(picture)
    # Frames are to be found in a picture that is shown at a third of its size, too.
    thick = max(1, min(4, picture.width // 320))
    for x, y, width, height in regions(comparison):
        gap = MARGIN + thick
        corner = (x + width + gap - 1, y + height + gap - 1)
        pen.rectangle((x - gap, y - gap, *corner), outline=FRAME, width=thick)
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=1)
    return file.getvalue()


def regions(comparison: Comparison) -> list[Box]:
    """Return boxes around what changed together, top first; bands are not among them.

    Pixels belong together when their cells of 16 x 16 touch.
    """
    if comparison.mask is None or comparison.box is None:
        return []
    mask = comparison.mask & ~banded_rows(comparison)[:, np.newaxis]
    found: list[Box] = []
    left = set(zip(*(axis.tolist() for axis in np.nonzero(in_cells(mask))), strict=True))
    while left:
        group = touching(left)
        rows, columns = [cell[0] for cell in group], [cell[1] for cell in group]
        top, first = min(rows) * CELL, min(columns) * CELL
        part = mask[top : (max(rows) + 1) * CELL, first : (max(columns) + 1) * CELL]
        down, right = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
        size = (int(right[-1] - right[0]) + 1, int(down[-1] - down[0]) + 1)
        found.append((first + int(right[0]), top + int(down[0]), *size))
        if len(found) > MOST_FRAMES:
            return [comparison.box]
    return sorted(found, key=lambda box: (box[1], box[0]))


def in_cells(mask: Mask) -> Mask:
    """Return which cells of 16 x 16 hold anything."""
    height, width = mask.shape
    filled = np.pad(mask, ((0, -height % CELL), (0, -width % CELL)))
    tiles = filled.reshape(filled.shape[0] // CELL, CELL, filled.shape[1] // CELL, CELL)
    return np.asarray(tiles.any(axis=(1, 3)), dtype=np.bool_)


def touching(cells: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """Take one cell, and all that it reaches over neighbours, out of the set."""
    group = [cells.pop()]
    for row, column in group:
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                beside = (row + down, column + right)
                if beside in cells:
                    cells.remove(beside)
                    group.append(beside)
    return group


def faded(before: Pixels, after: Pixels, comparison: Comparison) -> NDArray[np.uint8]:
    """Return the ground: pale greys, tinted where rows were put in or taken out."""
    mask = comparison.mask
    assert mask is not None
    ground = np.full(mask.shape, GREYS - 1, dtype=np.uint8)
    if not comparison.strips:
        # The old picture shows only where the new one, which lies on it, does not reach.
        for pixels in (after,) if before.shape == after.shape else (before, after):
            ground[: pixels.shape[0], : pixels.shape[1]] = greys(pixels)
        return ground
    at = 0
    for strip in comparison.strips:
        source, start = (after, strip.after)
        if strip.kind == "removed":
            source, start = (before, strip.before)
        first, _ = TINTS[strip.kind]
        ground[at : at + strip.rows] = greys(source[start : start + strip.rows]) + first
        at += strip.rows
    return ground


def greys(pixels: Pixels) -> NDArray[np.uint8]:
    """Return how bright each pixel is over white, in 64 steps."""
    shown = pixels if pixels[..., 3].min() == 255 else over(pixels, 255)
    light = np.asarray(Image.fromarray(shown).convert("L"), dtype=np.uint8)
    return np.right_shift(light, np.uint8(2), dtype=np.uint8)


def banded_rows(comparison: Comparison) -> Mask:
    """Return which rows only one of the pictures has."""
    assert comparison.mask is not None
    rows = np.zeros(comparison.mask.shape[0], dtype=np.bool_)
    for band in comparison.bands:
        rows[band["drawn_at"] : band["drawn_at"] + band["rows"]] = True
    return rows


def palette() -> list[int]:
    """Return the 256 colours that `draw` uses."""
    table = [(0, 0, 0)] * 256
    for first, paper in TINTS.values():
        for step in range(GREYS):
            share = FADED + (1 - FADED) * step / (GREYS - 1)
            table[first + step] = tuple(round(part * share) for part in paper)  # type: ignore[assignment]
    for place, colour in COLOURS.items():
        table[place] = colour
    return [part for colour in table for part in colour]
