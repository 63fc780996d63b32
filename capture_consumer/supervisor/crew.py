"""The children by slot: start one, hear one, bury one; whoever is dead is replaced later."""

import os
import selectors
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from capture_consumer.ipc import messages as say
from capture_consumer.ipc.channel import CLERK_SLOT
from capture_consumer.ipc.frames import FrameBroken
from capture_consumer.supervisor.booking import Booking
from capture_consumer.supervisor.child import Child, Role, start
from capture_consumer.supervisor.death import Dead, Grave, bury, facts_of, told_of
from capture_consumer.supervisor.debris import Debris
from capture_consumer.supervisor.memory import Groups
from capture_consumer.supervisor.plan import Plan
from capture_consumer.supervisor.restart import Lived, Restarts
from capture_consumer.supervisor.says import Says
from capture_consumer.supervisor.state import State, remove_tree
from capture_consumer.supervisor.watch import ChildWatch

__all__ = ["Crew"]


class Crew:
    """All children of one supervisor, and what is done when one of them dies."""

    def __init__(
        self,
        plan: Plan,
        state: State,
        incarnation: str,
        *,
        says: Says,
        watch: ChildWatch,
        selector: selectors.BaseSelector,
        booking: Booking,
        restarts: Restarts,
        clock: Callable[[], float],
    ) -> None:
        self.plan = plan
        self.state = state
        self.incarnation = incarnation
        self.says = says
        self.watch = watch
        self.selector = selector
        self.booking = booking
        self.restarts = restarts
        self.clock = clock
        self.children: dict[int, Child] = {}
        self.debris = Debris()
        groups = Groups()
        self.grave = Grave(
            self.debris, groups, self.hear, self.pids, state.trace, self.step, groups.kills()
        )
        self.steps: list[str] = []
        self.renewed: list[int] = []
        self.heard_clerk_at = clock()
        self.deaths = 0
        self.had_to_kill = False

    @property
    def clerk(self) -> Child | None:
        """Return the clerk, if there is one now."""
        return self.children.get(CLERK_SLOT)

    @property
    def consumers(self) -> list[Child]:
        """Return the consumers, lowest slot first."""
        return [child for slot, child in sorted(self.children.items()) if slot != CLERK_SLOT]

    @property
    def ever_ready(self) -> bool:
        """Return whether any consumer ever came up."""
        return self.restarts.any_ready(slot for slot in self.restarts.slots if slot >= 0)

    def pids(self) -> set[int]:
        """Return the numbers of all children that we started and have not reaped."""
        return {child.pid for child in self.children.values()}

    def has(self, child: Child) -> bool:
        """Return whether a child is not buried yet."""
        return self.children.get(child.slot) is child

    def step(self, name: str) -> None:
        """Note a step of a burial, so that the order can be looked at."""
        self.steps = [*self.steps[-63:], name]

    def start(self, slot: int, now: float) -> None:
        """Start a child in a slot; one that cannot be started has died at once."""
        role: Role = "clerk" if slot == CLERK_SLOT else "consumer"
        try:
            child = start(
                self.plan,
                self.state,
                self.incarnation,
                slot=slot,
                role=role,
                watch=self.watch,
                now=now,
            )
        except OSError as error:
            wait_s = self.restarts.died(slot, Lived(lived_s=0, was_ready=False), now)
            self.says.error("child_not_started", slot=slot, error=str(error), again_s=wait_s)
            return
        self.children[slot] = child
        self.renewed.append(slot)
        self.selector.register(child.report_fd, selectors.EVENT_READ, ("report", child))
        if child.handle.fd is not None:
            self.selector.register(child.handle.fd, selectors.EVENT_READ, ("death", child))
        self.says.info("child_started", slot=slot, role=role, pid=child.pid)

    def order(self, slot: int, order: say.Order) -> None:
        """Send an order to whoever is in a slot."""
        child = self.children.get(slot)
        if child is None:
            return
        child.order(order)
        if isinstance(order, say.Granted | say.Denied):
            child.said.alone_for = None
        if isinstance(order, say.Pause):
            child.said.said_paused = False

    def read(self, child: Child) -> None:
        """Take in what a child reports; one that breaks the rules has to go (71)."""
        try:
            for report in child.reports():
                self.hear(child, report)
        except FrameBroken as error:
            self.says.error("frame_broken", slot=child.slot, pid=child.pid, error=str(error))
            self.selector.unregister(child.report_fd)
            child.kill("channel")

    def hear(self, child: Child, report: say.Report) -> None:
        """Take one report in."""
        child.said.hear(report, self.clock())
        if child.role == "clerk":
            self.heard_clerk_at = self.clock()
        if isinstance(report, say.Ready):
            self.restarts.ready(child.slot)
            self.says.info("child_ready", slot=child.slot, pid=child.pid)
            if child.role == "clerk":
                self.booking.new_clerk()
        elif isinstance(report, say.Ack):
            self.booking.acknowledged(report.n)

    def book(self) -> None:
        """Tell the clerk what is to be booked."""
        clerk = self.clerk
        if clerk and clerk.said.ready_at is not None:
            for order in self.booking.orders():
                clerk.order(order)

    def die(self, child: Child) -> None:
        """Bury a child if it is dead: on_death, in its order (SUP-17)."""
        if not self.has(child):
            return
        fds = [fd for fd in (child.report_fd, child.handle.fd) if fd is not None]
        dead = bury(child, self.grave, before_closing=lambda: self.forget(fds))
        if dead is None:
            return
        del self.children[child.slot]
        self.deaths += 1
        self.step("spool")
        self.write_down(dead)
        self.state.box(child.slot).unlink(missing_ok=True)
        self.step("tell")
        self.book()
        self.step("restart")
        wait_s = self.restarts.died(child.slot, self.lived(dead), self.clock())
        self.say_died(dead, wait_s)
        remove_tree(self.state.scratch(child.slot))

    def forget(self, fds: list[int]) -> None:
        """Take descriptors out of the selector; some may be out already."""
        for fd in fds:
            with suppress(KeyError):
                self.selector.unregister(fd)

    def write_down(self, dead: Dead) -> None:
        """Put the death into the spool, unless there is nothing to book."""
        child = dead.child
        left_well = dead.evidence.exit.code == 0 and child.said.bye is not None
        never_up = child.said.ready_at is None
        if child.role == "clerk" or (not dead.evidence.holding and (left_well or never_up)):
            self.state.trace(child.slot).unlink(missing_ok=True)
            return
        spool = self.booking.spool
        trace = self.state.keep_trace(child.slot, spool.next_number)
        spool.add(facts_of(dead, trace=trace))

    def lived(self, dead: Dead) -> Lived:
        """Return what counts of its life for the next start."""
        said, seen = dead.child.said, dead.evidence
        return Lived(
            lived_s=self.clock() - said.started_at,
            was_ready=said.ready_at is not None,
            jobs_done=said.jobs_done,
            blamed=seen.holding and dead.end.word in ("crashed", "timed_out"),
            as_asked=seen.exit.code == 0 and said.bye is not None and not seen.holding,
            exit_code=seen.exit.code,
        )

    def say_died(self, dead: Dead, wait_s: float) -> None:
        """Say all that is known in one event (SUP-20)."""
        level = "info" if dead.went_well else "error"
        age_s = self.clock() - dead.child.said.started_at
        told = {**told_of(dead), "age_s": round(age_s, 1), "again_s": round(wait_s, 2)}
        self.says.say(level, "child_died", told)

    def look_at_all(self) -> None:
        """Ask after every child, by level: a status may be stolen, a signal merged."""
        for child in list(self.children.values()):
            self.die(child)

    def peek(self) -> None:
        """Reap whoever has died: ours with all its rites, strangers quietly (SUP-14)."""
        while True:
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            try:
                found = os.waitid(os.P_ALL, 0, flags)
            except ChildProcessError:
                return
            if found is None:
                return
            ours = [c for c in self.children.values() if c.pid == found.si_pid]
            if ours:
                self.die(ours[0])
            else:
                with suppress(ChildProcessError):
                    os.waitpid(found.si_pid, os.WNOHANG)

    def quiet_look(self) -> None:
        """Keep the counters and strangers of a moment in which nobody is dead."""
        kills = self.grave.groups.kills()
        self.grave = replace(self.grave, oom_before=kills)

    def kill_all(self) -> None:
        """Kill every session at once: we cannot go on (SUP-15)."""
        for child in self.children.values():
            child.signal(signal.SIGKILL)
        self.look_at_all()
