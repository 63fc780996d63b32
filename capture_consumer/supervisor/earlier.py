"""What earlier incarnations left in this folder: processes, boxes, open attempts (SUP-33).

A process is killed only if boot, namespace, pid and start time are those that its box
names; it has 5 s for SIGTERM. Then its box tells the clerk what it had in hand.
"""

import os
import signal
from contextlib import suppress
from typing import Any

from capture_consumer.ipc.identity import Stat, boot_id, is_alive, pid_namespace, processes
from capture_consumer.ipc.slot import Box, Label, Words
from capture_consumer.supervisor.death import trace_says
from capture_consumer.supervisor.spool import Spool
from capture_consumer.supervisor.state import State, remove_tree

__all__ = ["Earlier"]


class Left:
    """What is left of one child of an earlier incarnation."""

    def __init__(self, label: Label, words: Words | None, tree: list[tuple[int, int]]) -> None:
        self.label = label
        self.words = words
        self.tree = tree

    def alive(self) -> list[int]:
        """Return the pids of its processes that still run: itself, its session, its tree."""
        label = self.label
        if (label.boot, label.namespace) != (boot_id(), pid_namespace()):
            return []
        return [stat.pid for stat in processes() if stat.state not in "ZX" and self.owns(stat)]

    def owns(self, stat: Stat) -> bool:
        """Return whether a process is itself, in its session, or noted as its browser's."""
        in_session = stat.session == self.label.pid and stat.start >= self.label.start
        return in_session or (stat.pid, stat.start) in self.tree


class Earlier:
    """Clears up at a start, without holding up the loop."""

    def __init__(self, state: State, incarnation: str, *, term_s: float) -> None:
        self.state = state
        self.incarnation = incarnation
        self.term_s = term_s
        self.left = list(self.read_boxes())
        self.killed_at: float | None = None
        self.is_done = False
        self.found = 0

    def read_boxes(self) -> list[Left]:
        """Return what the boxes of other incarnations say."""
        found = []
        for path in sorted(self.state.slots.glob("*.box")):
            box = Box(path)
            label = box.read_label()
            if label and label.incarnation != self.incarnation:
                found.append(Left(label, box.read(), box.read_tree()))
            box.close()
        return found

    def begin(self, now: float) -> None:
        """Ask those that still run to leave; clear the temporary directories."""
        self.killed_at = now + self.term_s
        for left in self.left:
            if is_alive(left.label.process):
                self.found += 1
                send(left.label.pid, signal.SIGTERM)
        for folder in self.state.tmp.glob("*"):
            remove_tree(folder)

    def look(self, spool: Spool, now: float) -> bool:
        """Return whether all are gone; their ends are in the spool then."""
        assert self.killed_at is not None, "begin first"
        if self.is_done:
            return True
        for left in self.left:
            pids = left.alive()
            leader_is_gone = left.label.pid not in pids
            for pid in pids if leader_is_gone or now >= self.killed_at else ():
                send(pid, signal.SIGKILL)
            if pids:
                return False
        for left in self.left:
            self.write_end(left, spool)
        self.is_done = True
        return True

    def write_end(self, left: Left, spool: Spool) -> None:
        """Write down how what it had in hand ended, and free its box."""
        label, words = left.label, left.words
        trace = self.state.trace(label.slot)
        if label.role == "consumer" and words and words.job is not None:
            told = trace_says(trace)
            kept = self.state.keep_trace(label.slot, spool.next_number)
            spool.add(facts_of(label, words, trace=kept, told=told))
        trace.unlink(missing_ok=True)
        self.state.box(label.slot).unlink(missing_ok=True)


def facts_of(
    label: Label, words: Words, *, trace: str | None, told: str | None
) -> dict[str, Any]:
    """Return the facts of a death that nobody saw: lost, unless its trace knows better."""
    end, code = {"fatal": ("crashed", "crashed"), "timeout": ("timed_out", "hung")}.get(
        told or "", ("lost", "found_dead")
    )
    where = (
        f" in story {words.story}" if words.story else f" in {words.step}" if words.step else ""
    )
    return {
        "slot": label.slot,
        "role": label.role,
        "owner": words.owner,
        "incarnation": label.incarnation,
        "pid": label.pid,
        "job": words.job,
        "attempt": words.attempt,
        "kind": words.kind,
        "build": words.build,
        "shard": words.shard,
        "step": words.step,
        "story": words.story,
        "exact": words.story is not None,
        "end": end,
        "code": code,
        "signal": None,
        "exit_code": None,
        "oom": False,
        "peak_rss": None,
        "text": f"consumer found dead after its supervisor was gone{where}",
        "trace": trace,
        "holding": True,
    }


def send(pid: int, number: int) -> None:
    """Signal a process that was identified just now."""
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
