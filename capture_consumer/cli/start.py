"""`start`: check everything, say in one line what will run, then become the supervisor.

By exec, so that nothing that was imported for the checks stays in the process that must
never fail (SUP-1). The plan travels in the environment; no secret stands in argv.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import click

from capture_consumer.cli import exits, screen
from capture_consumer.cli.door import Door, naming
from capture_consumer.clock import boot_seconds
from capture_consumer.errors import (
    BrowserUnusable,
    CaptureConsumerError,
    DatabaseAway,
    SettingsInvalid,
)
from capture_consumer.settings import Settings, make_home, without_password
from capture_consumer.supervisor.memory import allowance

if TYPE_CHECKING:
    from capture_consumer.capture.browser import BrowserChoice
    from capture_consumer.supervisor.plan import Plan

__all__ = ["browser_in_words", "start", "wait_for_database"]

PATIENCE_S = 60.0
ASK_AGAIN_S = 2.0


@click.command()
@click.option(
    "--consumers", type=click.IntRange(1, 256), metavar="N", help="How many; else by machine."
)
@click.option(
    "--grace",
    type=click.IntRange(0, 86_400),
    metavar="SECONDS",
    help="From SIGTERM to SIGKILL; 30 unless set.",
)
@click.pass_obj
def start(door: Door, *, consumers: int | None, grace: int | None) -> None:
    r"""Start the supervisor, its consumers and its clerk; stop them with SIGTERM or Ctrl-C.

    A first signal drains: what is in hand is finished if it can be, else given back
    uncounted. A second one hurries, a third one kills.

    \b
    Example:    capture-consumer start --consumers 2
    Exit codes: 0 drained; 1 drained, something had to be killed; 70 fault of its own;
                75 another supervisor is running here; 78 it could not come up: settings,
                database, store or image engine.
    """
    try:
        settings = _chosen(door.settings, consumers=consumers, grace=grace)
        wait_for_database(settings)
        _try_store(door)
        _try_images()
        browser = _browser(settings, door.environ)
        plan = _plan(settings, door.environ)
    except SettingsInvalid as error:
        for fault in error.faults:
            screen.fail(fault)
        raise SystemExit(exits.MISCONFIGURED) from error
    except CaptureConsumerError as error:
        screen.fail(str(error))
        raise SystemExit(exits.MISCONFIGURED) from error
    many = f"{plan.consumers} consumer{'s' if plan.consumers > 1 else ''}"
    screen.say(
        f"Starting {many} and a clerk ({plan.reasons}), {browser}, grace {plan.grace_s:g} s"
    )
    screen.say(f"Database {without_password(settings.database_url)}; Ctrl-C drains", "dim")
    become(plan, door.environ)


def become(plan: "Plan", environ: Mapping[str, str]) -> NoReturn:
    """Turn this process into the supervisor.

    Signals wait until it has its handlers: the mask goes through an exec, handlers do not.
    """
    from capture_consumer.supervisor.plan import PLAN  # noqa: PLC0415

    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    argv = [*plan.consumer_argv[: plan.consumer_argv.index("-m")], "-m"]
    argv.append("capture_consumer.supervisor")
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    os.execve(sys.executable, argv, {**environ, PLAN: plan.to_environment()})  # noqa: S606


def _chosen(settings: Settings, *, consumers: int | None, grace: int | None) -> Settings:
    """Return the settings with what was said on the command line."""
    return replace(
        settings,
        consumers=consumers or settings.consumers,
        grace_s=settings.grace_s if grace is None else grace,
    )


def wait_for_database(
    settings: Settings,
    *,
    wait: Callable[[float], object] | None = None,
    elapsed: Callable[[], float] = boot_seconds,
) -> None:
    """Open the database and close it again; wait for it for a minute (R30, SUP-49).

    Raises:
        DatabaseAway: it did not answer for a minute.
        SchemaMismatch: its tables are not ours, and it does not upgrade itself.
    """
    from capture_consumer import wiring  # noqa: PLC0415 - `--help` needs no database

    make_home(settings)
    pause, give_up_s, told = wait or threading.Event().wait, elapsed() + PATIENCE_S, False
    while True:
        try:
            with naming(settings.database_url):
                wiring.open_database(settings, writing=True).dispose()
            return
        except DatabaseAway as error:
            if elapsed() >= give_up_s:
                raise
            if not told:
                screen.say(f"{error}. Waiting for it, {PATIENCE_S:g} s at most", "yellow")
                told = True
        pause(ASK_AGAIN_S)


def _try_store(door: Door) -> None:
    """Keep a line in the store and read it back, so that no job fails for it later.

    Raises:
        StoreMismatch: it is not the database's (R25).
        StoreUnusable: it cannot be written or read.
    """
    with door.books(writing=True) as books:
        store = door.store(books)
    store.get(store.put(b"capture-consumer\n"))


def _try_images() -> None:
    """Try the image engine (CAP-36)."""
    from capture_consumer.images.check import engine_works  # noqa: PLC0415 - loads NumPy

    try:
        engine_works()
    except Exception as error:
        text = f"the image engine does not work here: {error}: reinstall pillow and numpy"
        raise CaptureConsumerError(text) from error


def _browser(settings: Settings, environ: Mapping[str, str]) -> str:
    """Return the browser that will be used, in words; one that was named must be there.

    Without any, folders of pictures still work, so it is told and not refused.
    """
    from capture_consumer.capture.browser import find  # noqa: PLC0415

    try:
        found = find(settings.browser, environ)
    except BrowserUnusable as error:
        if settings.browser:
            raise
        screen.say(f"{error} Until then only folders of pictures can be captured.", "yellow")
        return "no browser"
    return browser_in_words(found)


def browser_in_words(found: "BrowserChoice") -> str:
    """Return what people call a browser, with its version."""
    name = {"shell": "headless shell", "chromium": "Chromium", "chrome": "Chrome"}[found.kind]
    return f"{name} {found.version}"


def _plan(settings: Settings, environ: Mapping[str, str]) -> "Plan":
    """Return what the supervisor is to run."""
    from capture_consumer.supervisor.plan import Plan  # noqa: PLC0415
    from capture_consumer.supervisor.state import StateUnusable, state_dir  # noqa: PLC0415

    fitting = allowance()
    named = {"CAPTURE_STATE_DIR": str(settings.state_dir)} if settings.state_dir else {}
    try:
        folder = state_dir({**environ, **named}, settings.database_url)
    except StateUnusable as error:
        raise CaptureConsumerError(str(error)) from error
    return Plan(
        state_dir=str(folder),
        consumers=settings.consumers or fitting.consumers,
        grace_s=float(settings.grace_s),
        reasons="as told" if settings.consumers else fitting.reasons,
        log_format=settings.log_format,
    )
