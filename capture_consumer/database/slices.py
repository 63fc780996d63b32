"""Long lists of keys, cut so that each database takes one statement's worth."""

from collections.abc import Collection, Iterator
from typing import TypeVar

__all__ = ["sliced"]

Key = TypeVar("Key", int, str)

SLICE = 500


def sliced(keys: Collection[Key], size: int = SLICE) -> Iterator[list[Key]]:
    """Return the keys sorted, each once, in lists of at most `size`.

    A statement may bind 32 766 values on SQLite and 65 535 on PostgreSQL; one with
    thousands is slow to prepare on both.
    """
    once = sorted(set(keys))
    for begin in range(0, len(once), size):
        yield once[begin : begin + size]
