"""`doctor`: what this machine has and what it lacks, each with the way out.

A check never raises: what it could not do is its finding. `ok` is well, `weak` works but
will disappoint, `missing` does not work.
"""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

import click
from rich.text import Text

from capture_consumer import __version__
from capture_consumer.cli import screen
from capture_consumer.cli.door import Door
from capture_consumer.cli.start import browser_in_words
from capture_consumer.database import engine as engines, upgrade
from capture_consumer.errors import CaptureConsumerError, DatabaseAway, SchemaMismatch
from capture_consumer.machine import look
from capture_consumer.settings import without_password
from capture_consumer.storage import open_store
from capture_consumer.supervisor.memory import allowance

__all__ = ["Finding", "doctor"]

SHM_BYTES = 64 * 2**20
FREE_BYTES = 2 * 2**30
MEMORY_BYTES = 2**30
FONTS_S = 20
FAMILIES = {
    "Chinese, Japanese and Korean": ":lang=ja",
    "emoji": ":lang=und-zsye",
}
LIBRARIES = ("playwright", "pillow", "numpy", "sqlalchemy", "psycopg")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: how it is, what was found, and what to do."""

    check: str
    state: Literal["ok", "weak", "missing"]
    found: str
    advice: str | None = None


Check = Callable[[Door], Iterator[Finding]]


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON array, for programs.")
@click.pass_obj
def doctor(door: Door, *, as_json: bool) -> None:
    r"""Check database, store, browser, fonts, memory and versions; say what is missing.

    \b
    Example:    capture-consumer doctor
    Exit codes: 0 nothing is missing, 1 something is, 2 wrong settings.
    """
    findings = [finding for check in CHECKS for finding in _tried(check, door)]
    if as_json:
        screen.tell_json([asdict(one) for one in findings])
    else:
        arrow = "\n→ " if screen.is_terminal() else " → "
        rows = [
            {
                "check": one.check,
                "": screen.state(one.state),
                "found": Text(one.found + (f"{arrow}{one.advice}" if one.advice else "")),
            }
            for one in findings
        ]
        screen.show("This machine", rows, as_json=False)
    raise SystemExit(1 if any(one.state == "missing" for one in findings) else 0)


def _tried(check: Check, door: Door) -> list[Finding]:
    """Return what a check found; an error of ours is a finding with its own advice."""
    name = check.__name__.removeprefix("_")
    try:
        return list(check(door))
    except CaptureConsumerError as error:
        return [Finding(name, "missing", str(error))]


def _database(door: Door) -> Iterator[Finding]:
    url = door.settings.database_url
    shown = without_password(url)
    try:
        door.refuse_missing_file()
    except CaptureConsumerError:
        yield Finding("database", "ok", f"{shown}: made at the first submit")
        return
    engine = engines.open_engine(url, hasty=True)
    try:
        fault = upgrade.check(engine)
    finally:
        engine.dispose()
    if fault:
        yield Finding("database", "missing", shown, fault)
    else:
        yield Finding("database", "ok", shown)


def _store(door: Door) -> Iterator[Finding]:
    url = door.settings.store_url
    if not Path(url).exists():
        yield Finding("store", "ok", f"{url}: made at the first submit")
        return
    store = open_store(url)
    with suppress(DatabaseAway, SchemaMismatch), door.books(writing=False) as books:
        store = door.store(books)
    store.get(store.put(b"capture-consumer\n"))
    free = shutil.disk_usage(url).free
    few = free < FREE_BYTES
    found = f"{url}, {free / 2**30:.1f} GiB free"
    advice = "less than 2 GiB: free some, or set CAPTURE_STORE" if few else None
    yield Finding("store", "weak" if few else "ok", found, advice)


def _browser(door: Door) -> Iterator[Finding]:
    from capture_consumer.capture.browser import find  # noqa: PLC0415

    found = find(door.settings.browser, door.environ)
    yield Finding("browser", "ok", f"{browser_in_words(found)}, {found.path}")
    try:
        yield Finding("driver", "ok", f"Playwright {version('playwright')}")
    except PackageNotFoundError:
        yield Finding("driver", "missing", "no Playwright", "pip install playwright")


def _fonts(_door: Door) -> Iterator[Finding]:
    lister = shutil.which("fc-list")
    if lister is None:
        advice = "install fontconfig and fonts, e.g. fonts-noto-core"
        yield Finding("fonts", "weak", "no fc-list, so nobody can say", advice)
        return
    count = len(_listed(lister, ":"))
    if count:
        yield Finding("fonts", "ok", f"{count} fonts")
    else:
        yield Finding("fonts", "missing", "none", "install some, e.g. fonts-noto-core")
    for what, pattern in FAMILIES.items():
        if not _listed(lister, pattern):
            package = "fonts-noto-color-emoji" if what == "emoji" else "fonts-noto-cjk"
            yield Finding(
                "fonts", "weak", f"none for {what}: boxes instead", f"install {package}"
            )


def _listed(lister: str, pattern: str) -> list[str]:
    told = subprocess.run(  # noqa: S603 - a list of words, no shell
        [lister, pattern, "family"],
        capture_output=True,
        check=False,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=FONTS_S,
    )
    return told.stdout.splitlines()


def _memory(_door: Door) -> Iterator[Finding]:
    machine, allowed = look(), allowance()
    free_bytes = min(machine.free_bytes, allowed.memory_bytes)
    few = free_bytes < MEMORY_BYTES
    found = f"{free_bytes / 2**30:.1f} of {allowed.memory_bytes / 2**30:.1f} GiB free"
    advice = "a consumer with its browser needs about 700 MiB" if few else None
    yield Finding("memory", "weak" if few else "ok", found, advice)
    yield Finding(
        "consumers", "ok", f"{allowed.consumers} would start here ({allowed.reasons})"
    )
    if machine.shm_bytes is None:
        return
    small = machine.shm_bytes < SHM_BYTES
    advice = "captures work without it, slower: docker run --shm-size=512m" if small else None
    size = f"{machine.shm_bytes / 2**20:,.0f} MiB"
    yield Finding("/dev/shm", "weak" if small else "ok", size, advice)  # noqa: S108 - only named


def _versions(_door: Door) -> Iterator[Finding]:
    python = ".".join(str(part) for part in sys.version_info[:3])
    found = [f"capture-consumer {__version__}", f"Python {python}"]
    for name in LIBRARIES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    yield Finding("versions", "ok", ", ".join(found))
    if shutil.which("git") is None:
        yield Finding("git", "weak", "none", "install git: baselines follow its history")


CHECKS: tuple[Check, ...] = (_database, _store, _browser, _fonts, _memory, _versions)
