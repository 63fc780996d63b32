"""The steps after a death, in their order, and what is known when they are done (SUP-17).

Look and leave the zombie; last words; black box and trace; memory counters; debris; only
then reap. As long as the zombie is there its number and its group can be nobody else's.
"""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from capture_consumer.ipc import messages as say
from capture_consumer.ipc.frames import FrameBroken
from capture_consumer.supervisor.child import Child
from capture_consumer.supervisor.debris import Debris
from capture_consumer.supervisor.ends import End, Evidence, Killed, classify, text_of
from capture_consumer.supervisor.memory import Groups
from capture_consumer.supervisor.watch import Exit

__all__ = ["Dead", "Grave", "bury", "facts_of", "told_of", "trace_says"]

MIB = 1024 * 1024
TRACE_TAIL_BYTES = 16 * 1024


@dataclass(frozen=True, slots=True)
class Dead:
    """A child that is gone, and all that is known of it (SUP-20)."""

    child: Child
    evidence: Evidence
    end: End
    box_differs: str | None = None
    debris: int = 0
    torn: int = 0

    @property
    def text(self) -> str:
        """Return the line for people."""
        return text_of(self.evidence, self.end)

    @property
    def went_well(self) -> bool:
        """Return whether it just left, with nothing in its hands."""
        return self.evidence.exit.code == 0 and not self.evidence.holding


@dataclass(slots=True)
class Grave:
    """What burying needs. `oom_before` is the counter as it stood before any death."""

    debris: Debris
    groups: Groups
    hear: Callable[[Child, say.Report], None]
    table: Callable[[], set[int]]
    trace_of: Callable[[int], Path]
    step: Callable[[str], None]
    oom_before: int | None = None


def bury(child: Child, grave: Grave, *, before_closing: Callable[[], None]) -> Dead | None:
    """Do all the steps for one child; None when it is not dead."""
    grave.step("look")
    exit_ = child.watch.exit_of(child.handle)
    if exit_ is None:
        return None
    grave.step("last words")
    hear_the_rest(child, grave)
    grave.step("black box")
    differs = child.said.read_box(child.box.read())
    trace = trace_says(grave.trace_of(child.slot))
    grave.step("counters")
    oom_after = grave.groups.kills() if exit_.signal == signal.SIGKILL else grave.oom_before
    grave.step("debris")
    left = grave.debris.sweep(
        child.pid if exit_.is_known else None, grave.table(), time.monotonic()
    )
    grave.step("reap")
    before_closing()
    peak_rss = reap(child, exit_)
    evidence = replace(
        evidence_of(child, exit_),
        trace_says=trace,
        oom_before=grave.oom_before,
        oom_after=oom_after,
        peak_rss=peak_rss,
    )
    return Dead(child, evidence, classify(evidence), differs, left, child.frames.torn)


def hear_the_rest(child: Child, grave: Grave) -> None:
    """Read its last words; a torn last frame is no fault of a dead one's."""
    with suppress(FrameBroken):
        for report in child.reports():
            grave.hear(child, report)


def evidence_of(child: Child, exit_: Exit) -> Evidence:
    """Return what its words say."""
    said = child.said
    return Evidence(
        exit=exit_,
        holding=said.holding,
        bye=said.bye,
        killed=by_us(child, exit_),
        story=said.story.story if said.story else None,
        step=said.claim.step if said.claim else None,
        silent_s=time.monotonic() - min(said.progress_at, said.beat_at),
    )


def by_us(child: Child, exit_: Exit) -> Killed | None:
    """Return why we killed it; None when it ended otherwise than by a signal of ours."""
    if exit_.is_known and exit_.signal not in child.sent:
        return None
    if exit_.signal == signal.SIGTERM:
        return child.killed or "drain"
    return child.killed


def reap(child: Child, exit_: Exit) -> int:
    """Take the zombie away and close what we held for it; return its peak RSS in bytes."""
    peak_rss = 0
    with suppress(ChildProcessError):
        _, _, usage = os.wait4(child.pid, 0 if exit_.is_known else os.WNOHANG)
        peak_rss = usage.ru_maxrss * 1024
    # The object would else ask for the status itself, and warn.
    child.process.returncode = exit_.code if exit_.code is not None else -(exit_.signal or 0)
    child.close()
    return peak_rss


def trace_says(path: Path) -> Literal["fatal", "timeout"] | None:
    """Return what kind of end a trace file tells of."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TRACE_TAIL_BYTES))
            tail = file.read()
    except OSError:
        return None
    if b"Fatal Python error" in tail:
        return "fatal"
    return "timeout" if b"Timeout (" in tail else None


def facts_of(dead: Dead, *, trace: str | None) -> dict[str, Any]:
    """Return what the clerk is told of a death; `trace` is a file below the folder."""
    child, seen = dead.child, dead.evidence
    claim = child.said.claim
    return {
        "slot": child.slot,
        "role": child.role,
        "owner": child.said.owner,
        "incarnation": child.incarnation,
        "pid": child.pid,
        "job": claim.job if claim else None,
        "attempt": claim.attempt if claim else None,
        "kind": claim.kind if claim else None,
        "build": claim.build if claim else None,
        "shard": claim.shard if claim else None,
        "step": seen.step,
        "story": seen.story,
        "exact": seen.story is not None,
        "end": dead.end.word,
        "code": dead.end.code,
        "signal": seen.exit.signal,
        "exit_code": seen.exit.code,
        "oom": seen.out_of_memory,
        "peak_rss": seen.peak_rss or None,
        "text": dead.text,
        "trace": trace,
        "holding": seen.holding,
    }


def told_of(dead: Dead) -> dict[str, Any]:
    """Return what the log is told of a death."""
    child, seen = dead.child, dead.evidence
    held = dead if seen.holding else None
    claim = child.said.claim
    return {
        "slot": child.slot,
        "role": child.role,
        "pid": child.pid,
        "exit_code": seen.exit.code,
        "signal": seen.exit.signal,
        "signals_of_ours": child.sent or None,
        "killed_for": seen.killed,
        "job": claim.job if claim else None,
        "attempt": claim.attempt if claim else None,
        "build": claim.build if claim else None,
        "step": seen.step,
        "story": seen.story,
        "end": held.end.word if held else None,
        "text": held.text if held else None,
        "bye": child.said.bye,
        "peak_mib": seen.peak_rss // MIB or None,
        "oom_kills": seen.oom_after if seen.counter_moved else None,
        "jobs_done": child.said.jobs_done,
        "debris": dead.debris or None,
        "torn_bytes": dead.torn or None,
        "box_differs": dead.box_differs,
    }
