"""A short transaction; a unique key that was taken; a whole one tried again.

`transaction` commits at its end or rolls back; nothing of ours keeps one open
while the world is touched. Whatever means "the database does not answer" leaves
here as `DatabaseAway`, so that no other room knows a driver.
"""

import random
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy import Connection, Engine, Index
from sqlalchemy.exc import DBAPIError, IntegrityError, TimeoutError as PoolExhausted

from capture_consumer.database.columns import METADATA
from capture_consumer.errors import DatabaseAway

__all__ = [
    "Collided",
    "Tx",
    "again",
    "is_unique_violation",
    "reading",
    "transaction",
]

Tx = Connection
"""A transaction of the caller's."""

Result = TypeVar("Result")

RIVALS = {"40001", "40P01"}
AWAY_CLASSES = ("08", "53", "55", "57", "58")
READ_ONLY_SERVER = "25006"
IDLE_TOO_LONG = "25P03"
AWAY_SQLITE = (
    "SQLITE_BUSY",
    "SQLITE_CANTOPEN",
    "SQLITE_FULL",
    "SQLITE_IOERR",
    "SQLITE_LOCKED",
    "SQLITE_NOTADB",
    "SQLITE_READONLY",
)
WAIT_S = 0.05
draw = random.SystemRandom().random


class Collided(DatabaseAway):
    """Two transactions wanted the same rows and this one gave way (40001, 40P01).

    Nothing was written. `again` tries the whole transaction once more.
    """

    code = "database_error"


@contextmanager
def transaction(engine: Engine) -> Generator[Tx]:
    """Open one write transaction and commit it at the end.

    `BEGIN IMMEDIATE` on SQLite, `READ COMMITTED` on PostgreSQL whatever the server's
    default is. The caller may call `tx.rollback()` and leave: then nothing is written.

    Raises:
        DatabaseAway: the database did not answer in time. Had the commit been sent
            already, it may have taken effect all the same (JOB-154).
        Collided: a rival was in the way; nothing was written.
    """
    with translated(), engine.connect() as tx, tx.begin() as begun:
        yield tx
        if begun.is_active:
            begun.commit()


@contextmanager
def reading(engine: Engine) -> Generator[Tx]:
    """Open one read-only transaction: all its statements see the same state."""
    with translated(), engine.connect() as plain:
        if plain.dialect.name == "sqlite":
            tx = plain.execution_options(reading=True)
        else:
            tx = plain.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
        with tx.begin():
            yield tx


def again(
    engine: Engine,
    do: Callable[[Tx], Result],
    *,
    tries: int = 3,
    wait: Callable[[float], object] | None = None,
) -> Result:
    """Run a whole short transaction, again when a rival or the network broke it off.

    `do` must be safe to repeat, also when the answer of a commit was lost. It is run up
    to `tries` times in all; `wait` waits some seconds between them, stretched at random,
    so that two that collided do not meet again.

    Raises:
        DatabaseAway: the last try failed like the others.
    """
    assert tries >= 1
    for number in range(1, tries):
        try:
            with transaction(engine) as tx:
                return do(tx)
        except DatabaseAway:
            pause = WAIT_S * number * (1 + draw())
            (wait or threading.Event().wait)(pause)
    with transaction(engine) as tx:
        return do(tx)


@contextmanager
def translated() -> Generator[None]:
    """Turn the driver's ways to say "away" into ours; other errors pass."""
    try:
        yield
    except PoolExhausted as error:
        raise DatabaseAway("no connection to the database was free in time") from error
    except DBAPIError as error:
        state = getattr(error.orig, "sqlstate", None)
        if state in RIVALS:
            raise Collided(f"gave way to another transaction ({state})") from error
        if is_away(error, state):
            raise DatabaseAway(one_line(error)) from error
        raise


def is_away(error: DBAPIError, state: str | None) -> bool:
    """Tell whether this error is about reaching the database, not about what was asked."""
    if error.connection_invalidated:
        return True
    sqlite = getattr(error.orig, "sqlite_errorname", None)
    if sqlite is not None:
        return str(sqlite).startswith(AWAY_SQLITE)
    if state is not None:
        return state.startswith(AWAY_CLASSES) or state in {READ_ONLY_SERVER, IDLE_TOO_LONG}
    return type(error.orig).__name__ in {
        "OperationalError",
        "InterfaceError",
        "ConnectionTimeout",
    }


def one_line(error: DBAPIError) -> str:
    """Return the driver's own words on one line; they hold no password."""
    return " ".join(str(error.orig).split()) or type(error.orig).__name__


def is_unique_violation(error: BaseException, constraint: str) -> bool:
    """Tell whether the unique key or index of this name was taken already (JOB-38).

    SQLite names the columns instead of the key; they are looked up in what is declared.
    """
    if not isinstance(error, IntegrityError):
        return False
    diagnosis = getattr(error.orig, "diag", None)
    if diagnosis is not None:
        return bool(diagnosis.constraint_name == constraint)
    told, _, columns = str(error.orig).partition(" constraint failed: ")
    return told == "UNIQUE" and columns.split(", ") in columns_of(constraint)


def columns_of(constraint: str) -> list[list[str]]:
    """Return the columns, as "table.column", of every key or index of this name."""
    named: list[list[str]] = []
    for table in METADATA.tables.values():
        keys: list[Index | object] = [*table.indexes, *table.constraints]
        for key in keys:
            if getattr(key, "name", None) == constraint:
                columns = getattr(key, "columns", ())
                named.append([f"{table.name}.{column.name}" for column in columns])
    return named
