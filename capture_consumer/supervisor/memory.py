"""What the control group allows, and how often it killed for memory (reads files only).

Version 2 and version 1, all ancestors that can be seen, and this process' affinity; never
the host's own number of processors (SUP-73).
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from math import floor
from pathlib import Path

__all__ = ["Allowance", "Groups", "allowance"]

MIB = 1024 * 1024
OWN_BYTES = 300 * MIB
CONSUMER_BYTES = 700 * MIB
CONSUMERS_MAX = 8
UNLIMITED = 1 << 60


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many consumers fit, and why."""

    consumers: int
    cpus: float
    memory_bytes: int

    @property
    def reasons(self) -> str:
        """Return why, for the log."""
        return f"{self.cpus:g} CPUs, {self.memory_bytes / 1024 / MIB:.1f} GiB"


def allowance(root: Path = Path("/")) -> Allowance:
    """Return the default number of consumers on this machine (SUP-73)."""
    groups = Groups(root)
    cpus = min([float(len(affinity())), *groups.cpu_quotas()])
    memory = min([host_memory(root), *groups.memory_limits()])
    fit = min(floor(cpus) + 1, (memory - OWN_BYTES) // CONSUMER_BYTES, CONSUMERS_MAX)
    return Allowance(max(1, fit), cpus, memory)


def affinity() -> set[int]:
    """Return the processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


def host_memory(root: Path) -> int:
    """Return the machine's memory in bytes: the limit where no group sets one."""
    for line in lines_of(root / "proc/meminfo"):
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    return UNLIMITED


class Groups:
    """The control groups that this process is in."""

    def __init__(self, root: Path = Path("/")) -> None:
        self.root = root
        self.mounts = dict(self.find_mounts())
        self.paths = dict(self.find_paths())

    def find_mounts(self) -> Iterator[tuple[str, tuple[Path, str]]]:
        """Yield for each controller (v2: empty name) where it is mounted, and its root."""
        for line in lines_of(self.root / "proc/self/mountinfo"):
            fields, _, rest = line.partition(" - ")
            kind, _, options = rest.partition(" ")
            place, point = fields.split()[3:5]
            where = (self.root / point.lstrip("/"), place)
            if kind == "cgroup2":
                yield "", where
            elif kind == "cgroup":
                for option in options.split()[-1].split(","):
                    yield option, where

    def find_paths(self) -> Iterator[tuple[str, str]]:
        """Yield for each controller the path of our group."""
        for line in lines_of(self.root / "proc/self/cgroup"):
            _, controllers, path = line.split(":", 2)
            for controller in controllers.split(","):
                yield controller, path

    def folders(self, controller: str) -> Iterator[Path]:
        """Yield our group's folder and its ancestors', as far as they can be seen."""
        if controller not in self.mounts or controller not in self.paths:
            return
        mount, place = self.mounts[controller]
        path = self.paths[controller]
        inside = path[len(place) :] if place != "/" and path.startswith(place) else path
        folder = mount / inside.lstrip("/")
        while folder.is_relative_to(mount):
            yield folder
            folder = folder.parent

    def cpu_quotas(self) -> Iterator[float]:
        """Yield each quota in processors."""
        for folder in self.folders(""):
            quota, _, period = text_of(folder / "cpu.max").partition(" ")
            if quota.isdecimal() and period.strip().isdecimal():
                yield int(quota) / int(period)
        for folder in self.folders("cpu"):
            quota = text_of(folder / "cpu.cfs_quota_us")
            period = text_of(folder / "cpu.cfs_period_us")
            if quota.isdecimal() and period.isdecimal():
                yield int(quota) / int(period)

    def memory_limits(self) -> Iterator[int]:
        """Yield each limit in bytes."""
        for controller, name in (("", "memory.max"), ("memory", "memory.limit_in_bytes")):
            for folder in self.folders(controller):
                limit = text_of(folder / name)
                if limit.isdecimal() and int(limit) < UNLIMITED:
                    yield int(limit)

    def kills(self) -> int | None:
        """Return how often the kernel killed for memory in our group; None: unknown."""
        for controller, name in (("", "memory.events"), ("memory", "memory.oom_control")):
            for folder in self.folders(controller):
                for line in lines_of(folder / name):
                    word, _, count = line.partition(" ")
                    if word == "oom_kill":
                        return int(count)
        return None


def text_of(path: Path) -> str:
    """Return a small file's text; empty where there is none."""
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def lines_of(path: Path) -> list[str]:
    """Return a small file's lines; none where there is none."""
    return text_of(path).splitlines()
