"""Waiting for a build, with everything that moves shown on standard error.

On a terminal it is one line that is redrawn; in a pipe a plain line at each change of
phase and every 10 s. The wait reads; it never holds a transaction or a lock.
"""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import timedelta
from types import TracebackType

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from capture_consumer.builds.facts import BuildFact
from capture_consumer.builds.phases import ENDS
from capture_consumer.cli import screen
from capture_consumer.cli.door import Books
from capture_consumer.clock import boot_seconds
from capture_consumer.database.transaction import reading
from capture_consumer.errors import DatabaseAway, NotFound
from capture_consumer.tables import supervisors

__all__ = ["NO_CONSUMER", "Bar", "Pace", "watch"]

LOOK_S = 0.5
LINE_S = 10.0
AWAY_S = 60.0
HINT_S = 4.0
UP = timedelta(seconds=60)
RATE_S = 10.0
NO_CONSUMER = "No consumer is running: start one with `capture-consumer start`"

Wait = Callable[[float], object]
Elapsed = Callable[[], float]


class Pace:
    """How fast a count grew in the last 10 s."""

    def __init__(self) -> None:
        self.seen: deque[tuple[float, int]] = deque()

    def per_second(self, at_s: float, count: int) -> float | None:
        """Return the pace now; None before there is one."""
        self.seen.append((at_s, count))
        while len(self.seen) > 2 and at_s - self.seen[0][0] > RATE_S:  # noqa: PLR2004
            self.seen.popleft()
        first_s, first = self.seen[0]
        return (count - first) / (at_s - first_s) if at_s > first_s and count > first else None


class Bar(AbstractContextManager["Bar"]):
    """One line that says how far something is: redrawn on a terminal, else told at times."""

    def __init__(self, what: str, elapsed: Elapsed = boot_seconds) -> None:
        self.elapsed = elapsed
        self.console = screen.err()
        self.live = self.console.is_terminal
        self.told = ""
        self.told_s = 0.0
        columns = (
            SpinnerColumn(style="cyan"),
            TextColumn("{task.description:<12}"),
            BarColumn(bar_width=28, complete_style="cyan", finished_style="green"),
            TextColumn("{task.fields[counted]}"),
            TextColumn("{task.fields[note]}", style="dim", markup=False),
        )
        self.progress = Progress(
            *columns, console=self.console, transient=True, disable=not self.live
        )
        self.task = self.progress.add_task(what, total=None, counted="", note="")

    def __enter__(self) -> "Bar":
        self.progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.progress.stop()

    def say(self, text: str, style: str) -> None:
        """Say something that stays; the line moves below it."""
        self.progress.console.print(Text(text, style))

    def put(self, what: str, done: int, total: int, note: str = "") -> None:
        """Say what is done now, and how much of it."""
        counted = f"{done:,}/{total:,}" if total else ""
        if self.live:
            self.progress.update(
                self.task,
                description=what,
                completed=done,
                total=total or None,
                counted=counted,
                note=note,
            )
            return
        now_s = self.elapsed()
        if what != self.told or now_s - self.told_s >= LINE_S:
            self.told, self.told_s = what, now_s
            screen.say(" ".join(part for part in (what, counted, note) if part))


def watch(
    books: Books,
    build_id: int,
    *,
    timeout_s: float | None = None,
    wait: Wait | None = None,
    elapsed: Elapsed = boot_seconds,
) -> BuildFact:
    """Return the build when it has ended, or as it is when the time has run out.

    A database that goes away for less than a minute is waited for.

    Raises:
        DatabaseAway: it was away for longer.
    """
    pause, pace = wait or threading.Event().wait, Pace()
    began_s = good_s = elapsed()
    hinted = False
    with Bar("waiting", elapsed) as line:
        while True:
            now_s = elapsed()
            try:
                build = _look(books, build_id)
                if build.phase in ENDS or (
                    timeout_s is not None and now_s - began_s >= timeout_s
                ):
                    return build
                _put(line, books, build, pace, now_s)
                if not hinted and now_s - began_s >= HINT_S and _nobody_is_up(books):
                    line.say(NO_CONSUMER, "yellow")
                    hinted = True
                good_s = now_s
            except DatabaseAway:
                if now_s - good_s >= AWAY_S:
                    raise
                line.put("waiting", 0, 0, "the database does not answer; trying again")
            pause(LOOK_S)


def _look(books: Books, build_id: int) -> BuildFact:
    build = books.facts.build(build_id)
    if build is None:
        raise NotFound("the build is gone")
    return build


def _put(line: Bar, books: Books, build: BuildFact, pace: Pace, now_s: float) -> None:
    done, total, errored, *_ = books.facts.progress(build.id)
    rate = pace.per_second(now_s, done)
    notes = [f"{errored} errored"] if errored else []
    notes += [f"{rate:.1f}/s"] if rate and build.phase == "capturing" else []
    line.put(build.phase, done, total, ", ".join(notes))


def _nobody_is_up(books: Books) -> bool:
    now = books.clock.now()
    with reading(books.engine) as tx:
        return not any(now - row.beat_at < UP for row in supervisors.listing(tx))
