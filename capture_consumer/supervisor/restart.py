"""When a slot may start again, and when nobody should try any more (pure; SUP-48, SUP-49)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

__all__ = ["EXIT_CONFIGURATION", "Lived", "Restarts"]

EXIT_CONFIGURATION = 78
LONG_LIFE_S = 60.0
BLAMED_S = 0.5
LONGEST_S = 60.0
TRIES_BEFORE_READY = 5
DOUBLINGS_MAX = 7
PERIOD_S = 60.0


@dataclass(frozen=True, slots=True)
class Lived:
    """What counts of a life that has ended. `blamed`: its death is a job's to answer for."""

    lived_s: float
    was_ready: bool
    jobs_done: int = 0
    blamed: bool = False
    as_asked: bool = False
    exit_code: int | None = None


@dataclass(slots=True)
class Slot:
    """One slot's record."""

    fails: int = 0
    due_at: float = 0.0
    fails_before_ready: int = 0
    misconfigured: bool = False
    ever_ready: bool = False


class Restarts:
    """The record of all slots, and one bucket of starts that bounds them together."""

    def __init__(self, *, starts_a_minute: int, now: float, draw: Callable[[], float]) -> None:
        self.draw = draw
        self.slots: dict[int, Slot] = {}
        self.size = float(starts_a_minute)
        self.tokens = self.size
        self.filled_at = now

    def slot(self, number: int) -> Slot:
        """Return the record of one slot."""
        return self.slots.setdefault(number, Slot())

    def ready(self, number: int) -> None:
        """Note that a child came up."""
        self.slots[number] = replace(
            self.slot(number), fails_before_ready=0, misconfigured=False, ever_ready=True
        )

    def died(self, number: int, lived: Lived, now: float) -> float:
        """Note a death; return how many seconds the slot waits."""
        slot = self.slot(number)
        if not lived.was_ready:
            slot.fails_before_ready += 1
            slot.misconfigured = lived.exit_code == EXIT_CONFIGURATION
        wait_s = self.wait_of(slot, lived)
        slot.due_at = now + wait_s
        return wait_s

    def wait_of(self, slot: Slot, lived: Lived) -> float:
        """Return the wait that a death earns; count it where it is the slot's own."""
        well = lived.lived_s >= LONG_LIFE_S or lived.jobs_done or lived.as_asked
        if lived.was_ready and well:
            slot.fails = 0
            return 0.0
        if lived.blamed:
            return BLAMED_S  # The job is punished, not the slot.
        slot.fails += 1
        longest = min(LONGEST_S, 2.0 ** min(slot.fails - 1, DOUBLINGS_MAX))
        return longest * (0.5 + self.draw() / 2)

    def due_at(self, number: int) -> float:
        """Return the instant from which the slot may start."""
        return self.slot(number).due_at

    def take(self, now: float) -> bool:
        """Take one start out of the bucket; False when it is empty."""
        self.tokens = min(
            self.size, self.tokens + (now - self.filled_at) * self.size / PERIOD_S
        )
        self.filled_at = now
        if self.tokens < 1:
            return False
        self.tokens -= 1
        return True

    def failed_early(self, number: int) -> bool:
        """Return whether a slot has failed and was never up: nobody waits for it."""
        return self.slot(number).fails_before_ready > 0

    def hopeless(self, numbers: Iterable[int]) -> bool:
        """Return whether none of these ever came up and each has had its tries."""
        records = [self.slot(number) for number in numbers]
        if not records or any(slot.ever_ready for slot in records):
            return False
        return all(
            slot.misconfigured or slot.fails_before_ready >= TRIES_BEFORE_READY
            for slot in records
        )

    def any_ready(self, numbers: Iterable[int]) -> bool:
        """Return whether one of these ever came up."""
        return any(self.slot(number).ever_ready for number in numbers)

    def rest(self, numbers: Iterable[int], now: float) -> None:
        """Let all slots wait the longest, then try afresh: under a web server (SUP-49)."""
        for number in numbers:
            self.slots[number] = Slot(due_at=now + LONGEST_S)
