"""Find a Chromium on this machine (CAP-3).

In this order: what was asked for, `CAPTURE_BROWSER`, a headless shell, Chromium,
Chrome, Playwright's own cache. A distribution's wrapper script is followed to the
binary behind it: what is started must be what is killed.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from capture_consumer.errors import BrowserUnusable

__all__ = ["BrowserChoice", "find"]

Kind = Literal["shell", "chromium", "chrome"]

SHELLS = ("chromium-headless-shell", "chrome-headless-shell", "headless-shell")
CHROMIUMS = ("chromium", "chromium-browser")
CHROMES = ("google-chrome", "google-chrome-stable", "chrome")
APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
CACHES = (".cache/ms-playwright", "Library/Caches/ms-playwright")
CACHED = (
    "chromium_headless_shell-*/chrom*/*headless?shell",
    "chromium-*/chrom*/chrome",
    "chromium-*/chrom*/*.app/Contents/MacOS/*",
)
SCRIPT_BYTES_MAX = 65_536
VERSION_S = 20
VERSION = re.compile(r"\d+(?:\.\d+){2,3}")
BINARY_STARTS = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
PATH_IN_SCRIPT = re.compile(r"/[\w./+-]+")


@dataclass(frozen=True, slots=True)
class BrowserChoice:
    """A browser that is there: the binary's path, its version, and which kind it is."""

    path: str
    version: str
    kind: Kind


def find(wanted: str | None, environ: Mapping[str, str]) -> BrowserChoice:
    """Return the first usable browser of this machine.

    Args:
        wanted: a path or a command's name, or None to look everywhere.
        environ: `CAPTURE_BROWSER`, `PATH`, `HOME` and `PLAYWRIGHT_BROWSERS_PATH` are read.

    Raises:
        BrowserUnusable: there is none, or the one that was asked for does not answer.
    """
    asked = wanted or environ.get("CAPTURE_BROWSER")
    if asked:
        path = shutil.which(asked, path=environ.get("PATH"))
        if path is None:
            raise BrowserUnusable(
                f"There is no browser {asked!r}: give the path of a Chromium."
            )
        return _ask(path)
    faults: list[str] = []
    for path in _places(environ):
        try:
            return _ask(path)
        except BrowserUnusable as error:
            faults.append(str(error))
    raise BrowserUnusable(
        " ".join(faults)
        if faults
        else "No Chromium was found: install"
        " chromium-headless-shell or chromium, run `playwright install chromium`,"
        " or name one in CAPTURE_BROWSER."
    )


def _places(environ: Mapping[str, str]) -> Iterator[str]:
    for name in (*SHELLS, *CHROMIUMS, *CHROMES):
        path = shutil.which(name, path=environ.get("PATH"))
        if path:
            yield path
    yield from (path for path in APPLICATIONS if Path(path).is_file())
    home = Path(environ.get("HOME") or "/nonexistent")
    told = environ.get("PLAYWRIGHT_BROWSERS_PATH")
    for cache in [Path(told)] if told else [home / name for name in CACHES]:
        for pattern in CACHED:
            yield from (str(path) for path in sorted(cache.glob(pattern), reverse=True))


def _ask(path: str) -> BrowserChoice:
    """Return what the browser at this path says of itself."""
    binary = _binary(path)
    try:
        told = subprocess.run(  # noqa: S603 - the browser the operator chose
            [binary, "--version"],
            capture_output=True,
            text=True,
            timeout=VERSION_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BrowserUnusable(f"The browser {path} does not answer: {error}.") from error
    version = VERSION.search(told.stdout)
    if version is None:
        said = (told.stderr or told.stdout).strip().splitlines()
        why = said[-1][:200] if said else f"exit code {told.returncode}"
        raise BrowserUnusable(f"The browser {path} does not tell its version: {why}")
    return BrowserChoice(binary, version.group(), _kind(binary, told.stdout))


def _kind(binary: str, told: str) -> Kind:
    if "headless" in Path(binary).name.lower():
        return "shell"
    return "chrome" if "google chrome" in told.lower() else "chromium"


def _binary(path: str) -> str:
    """Follow links and a wrapper script to the binary; keep the script if it hides it."""
    real = Path(path).resolve()
    try:
        with real.open("rb") as file:
            start = file.read(SCRIPT_BYTES_MAX)
    except OSError as error:
        raise BrowserUnusable(
            f"The browser {path} cannot be read: {error.strerror}."
        ) from error
    if not start.startswith(b"#!"):
        return str(real)
    script, name = start.decode(errors="replace"), Path(path).name
    places = PATH_IN_SCRIPT.findall(script)
    if "/usr/lib/" in script:  # Debian's puts the path together
        places += [f"/usr/lib/{folder}/{name}" for folder in ("chromium", name)]
    return next((one for one in places if _is_binary(one)), str(real))


def _is_binary(path: str) -> bool:
    try:
        # A shell's own binary is no browser: what lies under /bin belongs to the script.
        if "chrom" not in path or not Path(path).is_file():
            return False
        with Path(path).open("rb") as file:
            return file.read(4) in BINARY_STARTS
    except OSError:
        return False
