"""`db`: the database's tables, upgraded, checked, or told as DDL."""

from contextlib import ExitStack

import click

from capture_consumer.cli import exits, screen
from capture_consumer.cli.door import Door, naming
from capture_consumer.settings import make_home, without_password
from capture_consumer.settings.readers import read_store

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
    r"""Bring the tables to what this release speaks.

    It is safe beside running workers. SQLite upgrades itself when a command writes;
    PostgreSQL waits for this one.

    \b
    Example:    CAPTURE_DATABASE_URL=postgresql://db/capture capture-consumer db upgrade
    Exit codes: 0 upgraded, or nothing to do; 8 no database, or a newer one.
    """
    from capture_consumer.database import upgrade as schema  # noqa: PLC0415 - loads Alembic
    from capture_consumer.database.engine import open_engine  # noqa: PLC0415

    make_home(door.settings)
    engine, url = open_engine(door.settings.database_url), door.settings.database_url
    with naming(url), ExitStack() as closing:
        closing.callback(engine.dispose)
        schema.upgrade(engine)
    screen.say(f"{without_password(url)}: the tables are up to date")


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
    engine, url = open_engine(door.settings.database_url), door.settings.database_url
    with naming(url), ExitStack() as closing:
        closing.callback(engine.dispose)
        fault = schema.check(engine)
    url = without_password(url)
    if as_json:
        screen.tell_json({"database": url, "ok": fault is None, "fault": fault})
    elif fault is None:
        screen.say(f"{url}: the tables are up to date")
    if fault is not None:
        if not as_json:
            screen.fail(fault)
        raise SystemExit(exits.AWAY)


@db.command()
@click.argument("url", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@click.pass_obj
def store(door: Door, url: str | None, *, as_json: bool) -> None:
    r"""Tell where the pictures are; with a URL, that they moved there.

    The first build records its store, and every command refuses another one. Move the
    whole folder, set CAPTURE_STORE, then say so here. A store inside the folder of an
    SQLite file, as in .capture, moves with it and needs none of this.

    \b
    Example:    capture-consumer db store /srv/pictures
    Exit codes: 0 told, or recorded; 2 the newest pictures are not there; 8 no database.
    """
    from capture_consumer.records import cellar  # noqa: PLC0415 - loads every table
    from capture_consumer.storage import open_store  # noqa: PLC0415

    with door.books(writing=url is not None) as books:
        if url is not None:
            there = open_store(read_store(url, door.cwd))
            cellar.move(books.engine, there, who=door.who(), now=books.clock.now())
        known = cellar.recorded(books.engine)
    if as_json:
        screen.tell_json({"store": known})
    else:
        screen.say(known or "none is recorded yet: the first build does it")


@db.command()
def schema() -> None:
    r"""Print the tables as PostgreSQL's DDL.

    For whoever applies it by hand.

    \b
    Example:    capture-consumer db schema > schema.sql
    Exit codes: 0 printed.
    """
    from capture_consumer.database.ddl import ddl  # noqa: PLC0415 - loads every table

    click.echo(ddl(), nl=False)
