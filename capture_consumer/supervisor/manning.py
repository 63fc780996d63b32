"""Wanted slots against living ones, by level: who is missing is started (SUP-13, SUP-49)."""

from capture_consumer.ipc import messages as say
from capture_consumer.ipc.channel import CLERK_SLOT
from capture_consumer.supervisor.crew import Crew

__all__ = ["Manning"]


class Manning:
    """How many are wanted, and whether it is time to start them."""

    def __init__(self, crew: Crew, *, now: float) -> None:
        self.crew = crew
        self.plan = crew.plan
        self.restarts = crew.restarts
        self.wanted = crew.plan.consumers
        self.consumers_from = now + crew.plan.pace.clerk_wait_s
        self.gave_up = False

    def want(self, more: int) -> None:
        """Want one more or one less, but one at least."""
        self.wanted = max(1, self.wanted + more)
        self.crew.says.info("consumers_wanted", consumers=self.wanted)

    def look(self, now: float, *, booked: bool) -> bool:
        """Start who is missing; return True when nobody can ever come up.

        `booked`: the clerk has booked what earlier incarnations left open.
        """
        for slot in self.slots(now, booked=booked):
            if slot in self.crew.children or self.restarts.due_at(slot) > now:
                continue
            if self.restarts.take(now):
                self.crew.start(slot, now)
        self.dismiss()
        return self.is_hopeless(now)

    def slots(self, now: float, *, booked: bool) -> list[int]:
        """Return who should be living now, the clerk first."""
        clerk = [CLERK_SLOT] if self.plan.clerk_argv else []
        # Nobody waits for a clerk that cannot come up.
        nobody_books = not clerk or self.restarts.failed_early(CLERK_SLOT)
        if nobody_books or booked or now >= self.consumers_from:
            self.consumers_from = now
            return [*clerk, *range(self.wanted)]
        return clerk

    def dismiss(self) -> None:
        """Have those leave that are one too many, after their job."""
        for slot, child in self.crew.children.items():
            if slot >= self.wanted and not child.told_to_leave:
                child.told_to_leave = True
                child.order(say.Recycle())

    def is_hopeless(self, now: float) -> bool:
        """Return whether to give up; under a web server we rest a minute instead."""
        if not self.restarts.hopeless(range(self.wanted)):
            return False
        self.crew.says.error("never_came_up", consumers=self.wanted)
        if self.plan.standalone:
            self.gave_up = True
        else:
            self.restarts.rest(range(self.wanted), now)
        return self.gave_up

    def due(self) -> list[float]:
        """Return when slots that are empty may start."""
        slots = [CLERK_SLOT, *range(self.wanted)]
        return [self.restarts.due_at(slot) for slot in slots if slot not in self.crew.children]
