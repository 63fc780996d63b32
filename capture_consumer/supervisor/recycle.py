"""Whose time is over: one after the other leaves and is replaced (pure; SUP-51, SUP-52)."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

__all__ = ["Age", "Recycler"]


@dataclass(frozen=True, slots=True)
class Age:
    """How much of its life one child has had."""

    pid: int
    ready: bool
    lived_s: float = 0.0
    jobs_done: int = 0


class Recycler:
    """A queue of slots, of which one at a time is being renewed."""

    def __init__(self, *, jobs: int, life_s: float, draw: Callable[[], float]) -> None:
        self.jobs = jobs
        self.life_s = life_s
        self.draw = draw
        self.queue: deque[int] = deque()
        self.current: tuple[int, int] | None = None
        self.shares: dict[int, float] = {}

    def ask(self, slots: Iterable[int]) -> None:
        """Have these renewed when their turn comes."""
        self.queue.extend(slot for slot in slots if slot not in self.queue)

    def look(self, ages: Mapping[int, Age]) -> int | None:
        """Return the slot to be told now; None when it is nobody's turn."""
        self.ask(slot for slot, age in ages.items() if slot >= 0 and self.is_old(age))
        if self.current is not None:
            slot, pid = self.current
            age = ages.get(slot)
            if age is None or age.pid == pid or not age.ready:
                return None
            self.current = None
        while self.queue:
            slot = self.queue.popleft()
            if slot in ages:
                self.current = (slot, ages[slot].pid)
                return slot
        return None

    def is_old(self, age: Age) -> bool:
        """Return whether a child has had its share, each a little more or less."""
        if self.current is not None and self.current[1] == age.pid:
            return False
        share = self.shares.setdefault(age.pid, 0.9 + self.draw() / 5)
        return age.jobs_done >= self.jobs * share or age.lived_s >= self.life_s * share

    def forget(self, pids: set[int]) -> None:
        """Keep the shares of the living only."""
        self.shares = {pid: share for pid, share in self.shares.items() if pid in pids}
