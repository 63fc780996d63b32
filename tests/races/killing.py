"""Kill whoever writes, before or after any of its statements, as a power cut would."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event, text

if TYPE_CHECKING:
    from collections.abc import Generator

    from sqlalchemy import Engine


class Killed(BaseException):
    """The process is gone: nothing of it runs any more, not even an except clause."""


class Killer:
    """Counts the statements of one engine and kills at the one that it was told.

    Point 0 is before the first statement, 1 after it, 2 before the second, and so on;
    the commit is a statement like the others. The connection is cut off hard, so that
    the server rolls back what was not committed.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.point: int | None = None
        self.passed = 0
        event.listen(engine, "before_cursor_execute", self.at_statement)
        event.listen(engine, "after_cursor_execute", self.at_statement)
        dialect: Any = engine.dialect
        self.do_commit = dialect.do_commit
        dialect.do_commit = self.commit

    def at_statement(self, connection: Any, *_rest: Any) -> None:
        self.at_point(connection.connection.driver_connection)

    def commit(self, connection: Any) -> None:
        self.at_point(connection.driver_connection)
        self.do_commit(connection)
        self.at_point(connection.driver_connection)

    def at_point(self, raw: Any) -> None:
        here, self.passed = self.passed, self.passed + 1
        if self.point is not None and here == self.point:
            self.point = None
            self.cut_off(raw)
            raise Killed

    def cut_off(self, raw: Any) -> None:
        """End a connection as the end of its process does, and wait for the roll-back."""
        if self.engine.dialect.name == "sqlite":
            raw.rollback()
            return
        backend = raw.info.backend_pid
        raw.close()
        watcher = create_engine(self.engine.url, isolation_level="AUTOCOMMIT")
        with watcher.connect() as db:
            gone = text("SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = :pid")
            while not db.execute(gone, {"pid": backend}).scalar_one():
                pass
        watcher.dispose()

    @contextmanager
    def killing(self, point: int | None) -> Generator[None]:
        """Kill at this point of what is done inside; None lets it live."""
        self.passed, self.point = 0, point
        try:
            yield
        except Killed:
            self.engine.dispose()
        finally:
            self.point = None
