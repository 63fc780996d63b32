"""The timetable from the first TERM to the last KILL, for any grace (pure; section 9)."""

import signal
from dataclasses import dataclass
from typing import Literal

__all__ = ["Drain", "Stage", "Timetable", "timetable"]

Stage = Literal["drain", "hurry", "kill", "leave"]

SPANS_S = (5.0, 2.0, 2.0)
SECOND_KILL_S = 5.0
SAME_SIGNAL_S = 0.5
SIGNALS_TO_KILL = 3


@dataclass(frozen=True, slots=True)
class Timetable:
    """Seconds after the first signal at which each stage begins; `end_s` is the grace."""

    hurry_s: float
    kill_s: float
    leave_s: float
    end_s: float


def timetable(grace_s: float) -> Timetable:
    """Return the timetable of a grace: 9 s, 4 s and 2 s before its end, and its end.

    A short grace shortens the first span; when that is gone the others are halved
    until they fit (SUP-54). The order stays. With 0 all is now.
    """
    assert grace_s >= 0
    hurry, kill, leave = SPANS_S if grace_s else (0.0, 0.0, 0.0)
    while hurry + kill + leave > grace_s:
        hurry, kill, leave = hurry / 2, kill / 2, leave / 2
    return Timetable(
        grace_s - hurry - kill - leave, grace_s - kill - leave, grace_s - leave, grace_s
    )


class Drain:
    """One drain, from its first signal on. Instants are monotonic seconds."""

    def __init__(self, grace_s: float, *, by: int, now: float) -> None:
        self.times = timetable(grace_s)
        self.began_at = now
        self.hurry_at = now + self.times.hurry_s
        self.kill_at = now + self.times.kill_s
        self.count = 1
        self.last = {by: now}
        if by == signal.SIGQUIT:
            self.hurry(now)

    def signalled(self, by: int, now: float) -> None:
        """Take a further signal in: the second hurries, the third kills (SUP-55).

        The same one within 0.5 s is the first again: a terminal signals a whole group.
        """
        before = self.last.get(by)
        self.last[by] = now
        if before is not None and now - before < SAME_SIGNAL_S:
            return
        self.count += 1
        if self.count >= SIGNALS_TO_KILL:
            self.hurry_at = self.kill_at = min(self.kill_at, now)
        else:
            self.hurry(now)

    def hurry(self, now: float) -> None:
        """Begin to hurry now, and kill at most 5 s later."""
        self.hurry_at = min(self.hurry_at, now)
        self.kill_at = min(self.kill_at, now + SECOND_KILL_S)

    @property
    def leave_at(self) -> float:
        """Return when the clerk is told to leave, booked or not."""
        return self.began_at + self.times.leave_s

    @property
    def end_at(self) -> float:
        """Return when nothing of ours may be left: a little before the grace is over."""
        last_span_s = self.times.end_s - self.times.leave_s
        return self.began_at + self.times.end_s - last_span_s / 8

    def stage(self, now: float) -> Stage:
        """Return where the drain stands."""
        if now < self.hurry_at:
            return "drain"
        if now < self.kill_at:
            return "hurry"
        return "kill" if now < self.leave_at else "leave"

    def next_at(self, now: float) -> float:
        """Return the next instant at which something changes."""
        later = (self.hurry_at, self.kill_at, self.leave_at, self.end_at)
        return min((at for at in later if at > now), default=now)

    @property
    def soft_deadline_s(self) -> float:
        """Return how long a job may go on that fits."""
        return max(0.0, self.hurry_at - self.began_at)
