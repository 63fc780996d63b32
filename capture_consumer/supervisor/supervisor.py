"""The loop: wake, read, bury, run what is due, and set right what is missing (section 3).

Begin at `Supervisor.turn`. Every wait has a deadline; an exception in one event is
caught, said and counted, and too many of them end the supervisor with all its children.
"""

import os
import selectors
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable
from typing import Any

from capture_consumer.ipc.channel import CLERK_SLOT
from capture_consumer.ipc.identity import take_in_orphans
from capture_consumer.supervisor.booking import Booking
from capture_consumer.supervisor.child import Child
from capture_consumer.supervisor.crew import Crew
from capture_consumer.supervisor.drain import Drain
from capture_consumer.supervisor.earlier import Earlier
from capture_consumer.supervisor.health_file import HealthFile
from capture_consumer.supervisor.leaving import Leaving
from capture_consumer.supervisor.manning import Manning
from capture_consumer.supervisor.plan import Plan
from capture_consumer.supervisor.restart import EXIT_CONFIGURATION, Restarts
from capture_consumer.supervisor.says import Says
from capture_consumer.supervisor.signals import Signals
from capture_consumer.supervisor.spool import Spool
from capture_consumer.supervisor.state import State
from capture_consumer.supervisor.upkeep import Upkeep, draw
from capture_consumer.supervisor.watch import best_watch

__all__ = ["EXIT_FAULT", "EXIT_HELD", "Supervisor"]

EXIT_FAULT = 70
EXIT_HELD = 75
TICK_S = 1.0
FAULTS_MAX = 20
FAULTS_PERIOD_S = 60.0
EARLIER_LOOK_S = 0.05


class Supervisor:
    """One incarnation of the supervisor of one folder."""

    def __init__(
        self,
        plan: Plan,
        state: State,
        *,
        says: Says,
        signals: Signals,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.plan, self.state, self.says, self.signals = plan, state, says, signals
        self.clock = clock
        self.incarnation = os.urandom(8).hex()
        self.selector = selectors.DefaultSelector()
        self.selector.register(signals.fd, selectors.EVENT_READ, ("signals", None))
        self.booking = Booking(Spool(state.folder / "spool.jsonl"), state.folder)
        bucket = plan.consumers + plan.pace.spare_starts
        self.restarts = Restarts(starts_a_minute=bucket, now=clock(), draw=draw)
        self.crew = Crew(
            plan,
            state,
            self.incarnation,
            says=says,
            watch=best_watch(),
            selector=self.selector,
            booking=self.booking,
            restarts=self.restarts,
            clock=clock,
        )
        self.upkeep = Upkeep(self.crew)
        self.health = HealthFile(state.folder / "health.json", self.crew)
        self.earlier = Earlier(state, self.incarnation, term_s=plan.pace.old_term_s)
        self.manning = Manning(self.crew, now=clock())
        self.leaving: Leaving | None = None
        self.faults: deque[float] = deque(maxlen=FAULTS_MAX)
        self.next_look = 0.0
        self.old: tuple[str, ...] = ()

    def run(self) -> int:
        """Supervise until a drain is over or nothing can be done; return the exit code."""
        take_in_orphans()
        self.say_who()
        self.crew.debris.remember(self.crew.pids())
        self.earlier.begin(self.clock())
        code = None
        while code is None:
            code = self.turn()
        self.close()
        return code

    def say_who(self) -> None:
        """Leave our name, and those whose attempts may still be open."""
        before = self.state.read()
        known = [*before.get("earlier", []), before.get("incarnation")]
        self.old = tuple(dict.fromkeys(one for one in known if isinstance(one, str)))[-100:]
        self.write_name()
        self.says.bound["incarnation"] = self.incarnation
        self.says.info(
            "supervisor_started",
            pid=os.getpid(),
            consumers=self.manning.wanted,
            grace_s=self.plan.grace_s,
            because=self.plan.reasons or None,
        )

    def write_name(self) -> None:
        """Write who we are, and whom the clerk has not yet booked."""
        told = {"pid": os.getpid(), "incarnation": self.incarnation, "earlier": self.old}
        self.state.write(told)

    def turn(self) -> int | None:
        """Go round once; return the exit code when it is over."""
        for key, _ in self.selector.select(self.wait_s()):
            self.guarded(self.happened, *key.data)
        code = self.guarded(self.do_what_is_due)
        if (
            len(self.faults) == FAULTS_MAX
            and self.faults[-1] - self.faults[0] < FAULTS_PERIOD_S
        ):
            self.crew.kill_all()
            return EXIT_FAULT
        return code

    def guarded(self, do: Callable[..., int | None], *args: Any) -> int | None:
        """Do one thing; a fault of ours is said and counted, and ends nothing else."""
        try:
            return do(*args)
        except Exception:
            self.faults.append(self.clock())
            self.says.error("supervisor_fault", trace=traceback.format_exc(-4))
            return None

    def happened(self, what: str, child: Child | None) -> None:
        """Take in one event."""
        if what == "signals":
            for number in self.signals.read():
                self.guarded(self.signalled, number)
        elif child is not None and self.crew.has(child):
            # One that was buried a moment ago has no descriptors any more.
            self.crew.die(child) if what == "death" else self.crew.read(child)

    def signalled(self, number: int) -> None:
        """Heed one signal (section 15)."""
        match number:
            case signal.SIGCHLD:
                self.crew.peek()
            case signal.SIGTERM | signal.SIGINT | signal.SIGQUIT:
                self.stop(number)
            case signal.SIGHUP:
                self.upkeep.recycler.ask([*range(self.manning.wanted), CLERK_SLOT])
            case signal.SIGUSR1:
                self.say_state()
            case signal.SIGTTIN | signal.SIGTTOU:
                self.manning.want(1 if number == signal.SIGTTIN else -1)
            case _:
                return  # USR2 is heeded so that it does not end us.

    def stop(self, number: int) -> None:
        """Begin to drain, or take a further signal in."""
        now = self.clock()
        if self.leaving is None:
            self.leaving = Leaving(self.crew, Drain(self.plan.grace_s, by=number, now=now))
            self.leaving.begin()
        else:
            self.leaving.drain.signalled(number, now)
        if number == signal.SIGQUIT:
            self.leaving.dump()

    def do_what_is_due(self) -> int | None:
        """Run the timers and set right what is missing; return the code at the end."""
        now = self.clock()
        if now >= self.next_look:
            self.next_look = now + TICK_S
            self.crew.look_at_all()
            self.crew.quiet_look()
        self.crew.debris.second_look(self.crew.pids(), now)
        self.upkeep.look(now, draining=self.leaving is not None)
        cleared = self.clear_up(now)
        self.crew.book()
        self.health.look(now, state=self.state_word, drain_left_s=self.drain_left_s(now))
        if self.leaving:
            self.leaving.look(now)
            return self.exit_code() if self.leaving.is_over else None
        if cleared and self.manning.look(now, booked=self.booking.old_booked):
            self.stop(signal.SIGTERM)
        return None

    def exit_code(self) -> int:
        """Return how a drain that is over went (section 15)."""
        if self.manning.gave_up:
            return EXIT_CONFIGURATION
        return int(self.crew.had_to_kill)

    def clear_up(self, now: float) -> bool:
        """See what earlier incarnations left gone, then have it booked (SUP-33)."""
        if not self.earlier.is_done and self.earlier.look(self.booking.spool, now):
            self.booking.end_old(self.old)
        if self.booking.old_booked and self.old:
            self.old = ()
            self.write_name()
        return self.earlier.is_done

    def wait_s(self) -> float:
        """Return how long nothing is due."""
        now = self.clock()
        times = [self.next_look, self.upkeep.next_at(), self.crew.debris.look_again_at]
        if self.leaving is not None:
            times.append(self.leaving.next_at(now))
        else:
            times += self.manning.due()
        if not self.earlier.is_done:
            times.append(now + EARLIER_LOOK_S)
        later = [at - now for at in times if at is not None and at > now]
        return min([TICK_S, *later])

    @property
    def state_word(self) -> str:
        """Return in one word what we do."""
        if self.leaving is not None:
            return "draining"
        return "running" if self.crew.ever_ready else "starting"

    def drain_left_s(self, now: float) -> float | None:
        """Return how much of the grace is left, None when nobody drains."""
        return round(self.leaving.drain.end_at - now, 1) if self.leaving else None

    def say_state(self) -> None:
        """Say how things stand (SIGUSR1)."""
        slots = [f"{child.slot}:{child.phase}" for child in self.crew.children.values()]
        self.says.info("state", state=self.state_word, slots=slots)

    def close(self) -> None:
        """Say the last word and give everything back."""
        self.crew.debris.second_look(self.crew.pids(), float("inf"))
        self.health.write(self.clock(), state="gone", drain_left_s=None)
        self.says.info("supervisor_left", deaths=self.crew.deaths, killed=self.crew.had_to_kill)
        self.selector.close()
        self.booking.spool.close()
        self.state.unlock()
