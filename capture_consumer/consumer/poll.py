"""The one loop: work, wait or be woken, flush, stop.

Polling is the contract, wake-ups only shorten a wait (JOB-162). Everything that
waits, tells time or is random is handed in, so that a test runs it in no time.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import structlog

from capture_consumer.consumer.cadence import Cadence
from capture_consumer.consumer.job import Backoff
from capture_consumer.consumer.retry import delay_ms

__all__ = ["Poll"]

log = structlog.get_logger()
AFTER_ERRORS = Backoff(base_ms=1_000, max_ms=60_000)
DEFAULT = Cadence()


def nothing() -> None:
    """Do nothing."""


def no() -> bool:
    """Return False."""
    return False


@dataclass(slots=True)
class Poll:
    """Call `work` again and again until asked to stop.

    Args:
        work: one poll; returns how many rows there were.
        wait: waits that many seconds or until woken; returns early on a stop.
        elapsed: seconds, of which only differences mean anything.
        draw: uniform in [0, 1).
        stopping: true once no more may be claimed.
        paused: true while nothing may be claimed; asked again after each wait (SUP-41).
        flush: called after each poll that found work (LIFE-11); must not raise.
    """

    work: Callable[[], int]
    wait: Callable[[float], object]
    elapsed: Callable[[], float]
    draw: Callable[[], float]
    stopping: Callable[[], bool]
    paused: Callable[[], bool] = no
    flush: Callable[[], None] = nothing
    cadence: Cadence = DEFAULT
    last_error: str | None = None
    last_poll_s: float | None = None
    seen_s: float | None = field(default=None, init=False)
    errors: int = field(default=0, init=False)

    def run(self) -> None:
        """Poll until stopped. A poll under way is finished first."""
        while not self.stopping():
            found = 0 if self.paused() else self.once()
            if not found and not self.stopping():
                self.wait(self.delay_ms() / 1000)

    def once(self) -> int:
        """Poll once; an error is told, never raised (JOB-26)."""
        self.last_poll_s = self.elapsed()
        try:
            found = self.work()
        except Exception as error:
            self.errors += 1
            self.last_error = str(error) or type(error).__name__
            log.exception("queue.poll_failed", errors=self.errors)
            return 0
        self.errors, self.last_error = 0, None
        if found:
            self.seen()
            self.flush()
        return found

    def seen(self) -> None:
        """Note that there is work: found by a poll, or enqueued by this process (JOB-21)."""
        self.seen_s = self.elapsed()

    def delay_ms(self) -> int:
        """Return the wait before the next poll, in milliseconds."""
        since = None if self.seen_s is None else (self.elapsed() - self.seen_s) * 1000
        pace = self.cadence.delay_ms(since, self.draw())
        if not self.errors:
            return pace
        return max(pace, delay_ms(AFTER_ERRORS, self.errors - 1))
