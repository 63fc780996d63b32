"""The one source of instants: a `Clock` to inject, and the real ones.

No other module asks the operating system what time it is (COM-1). Instants
are aware datetimes in UTC; lengths of time on this host are taken from
CLOCK_BOOTTIME, which goes on while the machine is suspended (COM-2).
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

__all__ = ["Clock", "DisciplinedClock", "WallClock", "boot_seconds"]


class Clock(Protocol):
    """Whoever needs an instant is handed one of these."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC, in whole milliseconds."""
        ...


def boot_seconds() -> float:
    """Return seconds since boot, suspend included; only differences mean anything."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


def whole_ms(instant: datetime) -> datetime:
    """Return the instant cut to milliseconds, the finest that both databases keep."""
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


class WallClock:
    """This host's own clock, for programs that have no database."""

    def now(self) -> datetime:
        """Return the present instant by this host."""
        return whole_ms(datetime.now(UTC))  # noqa: TID251 - the one place


@dataclass(slots=True)
class DisciplinedClock:
    """A clock held to the database's: set at a measurement, carried by boot time.

    A stepped wall clock does not move it, and a suspend counts (COM-2).
    """

    anchor_at: datetime
    anchor_s: float
    elapsed: Callable[[], float] = boot_seconds

    def now(self) -> datetime:
        """Return the present instant by the database's clock."""
        return whole_ms(self.anchor_at + timedelta(seconds=self.elapsed() - self.anchor_s))

    def discipline(self, measured_at: datetime, at_s: float) -> timedelta:
        """Take a new measurement; return how far it moves this clock.

        Args:
            measured_at: the database's instant.
            at_s: `boot_seconds` at the middle of the round trip.
        """
        moved = measured_at - (self.anchor_at + timedelta(seconds=at_s - self.anchor_s))
        self.anchor_at, self.anchor_s = measured_at, at_s
        return moved
