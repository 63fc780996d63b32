"""The phases of a build and the table of allowed moves (builds.md, section 3).

A phase says what the machine does and only moves forward (BUILD-15). Whoever
moves one does so by compare-and-set; this table says which moves exist.
"""

from collections.abc import Collection
from typing import NamedTuple

from capture_consumer.builds.facts import Phase

__all__ = ["ENDS", "MOVES", "OPEN", "Move", "allowed", "hooks_of", "sources_of"]


class Move(NamedTuple):
    """One line of the table. `frm` is None where the move makes the build."""

    number: int
    frm: Phase | None
    to: Phase


OPEN: tuple[Phase, ...] = ("receiving", "pending", "planning", "capturing", "reducing")
ENDS: tuple[Phase, ...] = ("finished", "failed", "cancelled", "superseded", "expired")

MOVES: tuple[Move, ...] = (
    Move(1, None, "receiving"),
    Move(2, "receiving", "pending"),
    Move(3, "receiving", "expired"),
    Move(4, None, "finished"),
    Move(5, "pending", "planning"),
    Move(6, "planning", "capturing"),
    Move(7, "planning", "reducing"),
    Move(8, "planning", "failed"),
    Move(9, "capturing", "reducing"),
    Move(10, "reducing", "finished"),
    *(Move(11, frm, "failed") for frm in ("pending", "planning", "reducing")),
    *(Move(12, frm, "failed") for frm in ("pending", "planning", "reducing")),
    *(Move(13, frm, "cancelled") for frm in OPEN),
    *(Move(14, frm, "superseded") for frm in OPEN),
    Move(15, "finished", "finished"),
    *(Move(16, end, end) for end in ENDS),
)
"""T15 changes verdict or manifest, T16 `superseded_by`: both leave the phase as it is."""

PAIRS = frozenset((move.frm, move.to) for move in MOVES)
HOOKS: dict[Phase, tuple[str, ...]] = {
    "pending": ("supersede_older",),
    "failed": ("cancel_jobs",),
    "cancelled": ("cancel_jobs",),
    "superseded": ("cancel_jobs",),
    "expired": ("cancel_jobs",),
}


def allowed(frm: Phase | None, to: Phase) -> bool:
    """Tell whether the table has this move (BUILD-14)."""
    return (frm, to) in PAIRS


def sources_of(to: Phase) -> Collection[Phase]:
    """Return the phases from which a build may come to this other one."""
    return tuple(phase for phase in OPEN if (phase, to) in PAIRS)


def hooks_of(to: Phase) -> tuple[str, ...]:
    """Return the lifecycle hooks whose rows a move to this phase writes (BUILD-17, R37)."""
    return HOOKS.get(to, ())
