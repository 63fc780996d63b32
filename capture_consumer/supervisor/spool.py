"""Deaths on disk until the clerk has booked them (SUP-31).

One JSON line a death, synced before anybody is told; one line an acknowledgement. With
the database away it grows and nothing is forgotten. Read twice it says the same.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["Spool"]


class Spool:
    """The deaths that are not booked yet, by number, oldest first."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.open_deaths: dict[int, Mapping[str, Any]] = {}
        self.last = 0
        self.read()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self.fd = os.open(path, flags, 0o600)

    def read(self) -> None:
        """Take in what an earlier life left; a torn last line counts for nothing."""
        try:
            lines = self.path.read_bytes().splitlines()
        except FileNotFoundError:
            return
        for line in lines:
            try:
                told = json.loads(line)
                if "ack" in told:
                    self.open_deaths.pop(told["ack"], None)
                else:
                    self.open_deaths[int(told["n"])] = told["facts"]
                    self.last = max(self.last, int(told["n"]))
            except (ValueError, KeyError, TypeError):
                continue

    @property
    def next_number(self) -> int:
        """Return the number that the next death will have."""
        return self.last + 1

    def add(self, facts: Mapping[str, Any]) -> int:
        """Write a death down, synced; return its number."""
        self.last += 1
        self.open_deaths[self.last] = facts
        self.append({"n": self.last, "facts": facts})
        os.fsync(self.fd)
        return self.last

    def acknowledged(self, n: int) -> Mapping[str, Any] | None:
        """Drop a death that is booked; return it, None when it was not open."""
        facts = self.open_deaths.pop(n, None)
        if facts is None:
            return None
        if self.open_deaths:
            self.append({"ack": n})
        else:
            os.ftruncate(self.fd, 0)
        return facts

    def append(self, line: Mapping[str, Any]) -> None:
        """Write one line after the others; never glued to a torn one."""
        text = json.dumps(line, separators=(",", ":")).encode()
        os.write(self.fd, b"\n" + text + b"\n")

    def close(self) -> None:
        """Give the file back."""
        os.close(self.fd)
