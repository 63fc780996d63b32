"""Rows that moved: which rows were put in, which were taken out, which only moved.

A banner above a table moves every row below it. Rows are matched by content, so that the
difference shows the banner and not the whole page (CAP-32, C-36). This is for showing
alone: it never makes a changed picture unchanged.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from capture_consumer.images.colour import as_words
from capture_consumer.images.decode import Pixels

__all__ = ["Strip", "align"]

MOST_STRIPS: Final = 64
Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Strip:
    """Rows that belong together: `rows` of them, from these rows of the two pictures on."""

    kind: Literal["both", "inserted", "removed"]
    before: int
    after: int
    rows: int


def align(before: Pixels, after: Pixels) -> tuple[Strip, ...]:
    """Return strips, from top to bottom, that together are both pictures.

    Empty when nothing was inserted or removed, or when it would be confetti. The rows of
    a strip `both` belong together but need not be equal.
    """
    if before.shape[1] != after.shape[1]:
        return ()
    height, new_height = len(before), len(after)
    top, bottom = shared_ends(before, after)
    here, there = numbered(before[top : height - bottom], after[top : new_height - bottom])
    pairs = [(row, row) for row in range(top)]
    pairs += [(top + row, top + new) for row, new in filled(anchors(here, there), here, there)]
    pairs += [(height - row, new_height - row) for row in range(bottom, 0, -1)]
    strips = stripped(pairs, height, new_height)
    moved = any(strip.kind != "both" for strip in strips)
    return tuple(strips) if moved and len(strips) <= MOST_STRIPS else ()


def shared_ends(before: Pixels, after: Pixels) -> tuple[int, int]:
    """Return how many rows are equal from the top on, and from the bottom on below them."""

    def run(here: Pixels, there: Pixels) -> int:
        both = min(len(here), len(there))
        differ = np.flatnonzero((as_words(here[:both]) != as_words(there[:both])).any(axis=1))
        return int(differ[0]) if differ.size else both

    top = run(before, after)
    return top, run(before[top:][::-1], after[top:][::-1])


def numbered(before: Pixels, after: Pixels) -> tuple[list[int], list[int]]:
    """Return a number a row; equal rows, of either picture, have equal numbers."""
    seen: dict[bytes, int] = {}

    def numbers(pixels: Pixels) -> list[int]:
        rows = np.ascontiguousarray(pixels)
        return [seen.setdefault(row.tobytes(), len(seen)) for row in rows]

    return numbers(before), numbers(after)


def anchors(here: Sequence[int], there: Sequence[int]) -> list[Pair]:
    """Return pairs of rows that are the only ones of their kind, in an order both share.

    The longest such order, found by patience sorting (Cohen's "patience diff").
    """
    times, new_times = Counter(here), Counter(there)
    places = {row: at for at, row in enumerate(there)}
    pairs = [
        (at, places[row])
        for at, row in enumerate(here)
        if times[row] == 1 and new_times[row] == 1
    ]
    tops: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        pile = bisect_left(tops, place)
        before.append(ends[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [place]
        ends[pile : pile + 1] = [number]
    chain: list[Pair] = []
    at = ends[-1] if ends else -1
    while at >= 0:
        chain.append(pairs[at])
        at = before[at]
    return chain[::-1]


def filled(chain: Sequence[Pair], here: Sequence[int], there: Sequence[int]) -> list[Pair]:
    """Between two anchors match equal rows downwards from the one, upwards from the other."""
    pairs: list[Pair] = []
    last = (-1, -1)
    for end in (*chain, (len(here), len(there))):
        top = last
        while (top[0] + 1 < end[0] and top[1] + 1 < end[1]) and (
            here[top[0] + 1] == there[top[1] + 1]
        ):
            top = (top[0] + 1, top[1] + 1)
            pairs.append(top)
        below: list[Pair] = []
        bottom = end
        while (bottom[0] - 1 > top[0] and bottom[1] - 1 > top[1]) and (
            here[bottom[0] - 1] == there[bottom[1] - 1]
        ):
            bottom = (bottom[0] - 1, bottom[1] - 1)
            below.append(bottom)
        pairs += [*below[::-1], end]
        last = end
    return pairs[:-1]


def stripped(pairs: Sequence[Pair], height: int, new_height: int) -> list[Strip]:
    """Turn matched rows into strips; unmatched ones stay side by side as far as they go."""
    strips: list[Strip] = []
    here = there = 0

    def put(kind: Literal["both", "inserted", "removed"], rows: int) -> None:
        nonlocal here, there
        if rows and strips and strips[-1].kind == kind == "both":
            last = strips.pop()
            strips.append(Strip(kind, last.before, last.after, last.rows + rows))
        elif rows:
            strips.append(Strip(kind, here, there, rows))
        here += rows if kind != "inserted" else 0
        there += rows if kind != "removed" else 0

    for row, new_row in (*pairs, (height, new_height)):
        put("both", min(row - here, new_row - there))
        put("removed", row - here)
        put("inserted", new_row - there)
        put("both", 1 if row < height else 0)
    return strips
