"""Kill and reap what a dead child left behind, and nothing of anybody else's (section 10).

The supervisor takes in orphans. So what becomes its child at a death, and was not there
before, is that child's debris, in whatever session it hides.
"""

import os
import select
import signal
import time
from collections.abc import Iterable
from contextlib import suppress

from capture_consumer.ipc.identity import Stat, processes

__all__ = ["Debris"]

SWEEP_S = 0.25
NAP_S = 0.004
SECOND_LOOK_S = 0.05


class Debris:
    """Who is ours, who is a stranger, and who has to go."""

    def __init__(self) -> None:
        self.strangers: set[tuple[int, int]] = set()
        self.look_again_at: float | None = None
        self.is_init = os.getpid() == 1
        self.killed = 0

    def remember(self, table: set[int]) -> None:
        """Note who is our child now though we started nobody of them: strangers (SUP-64).

        The caller has seen all of its own alive afterwards, so that none of these can
        be an orphan of one of them.
        """
        self.strangers = {(stat.pid, stat.start) for stat in adopted(processes(), table)}

    def sweep(self, group: int | None, table: set[int], now: float) -> int:
        """Kill a dead child's group and all that it left; return how many there were.

        The child is still a zombie, so the group's number is its own; it is None when
        somebody else reaped it. What needs longer than a moment is looked for again at
        `look_again_at`.
        """
        if group is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGKILL)
        found = self.kill_adopted(table)
        self.look_again_at = now + SECOND_LOOK_S
        return found

    def second_look(self, table: set[int], now: float) -> None:
        """Look again, until nothing is left."""
        if self.look_again_at is not None and now >= self.look_again_at:
            left = self.kill_adopted(table)
            self.look_again_at = now + SECOND_LOOK_S if left else None

    def kill_adopted(self, table: set[int]) -> int:
        """Kill what we were handed, with all below it, and reap it."""
        until = time.monotonic() + SWEEP_S
        seen: set[tuple[int, int]] = set()
        while True:
            snapshot = list(processes())
            debris = [
                stat
                for stat in adopted(snapshot, table)
                if (stat.pid, stat.start) not in self.strangers
            ]
            if not debris:
                break
            for stat in [*debris, *below(debris, snapshot)]:
                seen.add((stat.pid, stat.start))
                if stat.state != "Z":
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(stat.pid, signal.SIGKILL)
            for stat in debris:
                with suppress(ChildProcessError):
                    os.waitpid(stat.pid, os.WNOHANG)
            if time.monotonic() > until:
                break
            select.select([], [], [], NAP_S)
        self.killed += len(seen)
        return len(seen)


def adopted(snapshot: Iterable[Stat], table: set[int]) -> list[Stat]:
    """Return our children that are not in the table of those we started."""
    us = os.getpid()
    return [stat for stat in snapshot if stat.parent == us and stat.pid not in table]


def below(tops: list[Stat], snapshot: list[Stat]) -> list[Stat]:
    """Return all descendants of these processes."""
    found: list[Stat] = []
    parents = {stat.pid for stat in tops}
    while True:
        more = [stat for stat in snapshot if stat.parent in parents]
        if not more:
            return found
        found += more
        parents = {stat.pid for stat in more}
