"""The wake-up byte: handlers that do nothing, and what came since the last look (SUP-10)."""

import os
import signal
from types import FrameType

__all__ = ["HEEDED", "Signals"]

HEEDED = (
    signal.SIGCHLD,
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGQUIT,
    signal.SIGHUP,
    signal.SIGUSR1,
    signal.SIGUSR2,
    signal.SIGTTIN,
    signal.SIGTTOU,
)
MANY_BYTES = 4096


def nothing(_number: int, _frame: FrameType | None) -> None:
    """Handle a signal: its number is in the wake-up pipe already."""


class Signals:
    """The heeded signals as bytes on a pipe."""

    def __init__(self) -> None:
        self.fd, self.write_fd = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self.write_fd, False)

    def install(self) -> None:
        """Take over the heeded signals; one that came meanwhile is not lost."""
        signal.pthread_sigmask(signal.SIG_BLOCK, HEEDED)
        # A full pipe has a byte in it, so we wake anyway; deaths are looked for by level.
        signal.set_wakeup_fd(self.write_fd, warn_on_full_buffer=False)
        for number in HEEDED:
            signal.signal(number, nothing)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HEEDED)

    def read(self) -> list[int]:
        """Return the numbers of the signals that came, oldest first."""
        try:
            return list(os.read(self.fd, MANY_BYTES))
        except BlockingIOError:
            return []

    def close(self) -> None:
        """Give the pipe back."""
        signal.set_wakeup_fd(-1)
        os.close(self.fd)
        os.close(self.write_fd)
