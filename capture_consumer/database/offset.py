"""How far this host's clock is from the database's (COM-2).

The database's clock is everybody's. Between two measurements it is carried by
the time since boot, so that a stepped wall clock does not matter and a suspend
counts. An SQLite database has no clock of its own; the host's is taken.
"""

from datetime import UTC, datetime, timedelta

import structlog
from sqlalchemy import Engine, func, select

from capture_consumer.clock import DisciplinedClock, WallClock, boot_seconds
from capture_consumer.database.transaction import reading

__all__ = ["discipline", "measure"]

log = structlog.get_logger()
SKEW_TOLD = timedelta(seconds=1)


def measure(engine: Engine) -> DisciplinedClock:
    """Return a clock set to the database's, by one round trip.

    Raises:
        DatabaseAway: there is no database to ask.
    """
    return DisciplinedClock(*look(engine))


def discipline(engine: Engine, clock: DisciplinedClock) -> timedelta:
    """Set the clock anew; return how far that moved it. More than 1 s is told."""
    moved = clock.discipline(*look(engine))
    if abs(moved) > SKEW_TOLD:
        log.warning("clock.skew", offset_ms=round(moved.total_seconds() * 1000))
    return moved


def look(engine: Engine) -> tuple[datetime, float]:
    """Return the database's instant, and the seconds since boot at which it was true."""
    if engine.dialect.name == "sqlite":
        return WallClock().now(), boot_seconds()
    with reading(engine) as tx:
        asked_s = boot_seconds()
        told: datetime = tx.execute(select(func.clock_timestamp())).scalar_one()
        answered_s = boot_seconds()
    return told.astimezone(UTC), (asked_s + answered_s) / 2
