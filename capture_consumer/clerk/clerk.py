"""What runs beside what: the books on the main thread, each light queue on its own.

A slow loop delays nobody else (SUP-84). At a drain the loops claim nothing more while
the books go on until the supervisor says that all is written (SUP-87).
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from capture_consumer.clerk.books import Books
from capture_consumer.errors import DatabaseAway

__all__ = ["Clerk", "Loop"]

MOST_AT_ONCE = 20
LEAVE_S = 5.0

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Loop:
    """Something done again and again: `do` returns True while more of it is waiting."""

    name: str
    every_s: float
    do: Callable[[], bool]


class Clerk:
    """Runs the books and the loops until it is told to leave."""

    def __init__(self, books: Books, loops: Sequence[Loop]) -> None:
        self.books = books
        self.loops = loops

    def run(self) -> None:
        """Work until the books are told to close; loops end at the drain before that."""
        threads = [
            threading.Thread(target=self.go_round, args=(loop,), name=loop.name, daemon=True)
            for loop in self.loops
        ]
        for thread in threads:
            thread.start()
        self.books.run()
        self.books.draining.set()
        for thread in threads:
            thread.join(LEAVE_S)

    def go_round(self, loop: Loop) -> None:
        """Do one loop's work at its pace, at once for the first time (LIFE-19).

        An error ends a round, never the loop (LIFE-18).
        """
        while not self.books.draining.is_set():
            for _ in range(MOST_AT_ONCE):
                if not once(loop) or self.books.draining.is_set():
                    break
            self.books.draining.wait(loop.every_s)


def once(loop: Loop) -> bool:
    """Do it once; False when there was nothing more, or it failed and has to wait."""
    try:
        return loop.do()
    except DatabaseAway as error:
        log.warning("clerk.database_away", loop=loop.name, error=str(error))
    except Exception:
        log.exception("clerk.loop_failed", loop=loop.name)
    return False
