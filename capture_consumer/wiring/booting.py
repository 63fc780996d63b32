"""What every child does first: settings, log, database, clock; or an exit code (SUP-49)."""

import os
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import structlog

from capture_consumer import logs
from capture_consumer.clock import DisciplinedClock, boot_seconds
from capture_consumer.database.engine import Engine
from capture_consumer.database.offset import measure
from capture_consumer.errors import (
    BadInput,
    DatabaseAway,
    SchemaMismatch,
    SettingsInvalid,
    StoreMismatch,
)
from capture_consumer.ipc.channel import Channel
from capture_consumer.records.cellar import open_cellar
from capture_consumer.settings import Settings, load
from capture_consumer.storage.store import Store
from capture_consumer.wiring import open_database

__all__ = ["EXIT_CONFIGURATION", "EXIT_NO_DATABASE", "EXIT_UNFIT", "Booted", "boot"]

EXIT_NO_DATABASE = 69
EXIT_UNFIT = 75
EXIT_CONFIGURATION = 78
PATIENCE_S = 60.0
ASK_AGAIN_S = 1.0

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Booted:
    """What every child has once it is up."""

    settings: Settings
    engine: Engine
    clock: DisciplinedClock
    store: Store


def boot(channel: Channel | None, role: str, *, told_to_leave: threading.Event) -> Booted | int:
    """Read settings, set up the log, wait for the database; or return an exit code (SUP-49).

    An order to leave ends the wait, with 0: nothing is held yet (SUP-57).
    """
    try:
        settings = load(os.environ, cwd=Path.cwd())
    except SettingsInvalid as error:
        sys.stderr.write("".join(f"{fault}\n" for fault in error.faults))
        return EXIT_CONFIGURATION
    logs.set_up(log_format=settings.log_format, log_level=settings.log_level)
    if channel is not None:
        structlog.contextvars.bind_contextvars(
            role=role, slot=channel.slot, incarnation=channel.incarnation[:8], pid=os.getpid()
        )
    give_up_s = boot_seconds() + PATIENCE_S
    while True:
        try:
            return opened(settings)
        except (BadInput, SchemaMismatch, StoreMismatch) as error:
            log.error("child.misconfigured", error=str(error))  # noqa: TRY400 - one line
            return EXIT_CONFIGURATION
        except DatabaseAway as error:
            if boot_seconds() >= give_up_s:
                log.error("child.no_database", error=str(error))  # noqa: TRY400 - one line
                return EXIT_NO_DATABASE
        if told_to_leave.wait(ASK_AGAIN_S):
            return 0


def opened(settings: Settings) -> Booted:
    """Open database and store; leave nothing open when one of them cannot be used."""
    engine = open_database(settings, writing=True)
    try:
        store = open_cellar(settings.store_url, engine)
        return Booted(settings, engine, measure(engine), store)
    except BaseException:
        engine.dispose()
        raise
