"""The child's control thread: hear orders, beat, reap orphans, notice that the parent is gone.

It calls back and does nothing else. A callback may set events and kill a browser by pid;
it must not touch anything that is bound to another thread (SUP-22).
"""

import faulthandler
import os
import select
import signal
import threading
import time
from collections.abc import Callable
from typing import IO, NoReturn, Protocol

from capture_consumer.ipc import messages as say
from capture_consumer.ipc.frames import FrameBroken, Frames
from capture_consumer.ipc.identity import processes, rss_of
from capture_consumer.ipc.wire import order_of

__all__ = ["EXIT_CHANNEL", "Line", "OnOrder", "listen"]

EXIT_CHANNEL = 71

BEAT_S = 5.0
LOOK_S = 1.0
ALONE_S = 10.0

OnOrder = Callable[[say.Order], None]


class Line(Protocol):
    """What of a channel this thread uses."""

    control_fd: int
    parent: int
    beaten_at: float
    progress: int
    browser: list[int]
    trace: IO[str]

    def beat(self, progress: int, rss: int, browser_pids: list[int]) -> None:
        """Report that we live."""
        ...

    def give_up(self) -> NoReturn:
        """Leave at once."""
        ...


def listen(channel: Line, on_order: OnOrder) -> None:
    """Start the control thread of a channel."""
    wake = -1
    if threading.current_thread() is threading.main_thread():
        wake, write = os.pipe()
        os.set_blocking(write, False)
        signal.signal(signal.SIGTERM, nothing)
        signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    arguments = (channel, on_order, wake)
    threading.Thread(target=hear, args=arguments, name="control", daemon=True).start()


def hear(channel: Line, on_order: OnOrder, wake: int) -> None:
    """Call back for each order until the parent is gone; then see that we leave."""
    frames, orphans = Frames(), Orphans()
    waiting = select.poll()
    waiting.register(channel.control_fd, select.POLLIN)
    if wake >= 0:
        waiting.register(wake, select.POLLIN)
    while os.getppid() == channel.parent:
        ready = {fd for fd, _ in waiting.poll(LOOK_S * 1000)}
        if wake in ready and signal.SIGTERM in os.read(wake, 512):
            on_order(say.Hurry())
        if channel.control_fd in ready and not obey(channel, frames, on_order):
            break
        if time.monotonic() - channel.beaten_at >= BEAT_S:
            channel.beat(channel.progress, rss_of(os.getpid()), channel.browser)
        orphans.look(time.monotonic())
    on_order(say.ParentGone())
    outlive_nobody()


def obey(channel: Line, frames: Frames, on_order: OnOrder) -> bool:
    """Hear what is on the control pipe; False at its end."""
    data = os.read(channel.control_fd, 65536)
    try:
        for frame in frames.feed(data):
            order = order_of(frame)
            if isinstance(order, say.Dump):
                faulthandler.dump_traceback(file=channel.trace, all_threads=True)
            if order is not None:
                on_order(order)
    except FrameBroken:
        channel.give_up()
    return bool(data)


class Orphans:
    """Children that were handed to us: reaped when seen as zombies twice (SUP-62).

    What our own libraries started they reap themselves, within one look.
    """

    def __init__(self) -> None:
        self.seen: set[tuple[int, int]] = set()
        self.next_s = 0.0

    def look(self, now_s: float) -> None:
        """Reap by pid what was a zombie at the last look already, 5 s ago."""
        if now_s < self.next_s:
            return
        self.next_s = now_s + BEAT_S
        us = os.getpid()
        dead = {(s.pid, s.start) for s in processes() if s.parent == us and s.state == "Z"}
        for pid, _ in dead & self.seen:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                continue
        self.seen = dead - self.seen


def outlive_nobody() -> None:
    """Give the process 10 s to leave by itself, then end its whole group (SUP-66)."""
    threading.Event().wait(ALONE_S)
    if os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(EXIT_CHANNEL)


def nothing(_number: int, _frame: object) -> None:
    """Handle a signal: the byte in the wake-up pipe says it all."""
