"""Whether a child hangs, and what is done about it, rung by rung (pure; SUP-68 to SUP-71)."""

from dataclasses import dataclass
from typing import Literal

from capture_consumer.supervisor.plan import Pace
from capture_consumer.supervisor.words import LastWords

__all__ = ["Ladder", "Rung", "overdue"]

Rung = Literal["dump", "abort", "kill"]
RUNGS: tuple[Rung, ...] = ("dump", "abort", "kill")


def overdue(said: LastWords, pace: Pace, now: float) -> str | None:
    """Return what a child is late with, None when all is well.

    Two clocks: a beat says that a thread lives, progress that the work gets on. C code
    that holds the interpreter silences the first, a hung job only the second.
    """
    if said.ready_at is None:
        return "boot" if now - said.started_at > pace.boot_s + pace.slack_s else None
    if now - said.beat_at > pace.beat_s:
        return "beat"
    if not said.holding:
        return None
    if said.story is not None:
        allowed_s, word = said.story.deadline_s + pace.slack_s, "story"
    else:
        allowed_s, word = pace.first_story_s, "progress"
    return word if now - said.progress_at > allowed_s else None


@dataclass(slots=True)
class Ladder:
    """One child's ladder: stacks first, then an abort that writes them, then the kill."""

    climbed: int = 0
    climbed_at: float = 0.0
    stopped_since: float | None = None

    def climb(self, pace: Pace, now: float) -> Rung | None:
        """Return the next rung when its time has come."""
        if self.climbed == len(RUNGS):
            return None
        if self.climbed and now - self.climbed_at < pace.rung_s:
            return None
        self.climbed += 1
        self.climbed_at = now
        return RUNGS[self.climbed - 1]

    def recovered(self) -> None:
        """Begin anew: it is no longer late."""
        self.climbed = 0
        self.stopped_since = None

    def next_at(self, pace: Pace) -> float | None:
        """Return when the next rung is due, None when none is."""
        on_it = 0 < self.climbed < len(RUNGS)
        return self.climbed_at + pace.rung_s if on_it else None

    def stopped_for(self, now: float) -> float:
        """Return for how long it has been seen stopped (state T)."""
        self.stopped_since = now if self.stopped_since is None else self.stopped_since
        return now - self.stopped_since
