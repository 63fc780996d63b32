"""Shoot until it is at rest: a picture counts when the next one is equal (BUILD-45).

Where the page says that nothing goes on by itself, the second picture is taken at
once; else, and after any difference, a tenth of a second lies between two.
"""

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Still", "shoot_until_still"]

SHOTS_MAX = 5
PAUSE_MS = 100


@dataclass(frozen=True, slots=True)
class Still:
    """The picture taken last, whether it is at rest, and how many were taken."""

    png: bytes
    at_rest: bool
    shots: int


def shoot_until_still(
    shoot: Callable[[], bytes],
    wait: Callable[[int], None],
    *,
    restless: bool,
    known: Callable[[bytes], bool] | None,
) -> Still:
    """Return the picture once two in a row are equal, or the last of five.

    Args:
        shoot: takes a picture.
        wait: lets the page go on, in milliseconds.
        restless: the page says that something goes on by itself.
        known: tells whether a picture is the one that is expected; it needs no second.
    """
    last = shoot()
    if known is not None and known(last):
        return Still(last, at_rest=True, shots=1)
    for count in range(2, SHOTS_MAX + 1):
        if restless or count > 2:  # noqa: PLR2004 - the second one
            wait(PAUSE_MS)
        png = shoot()
        if png == last:
            return Still(png, at_rest=True, shots=count)
        last = png
    return Still(last, at_rest=False, shots=SHOTS_MAX)
