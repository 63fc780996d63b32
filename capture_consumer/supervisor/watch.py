"""Learn of a child's death and leave the zombie, so that its number stays its own.

With pidfds the selector wakes for each death. Without (old kernels, seccomp, macOS)
SIGCHLD wakes and every child is asked (SUP-11, SUP-12).
"""

import os
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

__all__ = ["ChildWatch", "Exit", "Handle", "PidfdWatch", "SigchldWatch", "best_watch"]


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: by code, by signal, or nobody knows (both None)."""

    code: int | None = None
    signal: int | None = None

    @property
    def is_known(self) -> bool:
        """Return whether the status reached us; another waiter may have taken it."""
        return self.code is not None or self.signal is not None


@dataclass(frozen=True, slots=True)
class Handle:
    """One child of ours: its pid and, where there are such, its pidfd."""

    pid: int
    fd: int | None = None


class ChildWatch(Protocol):
    """One way to notice deaths."""

    def open(self, pid: int) -> Handle:
        """Return a handle; its descriptor, if any, becomes readable at the death."""
        ...

    def exit_of(self, child: Handle) -> Exit | None:
        """Return how the child ended, None while it lives. It stays a zombie."""
        ...

    def send(self, child: Handle, number: int) -> None:
        """Send a signal to exactly this child, if it still lives."""
        ...


class PidfdWatch:
    """Deaths by pidfd."""

    def open(self, pid: int) -> Handle:
        """Return a handle with a pidfd, which is closed on exec."""
        return Handle(pid, os.pidfd_open(pid))

    def exit_of(self, child: Handle) -> Exit | None:
        """Ask by pidfd, without reaping."""
        assert child.fd is not None
        return asked(os.P_PIDFD, child.fd)

    def send(self, child: Handle, number: int) -> None:
        """Send by pidfd: it can reach nobody else."""
        assert child.fd is not None
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(child.fd, number)


class SigchldWatch:
    """Deaths by SIGCHLD, each child asked by pid; it is unreaped, so the pid is its own."""

    def open(self, pid: int) -> Handle:
        """Return a handle without anything to wait on."""
        return Handle(pid)

    def exit_of(self, child: Handle) -> Exit | None:
        """Ask by pid, without reaping."""
        return asked(os.P_PID, child.pid)

    def send(self, child: Handle, number: int) -> None:
        """Send by pid."""
        with suppress(ProcessLookupError):
            os.kill(child.pid, number)


def asked(kind: int, name: int) -> Exit | None:
    """Return how a child ended, None while it lives; a stolen status is unknown (SUP-19)."""
    try:
        found = os.waitid(kind, name, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return Exit()
    if found is None:
        return None
    if found.si_code == os.CLD_EXITED:
        return Exit(code=found.si_status)
    return Exit(signal=found.si_status)


def best_watch() -> ChildWatch:
    """Return pidfds where the kernel lets us have them, else the fallback."""
    if sys.platform == "linux":
        try:
            os.close(os.pidfd_open(os.getpid()))
            return PidfdWatch()
        except (OSError, AttributeError):
            pass
    return SigchldWatch()
