"""The clerk's process: books and sweeps on its main thread, the lifecycle beside them."""

import os
import random
from contextlib import suppress
from datetime import timedelta

import structlog

from capture_consumer.clerk.beat import Pulse
from capture_consumer.clerk.books import Books, Ledger, Timer
from capture_consumer.clerk.clerk import Clerk, Loop
from capture_consumer.clerk.heard import Heard
from capture_consumer.clerk.sweep import Chore, Sweep
from capture_consumer.clock import boot_seconds
from capture_consumer.consumer.budget import Limits
from capture_consumer.database.offset import discipline
from capture_consumer.ipc.channel import Channel
from capture_consumer.wiring.booting import Booted, boot

__all__ = ["run_clerk"]

REAP_S = 15.0
BEAT_S = 10.0
CLOCK_S = 60.0
LIFECYCLE_S = 15.0
MEND_MS = 60_000
JUMP = timedelta(seconds=2)

log = structlog.get_logger()


def run_clerk() -> int:
    """Keep the books until told to leave; return the exit code of the process."""
    channel = Channel.from_environment(os.environ)
    if channel is None:
        raise SystemExit("a clerk is started by `capture-consumer start`")
    channel.hello("")
    heard = Heard()
    channel.listen(heard.hear)
    booted = boot(channel, "clerk", told_to_leave=heard.leaving)
    if isinstance(booted, int):
        return booted
    books = make_books(booted, channel, heard)
    pulse = make_pulse(booted, channel, books)
    books.timers.append(Timer(BEAT_S, pulse.beat))
    channel.ready()
    Clerk(books, make_loops(booted)).run()
    with suppress(Exception):
        pulse.leave()
    channel.bye("told to")
    return 0


def make_books(booted: Booted, channel: Channel, heard: Heard) -> Books:
    """Return the books with their timers: clock, beat, reap and chores."""
    from capture_consumer.records.mending import mend

    engine, clock = booted.engine, booted.clock
    limits = Limits(failures=booted.settings.max_attempts)
    ledger = Ledger(engine, clock, booted.store, channel.state_dir / "slots", limits)
    books = Books(ledger, channel.ack, boot_seconds, heard=heard)
    reaps = Reaps(booted, limits)
    chores = {"mend": Chore(MEND_MS, lambda: mend(engine, now=clock.now()))}
    sweep = Sweep(engine, clock, reaps.reap, chores)
    # Clerks that start together drift apart (JOB-160).
    period_s = REAP_S * random.SystemRandom().uniform(1.0, 1.2)
    books.timers += [
        Timer(CLOCK_S, reaps.set_clock, boot_seconds() + CLOCK_S),
        Timer(period_s, lambda: books.draining.is_set() or sweep.run()),
    ]
    return books


def make_pulse(booted: Booted, channel: Channel, books: Books) -> Pulse:
    """Return what says that this supervisor is up."""
    return Pulse(
        booted.engine,
        booted.clock,
        channel.incarnation,
        booted.clock.now(),
        channel.state_dir / "health.json",
        books.draining,
    )


class Reaps:
    """The reap, and the pause after a jump of the clock (JOB-153)."""

    def __init__(self, booted: Booted, limits: Limits) -> None:
        self.booted, self.limits = booted, limits
        self.not_before_s = 0.0

    def set_clock(self) -> None:
        """Hold the clock to the database's; after a jump reap nothing for a whole lease."""
        moved = discipline(self.booted.engine, self.booted.clock)
        if abs(moved) > JUMP:
            self.not_before_s = boot_seconds() + self.booted.settings.lease_ms / 1000

    def reap(self) -> int:
        """End late attempts; return how many."""
        from capture_consumer.records.reaping import reap

        if boot_seconds() < self.not_before_s:
            return 0
        return reap(self.booted.engine, now=self.booted.clock.now(), limits=self.limits)


def make_loops(booted: Booted) -> list[Loop]:
    """Return the light queues' loops. A sweep goes round in full batches by itself."""
    from capture_consumer.queues.lifecycle import LifecycleQueue

    lifecycle = LifecycleQueue(booted.engine, clock=booted.clock)

    def sweep() -> bool:
        lifecycle.tick()
        return False

    return [Loop("lifecycle", LIFECYCLE_S, sweep)]
