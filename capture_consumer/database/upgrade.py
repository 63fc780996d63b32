"""Alembic: upgrade, check, refuse what is too new; SQLite upgrades by itself.

Tables stand above this room, so they are found by name, as Alembic finds a
migration.
"""

import importlib
import pkgutil
import threading

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, func, inspect, select

from capture_consumer.clock import boot_seconds
from capture_consumer.database.columns import METADATA
from capture_consumer.database.transaction import Tx, reading, transaction
from capture_consumer.errors import DatabaseAway, SchemaMismatch

__all__ = ["check", "create_all", "declare_tables", "ready", "upgrade"]

MIGRATIONS = "capture_consumer:database/migrations"
ONE_AT_A_TIME = 0x6361_7074
PATIENCE_S = 60.0
ASK_AGAIN_S = 0.2


def declare_tables() -> None:
    """Import every table, so that `METADATA` is whole."""
    room = importlib.import_module("capture_consumer.tables")
    for module in pkgutil.iter_modules(room.__path__):
        importlib.import_module(f"{room.__name__}.{module.name}")


def create_all(engine: Engine) -> None:
    """Make all tables as they are declared, without migrations: for tests."""
    declare_tables()
    with transaction(engine) as tx:
        METADATA.create_all(tx)


def upgrade(engine: Engine) -> None:
    """Bring the schema to what this program speaks. Two at once take turns (Q-45).

    The turn is asked for again and again, never waited on, so that no upgrade stands
    behind a lock that blocks the workers (JOB-167).

    Raises:
        DatabaseAway: somebody else was upgrading for a whole minute.
        SchemaMismatch: the database is newer than this program.
    """
    give_up_s = boot_seconds() + PATIENCE_S
    while boot_seconds() < give_up_s:
        with transaction(engine) as tx:
            if is_our_turn(tx):
                refuse_newer(tx)
                apply(tx)
                return
        threading.Event().wait(ASK_AGAIN_S)
    raise DatabaseAway("somebody else has been upgrading this database for a minute")


def is_our_turn(tx: Tx) -> bool:
    """Take the lock that ends with this transaction; SQLite's writer has it already."""
    if tx.dialect.name == "sqlite":
        return True
    taken: bool = tx.execute(select(func.pg_try_advisory_xact_lock(ONE_AT_A_TIME))).scalar_one()
    return taken


def apply(tx: Tx) -> None:
    """Run the migrations that are missing, inside this transaction."""
    if tx.dialect.name != "sqlite":
        tx.exec_driver_sql("SET LOCAL statement_timeout = 0")
    config = configuration()
    config.attributes["connection"] = tx
    command.upgrade(config, "head")


def configuration() -> Config:
    """Return what Alembic has to know; there is no file for it."""
    config = Config()
    config.set_main_option("script_location", MIGRATIONS)
    config.set_main_option("path_separator", "os")
    return config


def check(engine: Engine) -> str | None:
    """Return None when the schema is ours, else one line that says what to do."""
    with reading(engine) as tx:
        present = revisions(tx)
        is_empty = not inspect(tx).has_table("jobs")
    wanted = ScriptDirectory.from_config(configuration())
    if present == set(wanted.get_heads()):
        return None
    if not present:
        what = "has no tables yet" if is_empty else "was not made by migrations"
        return f"The database {what}. Run: capture-consumer db upgrade"
    if is_known(wanted, present):
        return "The database is older than this program. Run: capture-consumer db upgrade"
    return "The database is newer than this program. Install the newer capture-consumer."


def ready(engine: Engine, *, writing: bool) -> None:
    """See to it that the schema is ours; SQLite is upgraded on the way by who writes (R25).

    Raises:
        SchemaMismatch: it is not; the text says what to do.
        DatabaseAway: the database does not answer.
    """
    problem = check(engine)
    if problem and writing and engine.dialect.name == "sqlite":
        upgrade(engine)
        problem = check(engine)
    if problem:
        raise SchemaMismatch(problem)


def refuse_newer(tx: Tx) -> None:
    """Refuse a database that a newer program has upgraded.

    Raises:
        SchemaMismatch: it is one.
    """
    present = revisions(tx)
    if present and not is_known(ScriptDirectory.from_config(configuration()), present):
        raise SchemaMismatch(
            "The database is newer than this program. Install the newer capture-consumer."
        )


def revisions(tx: Connection) -> set[str]:
    """Return the revisions that the database says it is at."""
    return set(MigrationContext.configure(tx).get_current_heads())


def is_known(wanted: ScriptDirectory, present: set[str]) -> bool:
    """Tell whether all these revisions are among our migrations."""
    known = {script.revision for script in wanted.walk_revisions()}
    return present <= known
