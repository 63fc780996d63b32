"""A thread that acts when a step does not end in time.

The camera's own thread waits inside Playwright, which waits for a page that may
never answer (`while (true)`). So another thread keeps the time, and what it does
is done to processes by pid, never to Playwright's objects (R32).
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["Measure", "Watchdog"]


@dataclass(frozen=True, slots=True)
class Measure:
    """What is done when the time is over, and how long after it."""

    after_s: float
    act: Callable[[], None]


class Watchdog:
    """Watches one step at a time. The measures are taken in their order while it lasts."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        self._measures = tuple(measures)
        self._changed = threading.Condition()
        self._deadline: float | None = None
        self._taken = 0
        self._step = ""
        self._late: str | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._watch, name="watchdog", daemon=True)
        self._thread.start()

    @property
    def late(self) -> str | None:
        """Return the step that was cut short, or None, since the last `begin`."""
        return self._late

    @property
    def step(self) -> str:
        """Return the step that was begun last."""
        return self._step

    def begin(self) -> None:
        """Forget what was late before."""
        with self._changed:
            self._late = None

    def expect(self, step: str, within_s: float) -> None:
        """Watch over a step from now on; it takes the place of the one before."""
        with self._changed:
            if self._late is None:
                self._step, self._taken = step, 0
                self._deadline = time.monotonic() + within_s
                self._changed.notify()

    def relax(self) -> None:
        """Watch over nothing."""
        with self._changed:
            self._deadline, self._taken = None, 0

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _watch(self) -> None:
        while (act := self._next()) is not None:
            act()

    def _next(self) -> Callable[[], None] | None:
        """Wait for the next measure that is due; None at the end."""
        with self._changed:
            while not self._closed:
                due = self._due()
                left = None if due is None else due - time.monotonic()
                if left is not None and left <= 0:
                    self._late = self._late or self._step
                    self._taken += 1
                    return self._measures[self._taken - 1].act
                self._changed.wait(left)
        return None

    def _due(self) -> float | None:
        if self._deadline is None or self._taken >= len(self._measures):
            return None
        return self._deadline + self._measures[self._taken].after_s
