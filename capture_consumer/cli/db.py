"""`db`: the database's tables, upgraded, checked, or told as DDL."""

import click

from capture_consumer.cli import exits, screen
from capture_consumer.cli.door import Door
from capture_consumer.settings import make_home, without_password

__all__ = ["db"]


@click.group()
def db() -> None:
    r"""Upgrade or check the database's tables.

    \b
    Example:    capture-consumer db upgrade
    Exit codes: each command's help names its own.
    """


@db.command()
@click.pass_obj
def upgrade(door: Door) -> None:
    r"""Bring the tables to what this release speaks; safe beside running workers.

    SQLite upgrades itself when a command writes; PostgreSQL waits for this one.

    \b
    Example:    CAPTURE_DATABASE_URL=postgresql://db/capture capture-consumer db upgrade
    Exit codes: 0 upgraded, or nothing to do; 8 no database, or a newer one.
    """
    from capture_consumer.database import upgrade as schema  # noqa: PLC0415 - loads Alembic
    from capture_consumer.database.engine import open_engine  # noqa: PLC0415

    make_home(door.settings)
    engine = open_engine(door.settings.database_url)
    try:
        schema.upgrade(engine)
    finally:
        engine.dispose()
    screen.say(f"{without_password(door.settings.database_url)}: the tables are up to date")


@db.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@click.pass_obj
def check(door: Door, *, as_json: bool) -> None:
    r"""Tell whether the database answers and its tables are ours.

    \b
    Example:    capture-consumer db check
    Exit codes: 0 they are, 8 no database, or its tables are older or newer.
    """
    from capture_consumer.database import upgrade as schema  # noqa: PLC0415 - loads Alembic
    from capture_consumer.database.engine import open_engine  # noqa: PLC0415

    door.refuse_missing_file()
    engine = open_engine(door.settings.database_url)
    try:
        fault = schema.check(engine)
    finally:
        engine.dispose()
    url = without_password(door.settings.database_url)
    if as_json:
        screen.tell_json({"database": url, "ok": fault is None, "fault": fault})
    elif fault is None:
        screen.say(f"{url}: the tables are up to date")
    if fault is not None:
        if not as_json:
            screen.fail(fault)
        raise SystemExit(exits.AWAY)


@db.command()
def schema() -> None:
    r"""Print the tables as PostgreSQL's DDL, for whoever applies it by hand.

    \b
    Example:    capture-consumer db schema > schema.sql
    Exit codes: 0 printed.
    """
    from capture_consumer.database.ddl import ddl  # noqa: PLC0415 - loads every table

    click.echo(ddl(), nl=False)
