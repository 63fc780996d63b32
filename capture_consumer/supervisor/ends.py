"""Which kind of end a death was, and the line that says so (pure; section 6, SUP-32)."""

import signal
from dataclasses import dataclass
from typing import Literal

from capture_consumer.supervisor.watch import Exit

__all__ = ["End", "Evidence", "Killed", "classify", "text_of"]

EXIT_LOST = 75
MIB = 1024 * 1024

Killed = Literal["hung", "memory", "drain", "channel"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known at a death (SUP-20). `killed` is our own note of why we did it."""

    exit: Exit
    holding: bool
    bye: str | None = None
    killed: Killed | None = None
    trace_says: Literal["fatal", "timeout"] | None = None
    oom_before: int | None = None
    oom_after: int | None = None
    peak_rss: int = 0
    story: str | None = None
    step: str | None = None
    silent_s: float = 0.0

    @property
    def counter_moved(self) -> bool:
        """Return whether the group's count of kills for memory rose."""
        return (self.oom_after or 0) > (self.oom_before or 0)

    @property
    def out_of_memory(self) -> bool:
        """Return whether memory was the cause; said only with evidence."""
        by_kill = self.exit.signal == signal.SIGKILL and self.killed is None
        return by_kill and self.counter_moved


@dataclass(frozen=True, slots=True)
class End:
    """How the attempt ends: a word of section 6 and its code."""

    word: Literal["crashed", "timed_out", "lost", "released"]
    code: str


def classify(seen: Evidence) -> End:
    """Return how the attempt of a dead child ends; the first row that fits."""
    if not seen.holding:
        return End("released", "not_begun")
    if seen.killed == "drain":
        return End("released", "drained")
    if seen.bye in ("lost", "unsettled") and seen.exit.code == EXIT_LOST:
        return End("lost", seen.bye)
    if seen.killed in ("hung", "memory"):
        return End("timed_out", seen.killed)
    return End("timed_out", "hung") if timed_itself_out(seen) else crashed(seen)


def timed_itself_out(seen: Evidence) -> bool:
    """Return whether the child's own last resort ended it: only its trace tells (R35)."""
    return seen.trace_says == "timeout" and seen.exit.code == 1


def crashed(seen: Evidence) -> End:
    """Return an end that counts as a crash."""
    if seen.out_of_memory:
        return End("crashed", "oom")
    return End("crashed", "crashed" if seen.exit.is_known else "unknown")


def text_of(seen: Evidence, end: End) -> str:
    """Return the line for people: what was seen, where, and no more than that."""
    where = f" in story {seen.story}" if seen.story else f" in {seen.step}" if seen.step else ""
    if end.code in ("hung", "memory") and end.word == "timed_out":
        why = "hung" if end.code == "hung" else "grew too large"
        silent = f", no progress for {seen.silent_s:.0f} s" if end.code == "hung" else ""
        return f"consumer {why}{where}{silent}: {how(seen.exit)} by us"
    if end.word == "released":
        return f"consumer {how(seen.exit)}{where}: the job goes back uncounted"
    if end.word == "lost":
        return f"consumer left{where}, saying {seen.bye}"
    if seen.exit.code == 0:
        return f"consumer exited 0 while holding the job{where}"
    return f"consumer {how(seen.exit)}{where}{memory(seen)}"


def how(exit_: Exit) -> str:
    """Return a wait status in words."""
    if exit_.signal is not None:
        try:
            return f"killed by {signal.Signals(exit_.signal).name}"
        except ValueError:
            return f"killed by signal {exit_.signal}"
    if exit_.code is not None:
        return f"exited with code {exit_.code}"
    return "died, its exit status was taken by another process' wait"


def memory(seen: Evidence) -> str:
    """Return the memory figures, when memory was the cause."""
    if not seen.out_of_memory:
        return ""
    peak = f"{seen.peak_rss // MIB:,}".replace(",", " ")
    rose = f"the group's counter rose from {seen.oom_before or 0} to {seen.oom_after}"
    return f" (out of memory: {rose}; peak {peak} MiB)"
