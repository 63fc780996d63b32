"""pixelmatch's rule, pixel by pixel, as its documentation tells it: slow, and plain to read.

What NumPy computes all at once is held to this, pixel for pixel.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Colour = tuple[int, int, int]


def differing(before: Pixels, after: Pixels, threshold: float) -> NDArray[np.bool_]:
    """Return where two opaque pictures differ."""
    height, width = before.shape[:2]
    found = np.zeros((height, width), dtype=np.bool_)
    for y in range(height):
        for x in range(width):
            if distance(colour(before, x, y), colour(after, x, y)) > 35215 * threshold**2:
                edge = smoothing(before, after, x, y) or smoothing(after, before, x, y)
                found[y, x] = not edge
    return found


def colour(pixels: Pixels, x: int, y: int) -> Colour:
    red, green, blue = (int(part) for part in pixels[y, x, :3])
    return red, green, blue


def brightness(of: Colour) -> float:
    return of[0] * 0.29889531 + of[1] * 0.58662247 + of[2] * 0.11448223


def distance(one: Colour, two: Colour) -> float:
    red, green, blue = (a - b for a, b in zip(one, two, strict=True))
    y = red * 0.29889531 + green * 0.58662247 + blue * 0.11448223
    i = red * 0.59597799 - green * 0.27417610 - blue * 0.32180189
    q = red * 0.21147017 - green * 0.52261711 + blue * 0.31114694
    return 0.5053 * y * y + 0.299 * i * i + 0.1957 * q * q


def around(pixels: Pixels, x: int, y: int) -> Iterator[tuple[int, int]]:
    for column in range(max(0, x - 1), min(pixels.shape[1], x + 2)):
        for row in range(max(0, y - 1), min(pixels.shape[0], y + 2)):
            if (column, row) != (x, y):
                yield column, row


def at_border(pixels: Pixels, x: int, y: int) -> bool:
    return x in (0, pixels.shape[1] - 1) or y in (0, pixels.shape[0] - 1)


def smoothing(pixels: Pixels, other: Pixels, x: int, y: int) -> bool:
    own = brightness(colour(pixels, x, y))
    alike = int(at_border(pixels, x, y))
    least = most = 0.0
    darkest = brightest = (x, y)
    for place in around(pixels, x, y):
        there = colour(pixels, *place)
        # The same sum for the same colour, so that "equal" does not hang on rounding.
        delta = 0.0 if there == colour(pixels, x, y) else own - brightness(there)
        if abs(delta) < 1e-9:
            alike += 1
            if alike > 2:
                return False
        elif delta < least:
            least, darkest = delta, place
        elif delta > most:
            most, brightest = delta, place
    if least == 0 or most == 0:
        return False
    return any(
        in_area(pixels, *place) and in_area(other, *place) for place in (darkest, brightest)
    )


def in_area(pixels: Pixels, x: int, y: int) -> bool:
    own = colour(pixels, x, y)
    alike = sum(colour(pixels, *place) == own for place in around(pixels, x, y))
    return alike + at_border(pixels, x, y) > 2
