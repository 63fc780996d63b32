"""Wake early when there may be work; promise nothing (JOB-162).

Polling is the contract: every wait here ends by itself, and a hint that does not
arrive costs only time. On PostgreSQL an empty NOTIFY, throttled; on SQLite a look at
`PRAGMA data_version`, which changes when another connection has committed.
"""

import threading
from contextlib import suppress
from typing import Any

import psycopg
import structlog
from sqlalchemy import Engine

from capture_consumer.clock import boot_seconds

__all__ = ["Announcer", "Hints"]

CHANNEL = "cc_jobs"
LOOK_S = 0.25
THROTTLE_S = 0.1
TRY_AGAIN_S = 30.0

log = structlog.get_logger()


class Hints:
    """Waits for a hint, for an order, or for time, whichever comes first.

    Holds one connection of its own, outside of any transaction. Behind a transaction
    pooler no notification arrives, and polling alone remains.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.is_sqlite = engine.dialect.name == "sqlite"
        self.connection: Any = None
        self.seen: int | None = None
        self.not_before_s = 0.0

    def wait(self, timeout_s: float, woken: threading.Event) -> bool:
        """Wait at most so long; return whether a hint came. `woken` ends the wait at once."""
        until_s = boot_seconds() + timeout_s
        while (left_s := until_s - boot_seconds()) > 0:
            if self.hinted(min(left_s, LOOK_S), woken):
                return True
            if woken.is_set():
                return False
        return False

    def hinted(self, at_most_s: float, woken: threading.Event) -> bool:
        """Wait a moment, then tell whether there was a hint; a fault is no hint."""
        if boot_seconds() < self.not_before_s:
            woken.wait(at_most_s)
            return False
        try:
            return self.look(at_most_s, woken)
        except Exception as error:
            log.debug("hints.away", error=str(error))
            self.close()
            self.not_before_s = boot_seconds() + TRY_AGAIN_S
            return False

    def look(self, at_most_s: float, woken: threading.Event) -> bool:
        """Look once, by the database's own means."""
        if self.is_sqlite:
            woken.wait(at_most_s)
            version = self.version()
            changed, self.seen = self.seen not in {None, version}, version
            return changed
        if self.connection is None:
            self.connection = listen(self.engine)
        return any(True for _ in self.connection.notifies(timeout=at_most_s, stop_after=1))

    def version(self) -> int:
        """Return the number that changes with every commit of others."""
        if self.connection is None:
            self.connection = self.engine.raw_connection()
            self.seen = None
        row = self.connection.cursor().execute("PRAGMA data_version").fetchone()
        return int(row[0])

    def close(self) -> None:
        """Give the connection back."""
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(Exception):
                connection.close()


def listen(engine: Engine) -> "psycopg.Connection[Any]":
    """Open a connection that hears our channel."""
    arguments = engine.dialect.create_connect_args(engine.url)[1]
    connection = psycopg.connect(**arguments, autocommit=True, connect_timeout=5)
    connection.execute(f"LISTEN {CHANNEL}")
    return connection


class Announcer:
    """Tells other processes of this database that there may be work."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.next_s = 0.0

    def tell(self) -> None:
        """Send one empty notification, at most every 100 ms; never raises.

        Call it after the commit. On SQLite the commit itself is the hint.
        """
        if self.engine.dialect.name == "sqlite" or boot_seconds() < self.next_s:
            return
        self.next_s = boot_seconds() + THROTTLE_S
        try:
            with self.engine.connect() as plain:
                told = plain.execution_options(isolation_level="AUTOCOMMIT")
                told.exec_driver_sql(f"NOTIFY {CHANNEL}")
        except Exception as error:
            log.debug("hints.not_told", error=str(error))
