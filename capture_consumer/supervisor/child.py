"""One child: start it by exec in a session of its own, read its reports, send it orders."""

import json
import os
import signal
import subprocess
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Literal

from capture_consumer.ipc import messages as say
from capture_consumer.ipc.channel import CHANNEL
from capture_consumer.ipc.frames import Frames
from capture_consumer.ipc.identity import identify
from capture_consumer.ipc.slot import Box, Label
from capture_consumer.ipc.wire import pack, report_of
from capture_consumer.supervisor.ends import Killed
from capture_consumer.supervisor.hung import Ladder
from capture_consumer.supervisor.plan import PLAN, Plan
from capture_consumer.supervisor.state import State
from capture_consumer.supervisor.watch import ChildWatch, Handle
from capture_consumer.supervisor.words import LastWords

__all__ = ["Child", "Role", "start"]

Role = Literal["consumer", "clerk"]

READ_BYTES = 65536
BACKLOG_MAX = 256
NOT_FOR_CHILDREN = frozenset(
    {
        PLAN,
        "LISTEN_FDS",
        "LISTEN_PID",
        "LISTEN_FDNAMES",
        "NOTIFY_SOCKET",
        "WATCHDOG_USEC",
        "WATCHDOG_PID",
        "WEB_CONCURRENCY",
        "SERVER_SOFTWARE",
    }
)


@dataclass(slots=True)
class Child:
    """A living child and what we know of it. `killed` is our own note of why."""

    slot: int
    role: Role
    incarnation: str
    process: subprocess.Popen[bytes]
    handle: Handle
    watch: ChildWatch
    report_fd: int
    control_fd: int
    box: Box
    said: LastWords
    frames: Frames = field(default_factory=Frames)
    ladder: Ladder = field(default_factory=Ladder)
    unsent: deque[bytes] = field(default_factory=deque)
    sent: list[int] = field(default_factory=list)
    killed: Killed | None = None
    told_to_leave: bool = False
    deaf: bool = False

    @property
    def pid(self) -> int:
        """Return its process number; it is its own until it is reaped."""
        return self.handle.pid

    @property
    def phase(self) -> str:
        """Return in one word what it does."""
        if self.said.ready_at is None:
            return "boot"
        return "busy" if self.said.holding else "idle"

    def reports(self) -> Iterator[say.Report]:
        """Yield what it reported, until reading would block; not until the end of file.

        A grandchild may hold the pipe open long after a death (SUP-18).

        Raises:
            FrameBroken: what it wrote is no frame of ours.
        """
        while True:
            try:
                data = os.read(self.report_fd, READ_BYTES)
            except BlockingIOError:
                return
            if not data:
                return
            for frame in self.frames.feed(data):
                if report := report_of(frame):
                    yield report

    def order(self, order: say.Order) -> None:
        """Send an order, now or when its pipe has room; never block.

        A child that does not read keeps a bounded backlog; its progress tells on it
        (SUP-24).
        """
        if len(self.unsent) >= BACKLOG_MAX:
            self.deaf = True
            return
        self.unsent.append(pack(order))
        self.flush()

    def flush(self) -> None:
        """Send what the pipe takes now."""
        while self.unsent:
            try:
                os.write(self.control_fd, self.unsent[0])
            except BlockingIOError:
                return
            except BrokenPipeError:
                self.unsent.clear()
                return
            self.unsent.popleft()

    def signal(self, number: int) -> None:
        """Signal it, and note that it was us."""
        self.sent.append(number)
        self.watch.send(self.handle, number)

    def kill(self, why: Killed) -> None:
        """Kill it with its whole group; what is elsewhere goes when it is buried."""
        self.killed = self.killed or why
        self.signal(signal.SIGKILL)

    def close(self) -> None:
        """Give back everything that we held for it."""
        for fd in (self.report_fd, self.control_fd, self.handle.fd):
            if fd is not None:
                os.close(fd)
        self.box.close()


def start(
    plan: Plan,
    state: State,
    incarnation: str,
    *,
    slot: int,
    role: Role,
    watch: ChildWatch,
    now: float,
) -> Child:
    """Start a child; it reports when it is up.

    Raises:
        OSError: it could not be started.
    """
    with ExitStack() as on_failure:
        box = Box(state.box(slot), fresh=True)
        on_failure.callback(box.close)
        report_fd, its_report_fd = pipe(on_failure)
        its_control_fd, control_fd = pipe(on_failure)
        told: dict[str, object] = {"slot": slot, "role": role, "incarnation": incarnation}
        told |= {"report_fd": its_report_fd, "control_fd": its_control_fd}
        told |= {"state_dir": str(state.folder), "parent": os.getpid()}
        process = execute(plan, role, told)
        on_failure.pop_all()
    for fd in (its_report_fd, its_control_fd):
        os.close(fd)
    for fd in (report_fd, control_fd):
        os.set_blocking(fd, False)
    who = identify(process.pid)
    box.label(Label(slot, role, incarnation, who.pid, who.start, who.boot, who.namespace))
    handle, said = watch.open(process.pid), LastWords(now)
    return Child(
        slot, role, incarnation, process, handle, watch, report_fd, control_fd, box, said
    )


def pipe(on_failure: ExitStack) -> tuple[int, int]:
    """Return the two ends of a pipe, to be closed should the start fail."""
    ends = os.pipe()
    for fd in ends:
        on_failure.callback(os.close, fd)
    return ends


def execute(plan: Plan, role: Role, told: Mapping[str, object]) -> subprocess.Popen[bytes]:
    """Exec the role's command in a session of its own, never by fork alone (SUP-2)."""
    argv = plan.consumer_argv if role == "consumer" else plan.clerk_argv
    assert argv, "a role without a command is not started"
    return subprocess.Popen(  # noqa: S603 - the command is the plan's
        argv,
        stdin=subprocess.DEVNULL,
        env=environment(plan, told),
        pass_fds=(int(str(told["report_fd"])), int(str(told["control_fd"]))),
        start_new_session=True,
    )


def environment(plan: Plan, told: Mapping[str, object]) -> dict[str, str]:
    """Return a child's environment: ours, without what was meant for us (SUP-3)."""
    ours = {
        name: value
        for name, value in os.environ.items()
        if name not in NOT_FOR_CHILDREN and not name.startswith("GUNICORN_")
    }
    return {**ours, "PYTHONUNBUFFERED": "1", **plan.environment, CHANNEL: json.dumps(told)}
