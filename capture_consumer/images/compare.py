"""Two pictures to one comparison: equal, tolerated or changed, and by how much.

Read `compare` first. `rule` holds the dials, `colour` says which pixels differ, `align`
finds rows that moved. A comparison depends on nothing but its three arguments, so it may
be kept under the two pictures' hashes and the rule's.
"""

from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypedDict

import numpy as np

from capture_consumer.images.align import Strip, align
from capture_consumer.images.colour import Mask, as_words, differing
from capture_consumer.images.decode import Picture, Pixels
from capture_consumer.images.rule import Rule

__all__ = ["Band", "Box", "Comparison", "Rule", "compare"]

Box = tuple[int, int, int, int]
BLOCK: Final = 16
# From which share of rows that differ on it is worth looking for rows that moved (CAP-32).
# Rows and not pixels: a page of text that moved by 40 rows differs in a fifth of its pixels.
STRICT: Final = Rule(strict=True)
MUCH: Final = 0.3


class Band(TypedDict):
    """Rows that only one picture has: where they begin in it, and in the difference picture."""

    kind: Literal["inserted", "removed"]
    at: int
    drawn_at: int
    rows: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """How two pictures differ.

    `verdict` is `equal` when no pixel differs at all, `tolerated` when the rule allows what
    differs. `ratio` is the share of the picture, `densest_block` the most that differ in any
    16 x 16 pixels, `box` is (x, y, width, height) around all that differ. `box`, `mask` and
    a band's `drawn_at` are places in the difference picture, which has room for the rows of
    both; without bands that is the union of the two sizes.
    """

    verdict: Literal["equal", "tolerated", "changed"]
    changed_px: int = 0
    ratio: float = 0.0
    densest_block: int = 0
    box: Box | None = None
    bands: tuple[Band, ...] = ()
    mask: Mask | None = field(default=None, repr=False, compare=False)
    strips: tuple[Strip, ...] = field(default=(), repr=False)


def compare(before: Picture, after: Picture, rule: Rule) -> Comparison:
    """Compare what was with what is, by the rule (CAP-29 to CAP-32)."""
    here, there = before.pixels, after.pixels
    if here.shape != there.shape:
        touched = touched_rows(padded(here, there, STRICT))
        aligned = moved(here, there, rule, touched)
        return as_changed(aligned or measured(padded(here, there, rule), ()))
    if np.array_equal(as_words(here), as_words(there)):
        return Comparison("equal")
    mask = padded(here, there, rule)
    plain, touched = measured(mask, ()), touched_rows(mask)
    if rule.allows(
        changed_px=plain.changed_px, ratio=plain.ratio, densest_block=plain.densest_block
    ):
        return plain
    aligned = moved(here, there, rule, touched) if touched > MUCH * here.shape[0] else None
    return as_changed(aligned or plain)


def padded(before: Pixels, after: Pixels, rule: Rule) -> Mask:
    """Return where two pictures differ, on the union of their sizes.

    What only one of them covers differs; a `difference` that cuts to the smaller size
    would call a picture that grew equal.
    """
    height, width = (min(before.shape[axis], after.shape[axis]) for axis in (0, 1))
    both = differing(
        before[:height, :width],
        after[:height, :width],
        threshold=rule.threshold,
        strict=rule.strict,
    )
    if before.shape == after.shape:
        return both
    union = [max(before.shape[axis], after.shape[axis]) for axis in (0, 1)]
    mask = np.ones(union, dtype=np.bool_)
    mask[:height, :width] = both
    return mask


def moved(before: Pixels, after: Pixels, rule: Rule, touched: int) -> Comparison | None:
    """Compare again with moved rows side by side; None unless fewer rows differ so."""
    strips = align(before, after)
    if not strips:
        return None
    parts: list[Any] = []
    for strip in strips:
        if strip.kind == "both":
            here = before[strip.before : strip.before + strip.rows]
            there = after[strip.after : strip.after + strip.rows]
            parts.append(padded(here, there, rule))
        else:
            parts.append(np.ones((strip.rows, before.shape[1]), dtype=np.bool_))
    mask = np.concatenate(parts)
    return measured(mask, strips) if touched_rows(mask) < touched else None


def touched_rows(mask: Mask) -> int:
    """Return how many rows hold anything that differs."""
    return int(np.count_nonzero(mask.any(axis=1)))


def measured(mask: Mask, strips: tuple[Strip, ...]) -> Comparison:
    """Count what a mask holds, as `tolerated` until somebody decides."""
    rows = np.flatnonzero(mask.any(axis=1))
    if not rows.size:
        return Comparison("tolerated", mask=mask, strips=strips)
    top, height = int(rows[0]), int(rows[-1] - rows[0]) + 1
    columns = np.flatnonzero(mask[top : top + height].any(axis=0))
    left, width = int(columns[0]), int(columns[-1] - columns[0]) + 1
    changed_px = int(np.count_nonzero(mask[top : top + height]))
    return Comparison(
        verdict="tolerated",
        changed_px=changed_px,
        ratio=changed_px / mask.size,
        densest_block=densest(mask[top : top + height, left : left + width]),
        box=(left, top, width, height),
        bands=banded(strips),
        mask=mask,
        strips=strips,
    )


def as_changed(found: Comparison) -> Comparison:
    """Return the same with the verdict `changed`."""
    return Comparison(
        "changed",
        found.changed_px,
        found.ratio,
        found.densest_block,
        found.box,
        found.bands,
        found.mask,
        found.strips,
    )


def densest(mask: Mask) -> int:
    """Return the most pixels that differ in any square of 16 x 16, wherever it lies."""
    height, width = mask.shape
    whole = mask[: height // BLOCK * BLOCK, : width // BLOCK * BLOCK]
    tiles = whole.reshape(height // BLOCK, BLOCK, width // BLOCK, BLOCK)
    if tiles.size and tiles.all(axis=(1, 3)).any():
        return BLOCK * BLOCK
    sums = mask.astype(np.int32)
    for axis in (0, 1):
        size = sums.shape[axis]
        sums = np.cumsum(sums, axis=axis, dtype=np.int32)
        if size > BLOCK:
            ends = np.take(sums, range(BLOCK - 1, size), axis=axis)
            ends[(slice(None),) * axis + (slice(1, None),)] -= np.take(
                sums, range(size - BLOCK), axis=axis
            )
            sums = ends
    return int(sums.max())


def banded(strips: tuple[Strip, ...]) -> tuple[Band, ...]:
    """Return the strips that only one picture has."""
    bands: list[Band] = []
    drawn = 0
    for strip in strips:
        if strip.kind != "both":
            at = strip.after if strip.kind == "inserted" else strip.before
            bands.append(Band(kind=strip.kind, at=at, drawn_at=drawn, rows=strip.rows))
        drawn += strip.rows
    return tuple(bands)
