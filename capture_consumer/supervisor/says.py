"""Lines on standard error that never block the loop (SUP-16, SUP-93).

JSON for machines, words for people. A reader that is dead or slow costs lines, which are
counted, and nothing else. The descriptor's own mode is left alone, since others write to
the same pipe or terminal.
"""

import json
import os
import select
import time
from collections.abc import Callable
from typing import Any

__all__ = ["Says"]

LINE_BYTES_MAX = 4096
STDERR = 2
DIM, PLAIN = "\x1b[2m", "\x1b[0m"
COLOURS = {"info": "\x1b[32m", "warning": "\x1b[33m", "error": "\x1b[31m"}
SENTENCES = {
    ("another_supervisor", "error"): "another supervisor runs here",
    ("child_died", "info"): "child left",
    ("never_came_up", "error"): "no consumer ever came up",
    ("supervisor_fault", "error"): "a fault of the supervisor's own",
}
CLERK = -1
"""The clerk's slot, which says nothing to people."""


def timestamp() -> str:
    """Return the present instant for a line; nothing is decided by it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Says:
    """Where the supervisor says what happens. `bound` is part of every JSON line."""

    def __init__(self, *, fd: int = STDERR, stamp: Callable[[], str] = timestamp) -> None:
        self.fd = fd
        self.stamp = stamp
        self.bound: dict[str, Any] = {}
        self.lost = 0
        self.last_error: str | None = None
        self.speak("auto")

    def speak(self, log_format: str) -> None:
        """Speak `console`, `json`, or `auto`: in words when it is a terminal (SUP-93)."""
        people = os.isatty(self.fd)
        self.for_people = log_format == "console" or (log_format == "auto" and people)
        self.in_colour = self.for_people and people and "NO_COLOR" not in os.environ

    def info(self, event: str, **fields: Any) -> None:
        """Say that something went its way."""
        self.say("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        """Say that a promise was kept the hard way."""
        self.say("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        """Say that something is lost or wrong."""
        self.last_error = event
        self.say("error", event, fields)

    def say(self, level: str, event: str, fields: dict[str, Any]) -> None:
        """Write one line, or count it as lost."""
        told = {name: value for name, value in fields.items() if value is not None}
        if self.lost:
            told["lines_lost"] = self.lost
        line = self.lined(level, event, told)
        if self.can_write() and self.written(line):
            self.lost = 0
        else:
            self.lost += 1

    def lined(self, level: str, event: str, told: dict[str, Any]) -> bytes:
        """Return the line: for a terminal in words, else as JSON."""
        if self.for_people:
            text = self.in_words(level, event, told)
        else:
            head = {"timestamp": self.stamp(), "level": level, "event": event}
            text = json.dumps({**head, **self.bound, **told}, default=str)
        return text.encode("utf-8", "backslashreplace")[: LINE_BYTES_MAX - 1] + b"\n"

    def in_words(self, level: str, event: str, told: dict[str, Any]) -> str:
        """Return the line as the children's own look on a terminal (logs.py)."""
        clock = self.stamp().partition("T")[2].removesuffix("Z") or self.stamp()
        if told.get("slot") == CLERK:
            told = {**told, "slot": "clerk"}
        words = " ".join(f"{name}={value}" for name, value in told.items())
        colour, dim, plain = (COLOURS[level], DIM, PLAIN) if self.in_colour else ("", "", "")
        said = SENTENCES.get((event, level), event.replace("_", " "))
        head = f"{dim}{clock}{plain} {colour}[{level:<7}]{plain}"
        return f"{head} {said:<30} {dim}{words}{plain}".rstrip()

    def can_write(self) -> bool:
        """Return whether a line fits now; a pipe that says so has room for a whole one."""
        asked = select.poll()
        asked.register(self.fd, select.POLLOUT)
        return any(happened == select.POLLOUT for _, happened in asked.poll(0))

    def written(self, line: bytes) -> bool:
        """Write the line; return whether that went well."""
        try:
            return os.write(self.fd, line) == len(line)
        except OSError:
            return False
