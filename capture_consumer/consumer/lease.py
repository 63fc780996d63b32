"""Keep a claim alive by touching it, but not too often; see a cancel and a loss in time.

A lease is kept by progress only (JOB-53). It ends on our own clock a margin before
it ends in the database, so that a holder that cannot reach the database stops by
itself before anybody else may begin (JOB-55). `LeaseKeeper.step` is the whole rule,
without a thread; `start` runs it beside the handler.
"""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

import structlog

from capture_consumer.clock import boot_seconds
from capture_consumer.consumer.job import StopWhy

__all__ = ["LeaseKeeper", "LeaseRow", "Pace", "Stop"]

log = structlog.get_logger()
NOTHING_DUE_S = 3_600.0
CLOSE_S = 5.0
SOON_S = 0.01


@dataclass(frozen=True, slots=True)
class Pace:
    """How long a lease is, and how often it is looked after. All in milliseconds."""

    lease_ms: int = 60_000
    touch_every_ms: int = 15_000
    check_ms: int = 5_000
    margin_ms: int = 5_000
    cancel_grace_ms: int = 10_000

    def __post_init__(self) -> None:
        """Refuse what could not keep a lease (COM-13)."""
        for name in ("lease_ms", "touch_every_ms", "check_ms"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        if self.touch_every_ms + self.margin_ms > self.lease_ms:
            raise ValueError("touch_every_ms and the margin of 5000 must fit into lease_ms")


class LeaseRow(Protocol):
    """The row that is held, as its keeper writes and reads it."""

    def touch(self, story: str | None) -> bool:
        """Prolong the lease by its whole length from now; False when it is not ours."""
        ...

    def check(self) -> Literal["lost", "cancelled"] | None:
        """Tell whether we have to let go."""
        ...


class Stop:
    """The signal to let a claim go: set once by whoever sees a reason first (JOB-56).

    A loss overrides the other reasons, because it alone forbids every write (JOB-57).
    """

    def __init__(self) -> None:
        self._set = threading.Event()
        self._why: StopWhy | None = None
        self._lock = threading.Lock()

    @property
    def why(self) -> StopWhy | None:
        """Return the reason, or None."""
        return self._why

    def set(self, why: StopWhy) -> None:
        """Ask the holder to let go."""
        with self._lock:
            if self._why is None or why == "lost":
                self._why = why
        self._set.set()

    def wait(self, timeout_s: float) -> StopWhy | None:
        """Wait for a reason, at most so many seconds."""
        self._set.wait(timeout_s)
        return self._why


class LeaseKeeper:
    """Looks after one lease while its handler works.

    Args:
        row: the row that is held.
        stop: is set when the lease is lost or the work cancelled.
        sent_s: `elapsed` just before the claim was sent.
        pace: lengths of time.
        elapsed: seconds on a clock that goes on while the machine is suspended.
        overdue: called once when the handler has not ended `cancel_grace_ms` after it
            was told of a loss or a cancel; the process has to go (JOB-98).
    """

    def __init__(
        self,
        row: LeaseRow,
        stop: Stop,
        *,
        sent_s: float,
        pace: Pace,
        elapsed: Callable[[], float] = boot_seconds,
        overdue: Callable[[], None] | None = None,
    ) -> None:
        self.row, self.stop, self.pace, self.elapsed = row, stop, pace, elapsed
        self._overdue = overdue
        self._good_s = sent_s
        self._touched_s = sent_s
        self._checked_s = sent_s
        self._told_s: float | None = None
        self._silent_until_s: float | None = None
        self._progress = False
        self._story: str | None = None
        self._closed = False
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def touch(self, story: str | None = None) -> None:
        """Note progress. It is written now, or when the throttle allows (JOB-51, JOB-52)."""
        with self._lock:
            self._progress = True
            self._story = story or self._story
        self._wake.set()

    def written(self, sent_s: float) -> None:
        """Note that a write of ours, sent at that time, has prolonged the lease (a save)."""
        with self._lock:
            self._good_s = max(self._good_s, sent_s)
            self._touched_s = max(self._touched_s, sent_s)
            self._progress = False

    @contextmanager
    def silent(self, *, at_most_ms: int) -> Generator[None]:
        """Touch without progress around a step known to be silent, for at most this long."""
        self._silent_until_s = self.elapsed() + at_most_ms / 1000
        self._wake.set()
        try:
            yield
        finally:
            self._silent_until_s = None
            self.touch()

    def step(self) -> float:
        """Do what is due; return the seconds until something is due again."""
        now_s = self.elapsed()
        if now_s >= self._good_s + (self.pace.lease_ms - self.pace.margin_ms) / 1000:
            self._end("lost")
        if self.stop.why != "lost":
            if self._wants_touch(now_s):
                self._write_touch(now_s)
            if now_s >= self._checked_s + self.pace.check_ms / 1000:
                self._checked_s = now_s
                self._look()
        self._tell_overdue()
        return self._until_next()

    def _wants_touch(self, now_s: float) -> bool:
        is_silent = self._silent_until_s is not None and now_s < self._silent_until_s
        is_time = now_s >= self._touched_s + self.pace.touch_every_ms / 1000
        return is_time and (self._progress or is_silent)

    def _write_touch(self, now_s: float) -> None:
        with self._lock:
            self._touched_s, self._progress = now_s, False
            story = self._story
        try:
            if self.row.touch(story):
                self._good_s = max(self._good_s, now_s)
            else:
                self._end("lost")
        except Exception as error:
            self._progress = True
            log.warning("lease.touch_failed", error=str(error))

    def _look(self) -> None:
        try:
            ended = self.row.check()
        except Exception as error:
            log.warning("lease.touch_failed", error=str(error))
            return
        if ended:
            self._end(ended)

    def _end(self, why: Literal["lost", "cancelled"]) -> None:
        self.stop.set(why)
        if self._told_s is None:
            self._told_s = self.elapsed()

    def _tell_overdue(self) -> None:
        overdue, told_s, grace_s = self._overdue, self._told_s, self.pace.cancel_grace_ms / 1000
        if overdue and told_s is not None and self.elapsed() >= told_s + grace_s:
            self._overdue = None
            overdue()

    def _until_next(self) -> float:
        now_s = self.elapsed()
        due = [now_s + NOTHING_DUE_S]
        if self._overdue and self._told_s is not None:
            due.append(self._told_s + self.pace.cancel_grace_ms / 1000)
        if self.stop.why != "lost":
            due.append(self._good_s + (self.pace.lease_ms - self.pace.margin_ms) / 1000)
            due.append(self._checked_s + self.pace.check_ms / 1000)
            if self._progress or self._silent_until_s is not None:
                due.append(self._touched_s + self.pace.touch_every_ms / 1000)
        return max(0.0, min(due) - now_s)

    def start(self) -> None:
        """Look after the lease in a thread of its own until closed."""
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._closed:
            pause_s = self.step()
            self._wake.wait(max(pause_s, SOON_S))
            self._wake.clear()

    def close(self) -> None:
        """Stop; waits for a touch under way, at most 5 s. May be called again (JOB-58)."""
        self._closed = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(CLOSE_S)
