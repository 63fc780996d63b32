"""Which pixels of two pictures differ to the eye: pixelmatch's rule, in NumPy.

Two colours differ when their distance in YIQ is above `35215 * threshold ** 2`, where
35215 is the distance of the two that are farthest apart:

    y =  0.29889531 r + 0.58662247 g + 0.11448223 b        (r, g, b: the differences)
    i =  0.59597799 r - 0.27417610 g - 0.32180189 b
    q =  0.21147017 r - 0.52261711 g + 0.31114694 b
    distance = 0.5053 y^2 + 0.299 i^2 + 0.1957 q^2

(Kotsarenko and Ramos, "Measuring perceived color difference using YIQ NTSC transmission
color space in mobile applications", 2010.) A pixel that differs is forgiven when it is
anti-aliasing in one of the pictures: it has a darker and a brighter neighbour, at most two
as bright as itself, and its darkest or its brightest neighbour lies, in both pictures, in
an area of one colour (Vysniauskas, "Anti-aliased pixel and intensity slope detector",
2009). Numbers and order of the tests are those of https://github.com/mapbox/pixelmatch.
"""

import sys
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from capture_consumer.images.decode import Pixels

__all__ = ["Mask", "differing"]

Mask = NDArray[np.bool_]
Places = NDArray[np.intp]

FARTHEST: Final = 35_215.0
Y: Final = (0.29889531, 0.58662247, 0.11448223)
I: Final = (0.59597799, -0.27417610, -0.32180189)  # noqa: E741
Q: Final = (0.21147017, -0.52261711, 0.31114694)
WEIGHTS: Final = ((Y, 0.5053), (I, 0.299), (Q, 0.1957))
# Whole numbers, so that equal colours are equally bright on every machine.
BRIGHT: Final = (298_895, 586_622, 114_483)
# Neighbours, (right, down), in pixelmatch's order: the first of equally dark ones counts.
AROUND: Final = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
HALF: Final = ((0, 1), (1, 0), (1, 1), (-1, 1))
AT_ONCE: Final = 1 << 15
ROWS_AT_ONCE: Final = 64


def differing(before: Pixels, after: Pixels, *, threshold: float, strict: bool) -> Mask:
    """Return where two pictures of one size differ.

    Where alpha is involved, what differs over white or over black differs (CAP-29).
    `strict` takes every difference, whatever the threshold.
    """
    assert before.shape == after.shape
    unequal: Mask = as_words(before) != as_words(after)
    if strict or not unequal.any():
        return unequal
    if before[..., 3].min() == 255 and after[..., 3].min() == 255:
        return seen(before, after, unequal, threshold)
    found = np.zeros(unequal.shape, dtype=np.bool_)
    for ground in (255, 0):
        here, there = over(before, ground), over(after, ground)
        found |= seen(here, there, as_words(here) != as_words(there), threshold)
    return found


def as_words(pixels: Pixels) -> NDArray[np.uint32]:
    """Return one number a pixel: a picture that is compared as words is compared at once."""
    return np.ascontiguousarray(pixels).view(np.uint32)[..., 0]


def over(pixels: Pixels, ground: int) -> Pixels:
    """Lay a picture on white (255) or black (0)."""
    alpha = pixels[..., 3:].astype(np.uint32)
    laid = pixels[..., :3] * alpha + ground * (255 - alpha)
    opaque = np.full_like(pixels, 255)
    opaque[..., :3] = (laid + 127) // 255
    return opaque


def seen(before: Pixels, after: Pixels, unequal: Mask, threshold: float) -> Mask:
    """Return where two opaque pictures differ: far enough apart and no anti-aliasing.

    Only the part around what differs is looked at, so many rows at once as a processor
    keeps at hand, with two pixels more on each side: a neighbour's neighbours tell whether
    a pixel is anti-aliasing.
    """
    found = np.zeros(unequal.shape, dtype=np.bool_)
    rows = np.flatnonzero(unequal.any(axis=1))
    if not rows.size:
        return found
    columns = np.flatnonzero(unequal[rows[0] : rows[-1] + 1].any(axis=0))
    wide = slice(max(0, int(columns[0]) - 2), int(columns[-1]) + 3)
    for top in range(int(rows[0]), int(rows[-1]) + 1, ROWS_AT_ONCE):
        high = slice(max(0, top - 2), top + ROWS_AT_ONCE + 2)
        if not unequal[high].any():
            continue
        here, there = (np.ascontiguousarray(one[high, wide]) for one in (before, after))
        mask = far(here, there, unequal[high, wide], threshold)
        mask &= ~smoothing(here, there, mask)
        inner = mask[top - high.start :][:ROWS_AT_ONCE]
        found[top : top + len(inner), wide] = inner
    return found


def far(before: Pixels, after: Pixels, unequal: Mask, threshold: float) -> Mask:
    """Return where two colours are farther apart than the threshold."""
    apart = np.zeros(unequal.shape, dtype=np.bool_)
    places = np.flatnonzero(unequal)
    words = as_words(before).reshape(-1), as_words(after).reshape(-1)
    for start in range(0, places.size, AT_ONCE):
        some = places[start : start + AT_ONCE]
        here, there = (channels(one[some], np.float32) for one in words)
        change = [old - new for old, new in zip(here, there, strict=True)]
        distance = np.zeros(some.size, dtype=np.float32)
        for (red, green, blue), weight in WEIGHTS:
            part = np.float32(red) * change[0]
            part += np.float32(green) * change[1]
            part += np.float32(blue) * change[2]
            part *= part
            part *= np.float32(weight)
            distance += part
        apart.reshape(-1)[some] = distance > FARTHEST * threshold * threshold
    return apart


def channels(words: NDArray[np.uint32], kind: type[Any]) -> list[NDArray[Any]]:
    """Return red, green and blue of pixels read as words of this machine."""
    shifts = (0, 8, 16) if sys.byteorder == "little" else (24, 16, 8)
    return [((words >> np.uint32(shift)) & np.uint32(255)).astype(kind) for shift in shifts]


def smoothing(before: Pixels, after: Pixels, candidates: Mask) -> Mask:
    """Return which candidates are anti-aliasing in one of the two pictures.

    A pixel in an area of one colour is none, nor is one that no such area touches: most
    candidates are settled by that, and only the rest are looked at one by one.
    """
    found = np.zeros(candidates.shape, dtype=np.bool_)
    words = as_words(before), as_words(after)
    flat = [many_alike(one) for one in words]
    calm = flat[0] & flat[1]
    near = candidates & touched(calm)
    for word, own_area in zip(words, flat, strict=True):
        places = np.flatnonzero(near & ~own_area & ~found)
        if places.size:
            light = brightness(word)
            for start in range(0, places.size, AT_ONCE):
                some = places[start : start + AT_ONCE]
                found.reshape(-1)[some] = is_edge(light, calm, some)
    return found


def many_alike(words: NDArray[np.uint32]) -> Mask:
    """Return which pixels have three or more neighbours of their colour.

    On the border of a picture two are enough, as in pixelmatch.
    """
    alike = np.zeros(words.shape, dtype=np.int8)
    alike[[0, -1], :] = 1
    alike[:, [0, -1]] = 1
    height, width = words.shape
    for right, down in HALF:
        upper = (slice(0, height - down), slice(max(0, -right), width - max(0, right)))
        lower = (slice(down, height), slice(max(0, right), width + min(0, right)))
        same = words[upper] == words[lower]
        alike[upper] += same
        alike[lower] += same
    many: Mask = alike > 2
    return many


def touched(mask: Mask) -> Mask:
    """Return where a pixel or one of its eight neighbours is set."""
    wide = mask.copy()
    wide[:, 1:] |= mask[:, :-1]
    wide[:, :-1] |= mask[:, 1:]
    high = wide.copy()
    high[1:] |= wide[:-1]
    high[:-1] |= wide[1:]
    return high


def brightness(words: NDArray[np.uint32]) -> NDArray[np.int32]:
    """Return how bright each pixel is, in millionths of a level."""
    red, green, blue = channels(words, np.int32)
    red *= BRIGHT[0]
    green *= BRIGHT[1]
    blue *= BRIGHT[2]
    red += green
    red += blue
    return red


def is_edge(light: NDArray[np.int32], calm: Mask, places: Places) -> Mask:
    """Tell for each place whether it is anti-aliasing in the picture of this brightness.

    `calm` says which pixels lie, in both pictures, in an area of one colour.
    """
    height, width = light.shape
    row, column = np.divmod(places, width)
    bright, area = light.reshape(-1), calm.reshape(-1)
    own = bright[places]
    border = (row == 0) | (row == height - 1) | (column == 0) | (column == width - 1)
    alike = border.astype(np.int8)
    least, most = np.zeros_like(own), np.zeros_like(own)
    darkest, brightest = places.copy(), places.copy()
    for right, down in AROUND:
        # A neighbour that does not exist is replaced by the pixel itself and not counted.
        beside = places + (down * width + right)
        inside = (row + down >= 0) & (row + down < height)
        inside &= (column + right >= 0) & (column + right < width)
        beside = np.where(inside, beside, places)
        delta = own - bright[beside]
        alike += (delta == 0) & inside
        np.copyto(darkest, beside, where=delta < least)
        np.copyto(brightest, beside, where=delta > most)
        np.minimum(least, delta, out=least)
        np.maximum(most, delta, out=most)
    edge: Mask = (alike <= 2) & (least < 0) & (most > 0)
    edge &= area[darkest] | area[brightest]
    return edge
