"""Which process is meant: its number comes again, its start time does not (SUP-8).

A process is told by boot, pid namespace, pid and start time. Where there is no
`/proc` (macOS, for development) the start time is unknown and nothing matches, so
nothing is killed by mistake.
"""

import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "ProcessId",
    "Stat",
    "boot_id",
    "identify",
    "is_alive",
    "pid_namespace",
    "processes",
    "rss_of",
    "stat_of",
    "take_in_orphans",
]

PR_SET_CHILD_SUBREAPER = 36


@dataclass(frozen=True, slots=True)
class ProcessId:
    """One process for ever. `start` is in clock ticks since boot; 0 means unknown."""

    pid: int
    start: int
    boot: str
    namespace: str


@dataclass(frozen=True, slots=True)
class Stat:
    """What `/proc/<pid>/stat` says and we need."""

    pid: int
    state: str
    parent: int
    group: int
    session: int
    start: int


def boot_id() -> str:
    """Return what tells this boot of the kernel from all others; empty where unknown."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def pid_namespace() -> str:
    """Return the name of our pid namespace; empty where unknown."""
    try:
        return str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return ""


def stat_of(pid: int) -> Stat | None:
    """Return a process' line, None when there is no such process (or no `/proc`)."""
    try:
        fd = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        line = os.read(fd, 1024)
    except OSError:
        return None
    finally:
        os.close(fd)
    # The name stands in parentheses and may itself hold spaces and parentheses.
    after_name = line[line.rfind(b")") + 2 :].split()
    state, parent, group, session = after_name[:4]
    return Stat(pid, state.decode(), int(parent), int(group), int(session), int(after_name[19]))


def identify(pid: int) -> ProcessId:
    """Return who has this number now."""
    stat = stat_of(pid)
    return ProcessId(pid, stat.start if stat else 0, boot_id(), pid_namespace())


def is_alive(who: ProcessId) -> bool:
    """Return whether exactly this process still runs; a zombie does not."""
    stat = stat_of(who.pid)
    return (
        stat is not None
        and stat.state not in "ZX"
        and stat.start == who.start != 0
        and who.boot == boot_id()
        and who.namespace == pid_namespace()
    )


def processes() -> Iterator[Stat]:
    """Yield the line of every process that can be seen."""
    try:
        names = os.listdir("/proc")  # noqa: PTH208 - read once a death; strings are enough
    except OSError:
        return
    for name in names:
        if name.isdecimal() and (stat := stat_of(int(name))):
            yield stat


def rss_of(pid: int) -> int:
    """Return a process' resident bytes; 0 where unknown."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def take_in_orphans() -> bool:
    """Have orphans of our subtree become our children; return whether that works here.

    It holds across exec and is not inherited by children (SUP-62, SUP-63).
    """
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return bool(libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False
