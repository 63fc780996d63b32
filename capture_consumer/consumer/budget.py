"""What an end costs, and what follows from it: again, without the story, or never (JOB-157).

Each kind of end has a budget of its own, counted from the job's ended attempts;
nothing goes back to the queue without naming one. Pure: the history is handed in.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import assert_never

from capture_consumer.consumer.job import Backoff
from capture_consumer.consumer.outcome import (
    Crashed,
    Failed,
    Lost,
    Released,
    TimedOut,
    Word,
)
from capture_consumer.consumer.retry import delay_ms

__all__ = [
    "BACKOFF",
    "LIMITS",
    "Again",
    "Blame",
    "Counted",
    "GiveUp",
    "Limits",
    "Next",
    "Past",
    "after",
]

HOUR_MS = 3_600_000
DEATHS = {"crashed", "timed_out", "lost"}
LEASE_EXHAUSTED = "no attempt left: the last lease ran out"

Counted = Failed | Released | Crashed | TimedOut | Lost
"""The ends that have a budget."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How often each end is allowed."""

    failures: int = 3
    crashes: int = 3
    crash_window_ms: int = 72 * HOUR_MS
    lost: int = 5
    released: int = 20
    stories: int = 3


LIMITS = Limits()
BACKOFF = Backoff()


@dataclass(frozen=True, slots=True)
class Past:
    """An attempt that has ended. `story` is None unless it is known exactly (SUP-46)."""

    attempt: int
    outcome: Word
    ended_at: datetime
    explained: bool = False
    story: str | None = None


@dataclass(frozen=True, slots=True)
class Again:
    """Queue it again, due after a delay; a suspect runs alone on its host (JOB-158)."""

    delay_ms: int
    suspect: bool


@dataclass(frozen=True, slots=True)
class Blame:
    """This story takes the blame for these earlier ends and this one (JOB-126)."""

    story: str
    attempts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GiveUp:
    """A budget is used up: the job fails for good, with this code and text."""

    code: str
    text: str


Next = Again | Blame | GiveUp


def after(
    end: Counted,
    past: Sequence[Past],
    *,
    now: datetime,
    was_suspect: bool,
    limits: Limits = LIMITS,
    backoff: Backoff = BACKOFF,
    story: str | None = None,
) -> Next:
    """Return what follows from an end.

    Args:
        end: the end that is being written.
        past: the job's ended attempts without this one.
        now: the instant of this end.
        was_suspect: whether the job was one before.
        limits: the budgets.
        backoff: the waits of this kind of job.
        story: what was in hand at this death, when that is known exactly and its blame
            would change something.
    """
    match end:
        case Released():
            return released(end, past, was_suspect=was_suspect, limits=limits, backoff=backoff)
        case Failed():
            return failed(end, past, permanent=end.permanent, limits=limits, backoff=backoff)
        case Crashed() | TimedOut() | Lost():
            blamed = to_blame(story, past, limits=limits)
            return blamed or died(end, past, now=now, limits=limits, backoff=backoff)
        case _:
            assert_never(end)


def released(
    end: Released, past: Sequence[Past], *, was_suspect: bool, limits: Limits, backoff: Backoff
) -> Next:
    """A release is free; from the 21st on it counts as a failure (JOB-113)."""
    if number_of(past, "released") < limits.released:
        return Again(end.delay_ms, suspect=was_suspect)
    text = f"released more than {limits.released} times"
    told = Failed(end.code or "released_too_often", text)
    return failed(told, past, permanent=False, limits=limits, backoff=backoff)


def failed(
    end: Failed | TimedOut,
    past: Sequence[Past],
    *,
    permanent: bool,
    limits: Limits,
    backoff: Backoff,
) -> Next:
    """Failures and time-outs share one budget; only they are followed by a delay (R3)."""
    before = number_of(past, "failed") + number_of(past, "timed_out")
    before += max(0, number_of(past, "released") - limits.released)
    if permanent or before + 1 >= limits.failures:
        return GiveUp(end.code, end.text)
    return Again(delay_ms(backoff, before), suspect=is_about_memory(end))


def died(
    end: Crashed | TimedOut | Lost,
    past: Sequence[Past],
    *,
    now: datetime,
    limits: Limits,
    backoff: Backoff,
) -> Next:
    """Count a death against the job."""
    if isinstance(end, TimedOut):
        return failed(end, past, permanent=False, limits=limits, backoff=backoff)
    if isinstance(end, Lost):
        losses = 1 + number_of(past, "lost")
        if losses >= limits.lost:
            return GiveUp("lease_exhausted", f"{LEASE_EXHAUSTED} ({losses} losses)")
        return Again(0, suspect=True)
    since = now - timedelta(milliseconds=limits.crash_window_ms)
    recent = [one for one in past if one.ended_at > since]
    crashes = 1 + number_of(recent, "crashed")
    if crashes >= limits.crashes:
        hours = limits.crash_window_ms // HOUR_MS
        return GiveUp(end.code, f"{end.text} ({crashes} crashes in {hours} h)")
    return Again(0, suspect=is_about_memory(end))


def to_blame(
    story: str | None, past: Sequence[Past], *, limits: Limits
) -> Blame | GiveUp | None:
    """Blame the story that was in hand at an earlier unexplained death too (SUP-27, SUP-30)."""
    deaths = [one for one in past if one.outcome in DEATHS and one.story is not None]
    same = tuple(one.attempt for one in deaths if one.story == story and not one.explained)
    if story is None or not same:
        return None
    if len({one.story for one in deaths if one.explained}) >= limits.stories:
        return GiveUp("too_many_stories", "too many stories crash the consumer")
    return Blame(story, same)


def number_of(past: Sequence[Past], outcome: Word) -> int:
    """Return how many ends of this kind still count."""
    return sum(one.outcome == outcome and not one.explained for one in past)


def is_about_memory(end: Failed | Crashed | TimedOut) -> bool:
    """Tell whether the process is known to have run out of memory (JOB-158)."""
    return not isinstance(end, Failed) and (end.oom or end.code == "memory")
