"""The drain carried out: who is told what at which stage (section 9)."""

import signal

from capture_consumer.ipc import messages as say
from capture_consumer.supervisor.crew import Crew
from capture_consumer.supervisor.drain import SIGNALS_TO_KILL, Drain

__all__ = ["Leaving"]

CLERK_HURRY_S = 10.0


class Leaving:
    """One drain from its first signal to the moment when nobody is left.

    The clerk leaves last: it goes on with the books until every consumer's end is
    written, then HURRY lets it go (SUP-87).
    """

    def __init__(self, crew: Crew, drain: Drain) -> None:
        self.crew = crew
        self.drain = drain
        self.told: set[tuple[str, int]] = set()
        self.clerk_due: float | None = None

    def begin(self) -> None:
        """Tell all to drain: idle ones leave at once, booting ones when they are up."""
        self.crew.says.info("draining", grace_s=self.drain.times.end_s)
        for child in self.crew.children.values():
            child.order(say.Drain(self.drain.soft_deadline_s))

    def look(self, now: float) -> None:
        """Do what the stage asks for, once for each child."""
        stage = self.drain.stage(now)
        if stage in ("hurry", "kill", "leave"):
            self.hurry()
        if stage in ("kill", "leave"):
            self.kill()
        if not self.crew.consumers and self.crew.clerk:
            self.let_the_clerk_go(now)

    def hurry(self) -> None:
        """Have them abandon the story; a signal helps where the pipe is not read."""
        for child in self.crew.consumers:
            if self.once("hurry", child.pid):
                child.order(say.Hurry())
                child.signal(signal.SIGTERM)

    def kill(self) -> None:
        """End what is left; their attempts end released (SUP-58)."""
        for child in self.crew.consumers:
            if self.once("kill", child.pid):
                self.crew.says.warning("child_killed", slot=child.slot, pid=child.pid)
                self.crew.had_to_kill = True
                child.kill("drain")

    def let_the_clerk_go(self, now: float) -> None:
        """Let the clerk flush and leave, when all is booked or time is short."""
        clerk = self.crew.clerk
        assert clerk, "asked for by the caller"
        waits = clerk.said.ready_at is not None and not self.crew.booking.is_clear
        no_more = now >= self.drain.leave_at or self.drain.count >= SIGNALS_TO_KILL
        if (not waits or no_more) and self.once("hurry", clerk.pid):
            clerk.order(say.Hurry())
            self.clerk_due = min(self.drain.end_at, now + CLERK_HURRY_S)
        must_go = self.drain.count >= SIGNALS_TO_KILL or now >= (self.clerk_due or now + 1)
        if must_go and self.once("kill", clerk.pid):
            self.crew.says.warning("child_killed", slot=clerk.slot, pid=clerk.pid)
            self.crew.had_to_kill = True
            clerk.kill("drain")

    def dump(self) -> None:
        """Have all write their stacks (SIGQUIT)."""
        for child in self.crew.children.values():
            child.order(say.Dump())

    def once(self, what: str, pid: int) -> bool:
        """Return whether this is the first time."""
        first = (what, pid) not in self.told
        self.told.add((what, pid))
        return first

    @property
    def is_over(self) -> bool:
        """Return whether nobody is left."""
        return not self.crew.children

    def next_at(self, now: float) -> float:
        """Return when something is due."""
        due = self.clerk_due
        later = [at for at in (self.drain.next_at(now), due) if at is not None and at > now]
        return min(later, default=now + 1)
