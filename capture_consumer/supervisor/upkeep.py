"""What the loop looks after besides deaths: the hung, the suspects, the old."""

import os
import signal
import time
from collections.abc import Callable

from capture_consumer.ipc import messages as say
from capture_consumer.ipc.identity import stat_of
from capture_consumer.supervisor.child import Child
from capture_consumer.supervisor.crew import Crew
from capture_consumer.supervisor.hung import Rung, overdue
from capture_consumer.supervisor.recycle import Age, Recycler
from capture_consumer.supervisor.suspects import Member, Turns

__all__ = ["Upkeep", "draw"]

JUMP_S = 30.0


def draw() -> float:
    """Return a random number from 0 to 1; the module of that name costs 4 MiB here."""
    return int.from_bytes(os.urandom(4), "big") / 2**32


def suspended_s() -> float:
    """Return how long this machine has slept since boot, where that can be told."""
    boot = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(boot) - time.monotonic()


class Upkeep:
    """Looks that follow from how things stand, at every turn of the loop."""

    def __init__(self, crew: Crew, *, slept_s: Callable[[], float] = suspended_s) -> None:
        pace = crew.plan.pace
        self.crew = crew
        self.pace = pace
        self.slept_s = slept_s
        self.slept_before = slept_s()
        self.turns = Turns(gap_s=pace.turn_gap_s, quiet_s=pace.quiet_s)
        self.recycler = Recycler(jobs=pace.recycle_jobs, life_s=pace.recycle_s, draw=draw)

    def look(self, now: float, *, draining: bool) -> None:
        """Do what is due."""
        self.after_a_sleep(now)
        for child in list(self.crew.children.values()):
            self.mind(child, now)
            child.flush()
        self.suspects(now, draining=draining)
        if not draining:
            self.recycle(now)

    def after_a_sleep(self, now: float) -> None:
        """Give beats a fresh period when the machine was suspended (SUP-72)."""
        slept = self.slept_s()
        if slept - self.slept_before > JUMP_S:
            self.crew.says.warning("machine_slept", slept_s=round(slept - self.slept_before))
            for child in self.crew.children.values():
                child.said.beat_at = child.said.progress_at = now
        self.slept_before = slept

    def mind(self, child: Child, now: float) -> None:
        """Climb a hung child's ladder; leave a stopped one alone for a while."""
        late = overdue(child.said, self.pace, now)
        if late is None:
            if child.ladder.climbed:
                self.recovered(child)
            return
        stat = stat_of(child.pid)
        if stat and stat.state in "Tt":
            self.mind_stopped(child, now)
            return
        if child.ladder.stopped_since is not None:
            child.ladder.recovered()
            child.said.beat_at = child.said.progress_at = now
            return
        rung = child.ladder.climb(self.pace, now)
        if rung:
            self.climb(child, rung, late)

    def recovered(self, child: Child) -> None:
        """Take a child back that was late."""
        self.crew.says.warning("child_recovered", slot=child.slot, pid=child.pid)
        child.ladder.recovered()
        child.killed = None

    def mind_stopped(self, child: Child, now: float) -> None:
        """Leave a stopped child to whoever stopped it, for ten minutes (SUP-71)."""
        first = child.ladder.stopped_since is None
        if child.ladder.stopped_for(now) >= self.pace.stopped_s:
            child.kill("hung")
        elif first:
            self.crew.says.warning("child_stopped", slot=child.slot, pid=child.pid)

    def climb(self, child: Child, rung: Rung, late: str) -> None:
        """Do what a rung says (SUP-70)."""
        self.crew.says.warning(
            "child_hung", slot=child.slot, pid=child.pid, late=late, rung=rung
        )
        child.killed = "hung"
        if rung == "dump":
            child.order(say.Dump())
            child.signal(signal.SIGUSR1)
        else:
            child.signal(signal.SIGABRT if rung == "abort" else signal.SIGKILL)

    def suspects(self, now: float, *, draining: bool) -> None:
        """Have suspects run alone."""
        for slot in self.crew.renewed:
            self.turns.renewed(slot)
        self.crew.renewed.clear()
        members = [member_of(child) for child in self.crew.consumers]
        for slot, order in self.turns.look(members, now, draining=draining):
            self.crew.order(slot, order)

    def recycle(self, now: float) -> None:
        """Tell the next one whose time is over to leave after its job."""
        children = self.crew.children
        ages = {
            slot: Age(
                child.pid,
                child.said.ready_at is not None,
                now - child.said.started_at,
                child.said.jobs_done,
            )
            for slot, child in children.items()
        }
        self.recycler.forget(self.crew.pids())
        slot = self.recycler.look(ages)
        if slot is not None:
            self.crew.says.info("child_recycled", slot=slot, pid=children[slot].pid)
            children[slot].told_to_leave = True
            children[slot].order(say.Recycle())

    def next_at(self) -> float | None:
        """Return when the next rung of a ladder is due."""
        times = [child.ladder.next_at(self.pace) for child in self.crew.children.values()]
        return min((at for at in times if at is not None), default=None)


def member_of(child: Child) -> Member:
    """Return what counts of a consumer when suspects wait."""
    said = child.said
    return Member(
        child.slot,
        ready=said.ready_at is not None,
        holding=said.holding,
        said_paused=said.said_paused,
        quiet_since=said.quiet_since,
        asks=said.alone_for is not None,
        claims=said.claims,
        leaving=child.told_to_leave,
    )
