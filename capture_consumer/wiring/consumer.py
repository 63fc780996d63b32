"""The process that works: one job at a time, until it is told to leave.

Read `run_consumer` first. What is said to the supervisor is in `reports`, what it says
in `orders`; without a supervisor the same runs until it is interrupted.
"""

import os
import random
import socket
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path

import structlog

from capture_consumer.clock import boot_seconds
from capture_consumer.consumer.cadence import Cadence
from capture_consumer.consumer.poll import Poll
from capture_consumer.consumer.work import work
from capture_consumer.database.offset import discipline
from capture_consumer.errors import BrowserUnusable, CaptureConsumerError
from capture_consumer.handlers import Handlers
from capture_consumer.ipc.channel import Channel
from capture_consumer.queues.jobs import JobsQueue
from capture_consumer.settings import Settings
from capture_consumer.wiring import open_database
from capture_consumer.wiring.booting import EXIT_CONFIGURATION, EXIT_UNFIT, Booted, boot
from capture_consumer.wiring.camera import CameraKeeper
from capture_consumer.wiring.orders import Orders
from capture_consumer.wiring.reports import Reports

__all__ = ["run_consumer"]

CLOCK_EVERY_S = 60.0
TELL_EVERY_S = 0.1

log = structlog.get_logger()


def run_consumer() -> int:
    """Work until told to leave; return the exit code of the process."""
    channel = Channel.from_environment(os.environ)
    owner = str(uuid.uuid4())
    reports = Reports(channel, boot_seconds)
    orders = Orders(reports)
    if channel is not None:
        channel.hello(owner)
        channel.listen(orders.hear)
    booted = boot(channel, "consumer", told_to_leave=orders.stopping)
    if isinstance(booted, int):
        return booted
    try:
        keeper = make_camera(booted.settings, channel)
    except CaptureConsumerError as error:
        log.error("consumer.unusable", code=error.code, error=str(error))  # noqa: TRY400
        return EXIT_CONFIGURATION
    queue = make_queue(booted, channel, owner, reports, keeper)
    orders.let_go = queue.let_go
    orders.kill_browser = keeper.kill if keeper else orders.kill_browser
    if channel is not None:
        channel.ready()
        if keeper is not None:
            keeper.watch(channel.note_browser, orders.stopping)
    try:
        make_poll(booted, queue, orders, supervised=channel is not None).run()
    except KeyboardInterrupt:
        queue.let_go()
    return leave(queue, keeper, channel)


def leave(queue: JobsQueue, keeper: CameraKeeper | None, channel: Channel | None) -> int:
    """End the browser, say why we leave, return the exit code (R4)."""
    if keeper is not None:
        keeper.close()
    if channel is not None:
        channel.bye(queue.leaving or "told to")
    return EXIT_UNFIT if queue.leaving else 0


def make_camera(settings: Settings, channel: Channel | None) -> CameraKeeper | None:
    """Check the image engine, find the browser; None where there is none.

    A consumer without a browser still plans and reduces folders of screenshots.

    Raises:
        CaptureConsumerError: what was configured cannot work.
    """
    from capture_consumer.capture.browser import find
    from capture_consumer.images.check import engine_works

    engine_works()
    scratch = channel.scratch if channel else Path(tempfile.mkdtemp(prefix="capture-"))
    try:
        return CameraKeeper(find(settings.browser, os.environ), scratch)
    except BrowserUnusable as error:
        if settings.browser is not None:
            raise
        log.warning("consumer.without_browser", error=str(error))
        return None


def make_queue(
    booted: Booted,
    channel: Channel | None,
    owner: str,
    reports: Reports,
    keeper: CameraKeeper | None,
) -> JobsQueue:
    """Return the queue of jobs, on connections of its own (JOB-166)."""
    settings = booted.settings

    def overdue() -> None:
        """Leave at once: a handler that does not end must not go on beside the next holder."""
        if keeper is not None:
            keeper.kill()
        if channel is not None:
            channel.bye("lost")
        os._exit(EXIT_UNFIT)

    return JobsQueue(
        open_database(settings, writing=False),
        clock=booted.clock,
        handlers=make_handlers(booted, keeper),
        owner=owner,
        host=socket.gethostname(),
        slot=channel.slot if channel else None,
        pid=os.getpid(),
        incarnation=channel.incarnation if channel else None,
        lease_ms=settings.lease_ms,
        touch_every_ms=settings.touch_every_ms,
        check_ms=settings.check_ms,
        max_attempts=settings.max_attempts,
        observer=reports,
        overdue=overdue,
    )


def make_handlers(booted: Booted, keeper: CameraKeeper | None) -> Handlers:
    """Return the handler of each kind: ours, and those that a setting names."""
    from capture_consumer.handlers import handlers_for
    from capture_consumer.records.facts import RowFacts

    return handlers_for(
        RowFacts(booted.engine, booted.clock),
        booted.store,
        keeper.get if keeper else None,
        clock=booted.clock,
        more=booted.settings.handlers,
    )


def make_poll(booted: Booted, queue: JobsQueue, orders: Orders, *, supervised: bool) -> Poll:
    """Return the loop, with everything it waits on."""
    from capture_consumer.database.hints import Hints

    settings, hints = booted.settings, Hints(booted.engine)

    def wait(seconds: float) -> None:
        hints.wait(seconds, orders.woken)
        orders.woken.clear()

    return Poll(
        work=one_poll(booted, queue, orders, supervised=supervised),
        wait=wait,
        elapsed=boot_seconds,
        draw=random.SystemRandom().random,
        stopping=lambda: orders.stopping.is_set() or queue.leaving is not None,
        paused=orders.rests,
        flush=flushing(booted),
        cadence=Cadence(idle_ms=settings.poll_idle_ms, active_ms=settings.poll_active_ms),
    )


def one_poll(
    booted: Booted, queue: JobsQueue, orders: Orders, *, supervised: bool
) -> Callable[[], int]:
    """Return one poll: the clock first, then a suspect if the host is ours, then work."""
    clock_due_s = boot_seconds() + CLOCK_EVERY_S

    def once() -> int:
        nonlocal clock_due_s
        if boot_seconds() >= clock_due_s:
            clock_due_s = boot_seconds() + CLOCK_EVERY_S
            discipline(booted.engine, booted.clock)
        asks = orders.looks_for_suspects and queue.suspect_waits()
        queue.granted = supervised and asks and orders.has_the_host("suspect")
        queue.alone = not supervised or queue.granted
        return work(queue, stopping=orders.draining.is_set)

    return once


def flushing(booted: Booted) -> Callable[[], None]:
    """Return what follows a commit: hooks at once, and a hint to the other processes."""
    from capture_consumer.database.hints import JOBS, announce
    from capture_consumer.queues.lifecycle import LifecycleQueue

    hooks = LifecycleQueue(booted.engine, clock=booted.clock)

    told_s = 0.0

    def flush() -> None:
        nonlocal told_s
        hooks.flush()
        if boot_seconds() - told_s >= TELL_EVERY_S:
            told_s = boot_seconds()
            announce(booted.engine, JOBS)

    return flush
