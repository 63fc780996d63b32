"""What this machine allows and uses: CPUs, memory, process trees (psutil).

The supervisor does not come here (it reads its own files); the command line, `doctor`
and a consumer that watches its browser do.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

__all__ = ["Machine", "Process", "consumers_fit", "look", "memory_of", "tree"]

CGROUP = Path("/sys/fs/cgroup")
KEPT_BYTES = 300 * 2**20
CONSUMER_BYTES = 700 * 2**20
MOST_CONSUMERS = 8


@dataclass(frozen=True, slots=True)
class Machine:
    """What processes of ours may use here, with the container's limits counted in.

    `cpus` may be a fraction (a quota). `memory_bytes` is the limit; `free_bytes` what is
    left of it now; `shm_bytes` the size of `/dev/shm`, or None where there is none.
    """

    cpus: float
    memory_bytes: int
    free_bytes: int
    shm_bytes: int | None


@dataclass(frozen=True, slots=True)
class Process:
    """A process that cannot be mistaken for a later one of the same pid (SUP-8)."""

    pid: int
    started_at_s: float
    name: str
    rss_bytes: int


def look(cgroup: Path = CGROUP) -> Machine:
    """Return what this machine allows now."""
    host = psutil.virtual_memory()
    limit, used = _memory_limit(cgroup), _number(cgroup / "memory.current")
    memory = min(host.total, limit or host.total)
    free = host.available if limit is None else min(host.available, limit - (used or 0))
    allowed = float(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1)
    quota = _cpu_quota(cgroup)
    shm = Path("/dev/shm")  # noqa: S108 - it is looked at, nothing is written there
    return Machine(
        cpus=min(allowed, quota or allowed),
        memory_bytes=memory,
        free_bytes=max(0, free),
        shm_bytes=psutil.disk_usage(str(shm)).total if shm.is_dir() else None,
    )


def consumers_fit(machine: Machine) -> tuple[int, str]:
    """Return how many consumers this machine bears, and why (SUP-73).

    A story often waits, so one more than there are CPUs; 700 MiB each, 300 MiB kept.
    """
    by_cpus = int(machine.cpus) + 1
    by_memory = max(0, machine.memory_bytes - KEPT_BYTES) // CONSUMER_BYTES
    count = max(1, min(by_cpus, by_memory, MOST_CONSUMERS))
    gib = machine.memory_bytes / 2**30
    why = f"{machine.cpus:g} CPUs, {gib:.1f} GiB"
    if count == MOST_CONSUMERS:
        return count, f"{why}; more than {MOST_CONSUMERS} only when told"
    return count, f"{why}: {'memory' if by_memory < by_cpus else 'CPUs'} decide"


def tree(pid: int) -> tuple[Process, ...]:
    """Return the process and all below it that live; nothing when it is gone."""
    return tuple(_living(pid))


def memory_of(pid: int) -> int:
    """Return the resident bytes of a process tree, shared pages counted more than once."""
    return sum(process.rss_bytes for process in tree(pid))


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


def _memory_limit(cgroup: Path) -> int | None:
    """Return the container's limit in bytes (cgroup v2, else v1), or None."""
    limits = (
        _number(cgroup / "memory.max"),
        _number(cgroup / "memory" / "memory.limit_in_bytes"),
    )
    return next((limit for limit in limits if limit is not None), None)


def _cpu_quota(cgroup: Path) -> float | None:
    """Return how many CPUs the container may use (cgroup v2, else v1), or None."""
    words = _words(cgroup / "cpu.max")
    if len(words) == len(("quota", "period")) and words[0].isdigit():
        return int(words[0]) / int(words[1])
    quota = _number(cgroup / "cpu" / "cpu.cfs_quota_us")
    period = _number(cgroup / "cpu" / "cpu.cfs_period_us")
    return quota / period if quota and period else None


def _number(path: Path) -> int | None:
    words = _words(path)
    return int(words[0]) if words and words[0].isdigit() else None


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="ascii").split()
    except OSError:
        return []
