"""NOTIFY and data_version: wake early, promise nothing (JOB-162).

Polling is the contract. Whoever waits here waits as long as the cadence says, and
less when a commit of somebody else is heard of. PostgreSQL: an empty NOTIFY, heard
on a connection of its own. SQLite: a look at `PRAGMA data_version`, four a second.
"""

import contextlib
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

import structlog
from sqlalchemy import Connection, Engine

from capture_consumer.clock import boot_seconds
from capture_consumer.database.transaction import transaction
from capture_consumer.errors import DatabaseAway

__all__ = ["JOBS", "LIFE", "Hints", "announce"]

log = structlog.get_logger()
JOBS = "cc_jobs"
LIFE = "cc_life"
LOOK_S = 0.25


def announce(engine: Engine, channel: str) -> None:
    """Tell waiting processes that there is something; after the commit, never raises.

    On SQLite the commit itself is what they see.
    """
    assert channel in {JOBS, LIFE}
    if engine.dialect.name == "sqlite":
        return
    with contextlib.suppress(DatabaseAway), transaction(engine) as tx:
        tx.exec_driver_sql(f"NOTIFY {channel}")


class Hints:
    """Waits, and returns early when others have committed something.

    One thread uses it. When its connection breaks it waits by the clock alone and tries
    to listen again at the next wait.
    """

    def __init__(self, engine: Engine, channel: str = JOBS) -> None:
        assert channel in {JOBS, LIFE}
        self._engine, self._channel = engine, channel
        self._connection: Connection | None = None
        self._version: int | None = None

    def wait(self, timeout_s: float, stop: threading.Event) -> bool:
        """Wait at most so many seconds; return True when woken by a commit of others.

        A stop ends the wait within a quarter of a second.
        """
        give_up_s = boot_seconds() + timeout_s
        heard = self._listening()
        while (left_s := give_up_s - boot_seconds()) > 0 and not stop.is_set():
            pause_s = min(LOOK_S, left_s)
            if heard is None:
                stop.wait(pause_s)
                continue
            try:
                if heard(pause_s, stop):
                    return True
            except Exception as error:
                log.debug("hints.deaf", error=str(error))
                self.close()
                heard = None
        return False

    def close(self) -> None:
        """Let the connection go; the next wait opens another."""
        connection, self._connection, self._version = self._connection, None, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.invalidate()
            with contextlib.suppress(Exception):
                connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _listening(self) -> Callable[[float, threading.Event], bool] | None:
        """Return how to hear of commits, None when there is no way at present."""
        try:
            if self._connection is None:
                self._connection = self._engine.connect().execution_options(
                    isolation_level="AUTOCOMMIT"
                )
                if self._engine.dialect.name != "sqlite":
                    self._raw().execute(f"LISTEN {self._channel}")
        except Exception as error:  # also the driver's own, and a pool without a free one
            log.debug("hints.deaf", error=str(error))
            self.close()
            return None
        return self._look if self._engine.dialect.name == "sqlite" else self._listen

    def _raw(self) -> Any:
        assert self._connection is not None
        return self._connection.connection.driver_connection

    def _look(self, pause_s: float, stop: threading.Event) -> bool:
        stop.wait(pause_s)
        version = int(self._raw().execute("PRAGMA data_version").fetchone()[0])
        before, self._version = self._version, version
        return before is not None and version != before

    def _listen(self, pause_s: float, _stop: threading.Event) -> bool:
        return any(True for _ in self._raw().notifies(timeout=pause_s, stop_after=1))
