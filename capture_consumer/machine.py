"""What this machine has free, and the processes below one (psutil).

What it allows, and how many consumers follow from that, is `supervisor.memory`'s to say.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

__all__ = ["Machine", "Process", "look", "tree"]

SHM = Path("/dev/shm")  # noqa: S108 - it is looked at, nothing is written there


@dataclass(frozen=True, slots=True)
class Machine:
    """Sizes in bytes; `shm_bytes` is that of `/dev/shm`, None where there is none."""

    free_bytes: int
    shm_bytes: int | None


@dataclass(frozen=True, slots=True)
class Process:
    """A process that cannot be mistaken for a later one of the same pid (SUP-8)."""

    pid: int
    started_at_s: float
    name: str
    rss_bytes: int


def look(shm: Path = SHM) -> Machine:
    """Return what is free now."""
    return Machine(
        free_bytes=psutil.virtual_memory().available,
        shm_bytes=psutil.disk_usage(str(shm)).total if shm.is_dir() else None,
    )


def tree(pid: int) -> tuple[Process, ...]:
    """Return the process and all below it that live; nothing when it is gone."""
    return tuple(_living(pid))


def _living(pid: int) -> Iterator[Process]:
    try:
        top = psutil.Process(pid)
        found = [top, *top.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for one in found:
        try:
            with one.oneshot():
                if one.status() != psutil.STATUS_ZOMBIE:
                    rss = one.memory_info().rss
                    yield Process(one.pid, one.create_time(), one.name(), rss)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
