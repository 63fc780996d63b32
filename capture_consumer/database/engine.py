"""One engine a process: pool, pragmas, isolation; no network file system.

PostgreSQL in production, SQLite where nothing else is installed; the rest of
the program does not know which. Nothing is opened by importing this.
"""

import os
import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry

from capture_consumer.errors import BadInput

__all__ = ["Engine", "open_engine"]

CONNECT_S = 5
STATEMENT_MS = 10_000
TCP_MS = 15_000
BUSY_MS = 5_000
HASTY_MS = 1_000
POOL = 3
OVERFLOW = 5
MOUNTS = Path("/proc/self/mounts")
SHARED_FILE_SYSTEMS = {
    "9p", "afs", "beegfs", "ceph", "cifs", "davfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4",
    "ocfs2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs",
}  # fmt: skip


def open_engine(url: str, *, hasty: bool = False) -> Engine:
    """Return an engine for this address; it connects when it is first used.

    Args:
        url: `sqlite:///path`, or `postgresql://…`, which means psycopg 3.
        hasty: give up after 1 s instead of 5 (connecting, SQLite's lock) or 10 (a
            statement): for whoever can show or do without.

    Raises:
        BadInput: the address cannot be used; the text says why.
    """
    try:
        address = make_url(url)
    except ArgumentError as error:
        raise BadInput(
            "the database's address is not a URL, e.g. sqlite:///capture.db"
        ) from error
    if address.get_backend_name() == "sqlite":
        return open_sqlite(address, busy_ms=HASTY_MS if hasty else BUSY_MS)
    if address.drivername in {"postgres", "postgresql", "postgresql+psycopg"}:
        return open_postgres(address.set(drivername="postgresql+psycopg"), hasty=hasty)
    raise BadInput(f"{address.drivername}: only sqlite and postgresql databases are known")


def open_sqlite(address: URL, *, busy_ms: int) -> Engine:
    """Return an engine on a file of this host; its folder is made (R25)."""
    if not address.database or address.database == ":memory:":
        raise BadInput("an SQLite database must be a file: sqlite:///path/to/capture.db")
    path = Path(address.database)
    refuse_shared(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path.parent}: {error.strerror}") from error
    engine = create_engine(
        address.set(drivername="sqlite+pysqlite"),
        connect_args={"timeout": busy_ms / 1000},
        pool_size=POOL,
        max_overflow=OVERFLOW,
        pool_timeout=CONNECT_S,
    )

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _record: object) -> None:
        # Without this the driver begins transactions by itself, and late.
        connection.isolation_level = None
        for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}").close()
        connection.execute(f"PRAGMA busy_timeout={busy_ms}").close()

    keep_to_the_file(engine, path)  # after `prepare`, which makes the file

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        is_reading = connection.get_execution_options().get("reading", False)
        connection.exec_driver_sql("BEGIN" if is_reading else "BEGIN IMMEDIATE")

    return engine


def keep_to_the_file(engine: Engine, path: Path) -> None:
    """Let go of connections whose file was deleted or replaced; never make it anew.

    SQLite goes on with the nameless file, which nobody else sees: a process would work, and
    wait for work, in it for ever. With the file away the database is away.
    """
    was_there = False

    def identity() -> tuple[int, int] | None:
        try:
            found = path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    @event.listens_for(engine, "do_connect")
    def refuse(*_: object) -> None:
        if was_there and identity() is None:
            raise sqlite3.OperationalError(f"{path} is gone")

    @event.listens_for(engine, "connect")
    def remember(_connection: object, record: ConnectionPoolEntry) -> None:
        nonlocal was_there
        was_there, record.info["file"] = True, identity()

    @event.listens_for(engine, "checkout")
    def look(_connection: object, record: ConnectionPoolEntry, _proxy: object) -> None:
        if record.info["file"] != identity():
            raise DisconnectionError(f"{path} is not the file that it was")


def open_postgres(address: URL, *, hasty: bool) -> Engine:
    """Return an engine that keeps no session state, so a transaction pooler may stand between.

    Each transaction sets its own limits (JOB-156, JOB-164). A client that was stopped
    in the middle of one loses its locks after as long.
    """
    statement_ms = HASTY_MS if hasty else STATEMENT_MS
    engine = create_engine(
        address,
        isolation_level="READ COMMITTED",
        connect_args={
            "connect_timeout": CONNECT_S,
            "tcp_user_timeout": TCP_MS,
            "prepare_threshold": None,
            "target_session_attrs": "read-write",
        },
        pool_size=POOL,
        max_overflow=OVERFLOW,
        pool_timeout=CONNECT_S,
        pool_pre_ping=True,
    )

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_isolation_level() != "AUTOCOMMIT":
            connection.exec_driver_sql(
                f"SET LOCAL statement_timeout = {statement_ms}; "
                f"SET LOCAL idle_in_transaction_session_timeout = {STATEMENT_MS}"
            )

    return engine


def refuse_shared(path: Path, mounts: Path = MOUNTS) -> None:
    """Refuse a file that several hosts can see: SQLite's locks do not hold there (JOB-163).

    Raises:
        BadInput: it lies on such a file system.
    """
    kind = file_system_of(path, mounts)
    if kind in SHARED_FILE_SYSTEMS or kind.startswith("fuse.") or kind == "fuse":
        raise BadInput(
            f"{path} is on a {kind} file system, where SQLite would lose data; "
            "choose a local disk, or PostgreSQL"
        )


def file_system_of(path: Path, mounts: Path = MOUNTS) -> str:
    """Return the type of the file system that will hold this path; "" when nobody can say."""
    if not mounts.exists():
        return ""
    here = path.absolute()
    while not here.exists() and here != here.parent:
        here = here.parent
    here = Path(os.path.realpath(here))
    found, length = "", -1
    for line in mounts.read_text(encoding="utf-8", errors="replace").splitlines():
        _device, where, kind, *_rest = line.split(" ")
        mount = where.replace("\\040", " ")
        if here.is_relative_to(mount) and len(mount) >= length:
            found, length = kind, len(mount)
    return found
