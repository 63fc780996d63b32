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

from collections.abc import Iterator
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
AROUND: Final = ((-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1))
AT_ONCE: Final = 1 << 18


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
    """Return where two opaque pictures differ: far enough apart and no anti-aliasing."""
    found = np.zeros(unequal.shape, dtype=np.bool_)
    places = np.flatnonzero(unequal)
    places = places[far(before, after, places, threshold)]
    if places.size:
        flat = found.reshape(-1)
        flat[places] = True
        flat[places[smoothing(before, after, places)]] = False
    return found


def far(before: Pixels, after: Pixels, places: Places, threshold: float) -> Mask:
    """Tell for each place whether its two colours are farther apart than the threshold."""
    here = before.reshape(-1, 4)[places, :3].astype(np.float32)
    change = (here - after.reshape(-1, 4)[places, :3]).T
    distance = np.zeros(places.size, dtype=np.float32)
    for (red, green, blue), weight in WEIGHTS:
        part = np.float32(red) * change[0]
        part += np.float32(green) * change[1]
        part += np.float32(blue) * change[2]
        distance += np.float32(weight) * part * part
    apart: Mask = distance > FARTHEST * threshold * threshold
    return apart


def smoothing(before: Pixels, after: Pixels, places: Places) -> Mask:
    """Tell for each place whether it is anti-aliasing in one of the two pictures."""
    height, width = before.shape[:2]
    top = max(0, int(places[0]) // width - 1)
    bottom = min(height, int(places[-1]) // width + 2)
    words = as_words(before).reshape(-1), as_words(after).reshape(-1)
    lights = brightness(before[top:bottom]), brightness(after[top:bottom])
    forgiven = np.zeros(places.size, dtype=np.bool_)
    for start in range(0, places.size, AT_ONCE):
        some = places[start : start + AT_ONCE]
        answer = forgiven[start : start + AT_ONCE]
        for light in lights:
            left = np.flatnonzero(~answer)
            answer[left] = is_edge(light, top * width, words, some[left], (height, width))
    return forgiven


def brightness(pixels: Pixels) -> NDArray[np.int32]:
    """Return how bright each pixel is, flat, in millionths of a level."""
    red, green, blue = (pixels[..., channel].astype(np.int32) for channel in range(3))
    red *= BRIGHT[0]
    green *= BRIGHT[1]
    blue *= BRIGHT[2]
    red += green
    red += blue
    return red.reshape(-1)


def is_edge(
    light: NDArray[np.int32],
    offset: int,
    words: tuple[NDArray[np.uint32], NDArray[np.uint32]],
    places: Places,
    shape: tuple[int, int],
) -> Mask:
    """Tell for each place whether it is anti-aliasing in the picture of this brightness."""
    own = light[places - offset]
    alike = on_border(places, shape).astype(np.int8)
    least, most = np.zeros_like(own), np.zeros_like(own)
    darkest, brightest = places.copy(), places.copy()
    for beside, inside in neighbours(places, shape):
        delta = own - light[beside - offset]
        alike += (delta == 0) & inside
        np.copyto(darkest, beside, where=delta < least)
        np.copyto(brightest, beside, where=delta > most)
        np.minimum(least, delta, out=least)
        np.maximum(most, delta, out=most)
    edge = (alike <= 2) & (least < 0) & (most > 0)
    left = np.flatnonzero(edge)
    ends = (darkest[left], brightest[left])
    flat = [is_flat(words[0], end, shape) & is_flat(words[1], end, shape) for end in ends]
    edge[left] = flat[0] | flat[1]
    return edge


def is_flat(words: NDArray[np.uint32], places: Places, shape: tuple[int, int]) -> Mask:
    """Tell for each place whether three or more of its neighbours have its colour."""
    own = words[places]
    alike = on_border(places, shape).astype(np.int8)
    for beside, inside in neighbours(places, shape):
        alike += (words[beside] == own) & inside
    flat: Mask = alike > 2
    return flat


def on_border(places: Places, shape: tuple[int, int]) -> Mask:
    """Tell which places lie on the outermost rows and columns."""
    height, width = shape
    row, column = np.divmod(places, width)
    border: Mask = (row == 0) | (row == height - 1) | (column == 0) | (column == width - 1)
    return border


def neighbours(places: Places, shape: tuple[int, int]) -> Iterator[tuple[Places, Any]]:
    """Yield each of the eight neighbours of all places, and which of them exist.

    One that does not is replaced by the place itself, which is as bright as itself.
    """
    height, width = shape
    row, column = np.divmod(places, width)
    whole = not bool(on_border(places, shape).any())
    for right, down in AROUND:
        beside = places + (down * width + right)
        if whole:
            yield beside, True
            continue
        inside = (row + down >= 0) & (row + down < height)
        inside &= (column + right >= 0) & (column + right < width)
        yield np.where(inside, beside, places), inside
