"""Chooses what is concrete: settings to engine, queues, handlers and processes.

- `orders`: what a supervisor's orders mean for a consumer's loop
- `reports`: what a supervisor is told
- `consumer`, `clerk`: the two kinds of process

Everything is imported inside functions, so that `status` never waits for a browser's
driver. Nobody below knows this room.
"""

from typing import TYPE_CHECKING

from capture_consumer.settings import Settings, make_home

if TYPE_CHECKING:
    from capture_consumer.database.engine import Engine

__all__ = ["open_database", "run_child"]


def open_database(settings: Settings, *, writing: bool) -> "Engine":
    """Return an engine on a database whose tables are ours.

    SQLite is made and upgraded by whoever writes; PostgreSQL never by itself (R25).

    Raises:
        BadInput: the address cannot be used.
        DatabaseAway: it does not answer.
        SchemaMismatch: its tables are older or newer; the text says what to do.
    """
    from capture_consumer.database import upgrade
    from capture_consumer.database.engine import open_engine

    if writing:
        make_home(settings)
    engine = open_engine(settings.database_url)
    try:
        upgrade.ready(engine, writing=writing)
    except BaseException:
        engine.dispose()
        raise
    return engine


def run_child(role: str) -> int:
    """Be a consumer or a clerk until told to leave; return the exit code."""
    if role == "consumer":
        from capture_consumer.wiring.consumer import run_consumer

        return run_consumer()
    if role == "clerk":
        from capture_consumer.wiring.clerk import run_clerk

        return run_clerk()
    raise SystemExit(f"{role!r} is no kind of child: consumer, clerk")
