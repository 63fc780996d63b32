"""The child's end of the wire: reports go out by one `write` each, from any thread.

What is in hand is written to the black box first, then to the pipe, both before it
begins. Orders come in on a thread of their own (`control`).
"""

import faulthandler
import json
import os
import select
import signal
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NoReturn

from capture_consumer.ipc import control, messages as say
from capture_consumer.ipc.control import EXIT_CHANNEL, OnOrder
from capture_consumer.ipc.identity import stat_of, take_in_orphans
from capture_consumer.ipc.slot import Box, Words
from capture_consumer.ipc.wire import pack

__all__ = ["CHANNEL", "CLERK_SLOT", "Channel", "slot_name"]

CHANNEL = "CAPTURE_CHANNEL"
CLERK_SLOT = -1
WRITE_DEADLINE_S = 10.0
FIRST_STORY_S = 60.0
LAST_RESORT_S = 30.0


def slot_name(slot: int) -> str:
    """Return the name that a slot's files begin with."""
    return "clerk" if slot == CLERK_SLOT else str(slot)


class Channel:
    """A child's line to its supervisor. All methods may be called from any thread."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.report_fd: int = told["report_fd"]
        self.control_fd: int = told["control_fd"]
        self.slot: int = told["slot"]
        self.role: str = told["role"]
        self.incarnation: str = told["incarnation"]
        self.state_dir = Path(told["state_dir"])
        self.parent: int = told.get("parent", os.getppid())
        name = slot_name(self.slot)
        self.trace_path = self.state_dir / "slots" / f"{name}.trace"
        self.scratch = self.state_dir / "tmp" / name
        self.box = Box(self.state_dir / "slots" / f"{name}.box")
        self.trace: IO[str] = self.trace_path.open("w", encoding="utf-8")
        self.words = Words()
        self.order_of_words = threading.Lock()
        self.beats = 0
        self.progress = 0
        self.browser: list[int] = []
        self.deadline_s = FIRST_STORY_S
        self.beaten_at = 0.0

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Channel | None":
        """Return the channel that the parent left us; None when started by hand.

        Call it first: it makes the passed descriptors ours alone (SUP-3), has fatal
        errors write all stacks to the trace file, and takes in orphans (SUP-62).
        """
        text = environ.get(CHANNEL)
        if not text:
            return None
        channel = cls(json.loads(text))
        for fd in (channel.report_fd, channel.control_fd):
            os.set_inheritable(fd, False)  # noqa: FBT003 - takes no name
            os.set_blocking(fd, False)
        faulthandler.enable(file=channel.trace, all_threads=True)
        faulthandler.register(signal.SIGUSR1, file=channel.trace, all_threads=True)
        take_in_orphans()
        return channel

    # Reports.

    def hello(self, owner: str) -> None:
        """Say who we are; `owner` is the name under which this process claims."""
        from capture_consumer import __version__  # noqa: PLC0415

        self.keep(phase="boot", owner=owner)
        self.send(say.Hello(os.getpid(), owner, {"capture_consumer": __version__}))

    def ready(self) -> None:
        """Say that we can claim."""
        self.keep(phase="idle")
        self.send(say.Ready())

    def claim(
        self,
        job_id: str,
        attempt: int,
        *,
        kind: str,
        step: str | None = None,
        build_id: int | None = None,
        shard_id: int | None = None,
        suspect: bool = False,
    ) -> None:
        """Say, after the claim committed and before the work, what is held."""
        words = self.keep(
            phase="claimed",
            job=job_id,
            attempt=attempt,
            kind=kind,
            step=step,
            build=build_id,
            shard=shard_id,
        )
        self.arm(FIRST_STORY_S)
        self.send(
            say.Claim(job_id, attempt, kind, step, build_id, shard_id, suspect, words.seq)
        )

    def story(
        self,
        snapshot_id: int | None,
        story: str | None,
        index: int = 0,
        of: int = 0,
        deadline_s: float = 120.0,
    ) -> None:
        """Say which story begins, before it begins; None: none is in hand any more."""
        words = self.keep(phase="story", snapshot=snapshot_id, story=story)
        self.arm(deadline_s)
        self.send(say.Story(snapshot_id, story, index, of, deadline_s, words.seq))

    def settled(self, job_id: str, attempt: int, end: str) -> None:
        """Say, after the commit, that the attempt has ended."""
        self.send(say.Settled(job_id, attempt, end, self.let_go().seq))

    def released(self, job_id: str, attempt: int) -> None:
        """Say, after the commit, that the job was given back uncounted."""
        self.send(say.Released(job_id, attempt, self.let_go().seq))

    def touched(self) -> None:
        """Say, by the next beat, that the work gets on; arms the last resort again."""
        self.keep()
        if self.words.job is not None:
            self.arm(self.deadline_s)

    def beat(self, progress: int, rss: int, browser_pids: list[int]) -> None:
        """Say that we live and how far we are; dropped when the pipe is full.

        The control thread beats by itself; this is for whoever knows more.
        """
        if progress > self.progress and self.words.job is not None:
            self.arm(self.deadline_s)
        self.progress = max(progress, self.progress)
        self.note_browser(browser_pids)
        self.beats += 1
        self.beaten_at = time.monotonic()
        beat = say.Beat(self.beats, self.progress, rss, 0, tuple(browser_pids[:64]))
        self.send(beat, may_block=False)

    def note_browser(self, pids: list[int]) -> None:
        """Keep in the box which processes are the browser's, should all else die."""
        self.browser = pids
        stats = [stat for pid in pids if (stat := stat_of(pid))]
        self.box.write_tree([(stat.pid, stat.start) for stat in stats])

    def alone(self, job_id: str) -> None:
        """Ask for the host: the candidate is a suspect (SUP-41)."""
        self.send(say.Alone(job_id))

    def paused(self) -> None:
        """Answer PAUSE: we hold nothing, and claim nothing until RESUME."""
        self.send(say.Paused())

    def ack(self, n: int) -> None:
        """Say that death n is booked; 0: what earlier incarnations left open is."""
        self.send(say.Ack(n))

    def bye(self, reason: str) -> None:
        """Say, last thing, why we leave; a TERM that comes too late ends nothing any more.

        The interpreter gives signals their defaults back while it ends, but for ignored ones.
        """
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.keep(phase="bye")
        self.send(say.Bye(reason))

    def listen(self, on_order: OnOrder) -> None:
        """Start the control thread; `on_order` is called on it, for each order.

        Called on the main thread it also turns SIGTERM into `Hurry`.
        """
        control.listen(self, on_order)

    # How it is done.

    def keep(self, **changed: Any) -> Words:
        """Write new words to the box, before anything is sent (SUP-23)."""
        with self.order_of_words:
            at_s = time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))
            self.words = replace(self.words, seq=self.words.seq + 1, at_s=at_s, **changed)
            self.box.write(self.words)
            self.progress += 1
            return self.words

    def let_go(self) -> Words:
        """Write that nothing is held."""
        faulthandler.cancel_dump_traceback_later()
        nothing_held = dict.fromkeys(
            ("job", "attempt", "step", "build", "shard", "snapshot", "story")
        )
        return self.keep(phase="idle", kind="", **nothing_held)

    def arm(self, deadline_s: float) -> None:
        """Set the last resort: it needs no lock of the interpreter and no parent (SUP-69)."""
        self.deadline_s = deadline_s
        faulthandler.dump_traceback_later(
            deadline_s + LAST_RESORT_S, exit=True, file=self.trace
        )

    def send(self, report: say.Report, *, may_block: bool = True) -> None:
        """Write one frame; a parent that does not read for 10 s is stuck: leave (SUP-24)."""
        data = pack(report)
        until = time.monotonic() + WRITE_DEADLINE_S
        while True:
            try:
                os.write(self.report_fd, data)
            except BlockingIOError:
                if not may_block:
                    return
            except BrokenPipeError:
                return  # The control thread sees the end, too, and acts.
            else:
                return
            left_s = until - time.monotonic()
            if left_s <= 0:
                self.give_up()
            select.select([], [self.report_fd], [], left_s)

    def give_up(self) -> NoReturn:
        """Leave at once: the channel is of no use any more."""
        faulthandler.dump_traceback(file=self.trace, all_threads=True)
        os._exit(EXIT_CHANNEL)
