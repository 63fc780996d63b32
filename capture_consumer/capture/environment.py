"""The environment of a shot: what draws other pixels when it changes (CAP-5).

Binary, engine, flags and fonts, hashed. Two consumers with different ones
never share one build; known without starting the browser.
"""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from capture_consumer.capture.browser import BrowserChoice
from capture_consumer.capture.flags import FLAGS
from capture_consumer.errors import BrowserUnusable

__all__ = ["Environment", "environment_of", "fonts"]

ENGINE = "playwright"
FONTS_S = 30
FOLDERS_OF_FONTS = ("/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts")


@dataclass(frozen=True, slots=True)
class Environment:
    """What pictures depend on: the facts, and one hash of them (64 hex digits)."""

    hash: str
    facts: Mapping[str, str]


def environment_of(browser: BrowserChoice) -> Environment:
    """Return the environment in which this browser draws.

    Raises:
        BrowserUnusable: Playwright is not installed.
    """
    found = fonts()
    facts = {
        "browser": browser.kind,
        "browser_version": browser.version,
        "engine": ENGINE,
        "engine_version": _engine_version(),
        "flags": " ".join(sorted(FLAGS)),
        "fonts": _sha("\n".join(found)),
        "fonts_count": str(len(found)),
    }
    return Environment(_sha(json.dumps(facts, sort_keys=True)), facts)


def fonts() -> tuple[str, ...]:
    """Return what fonts there are: family, style and version each, sorted.

    Paths are left out: the same font may lie elsewhere on another host.
    """
    lister = shutil.which("fc-list")
    if lister is None:
        return _font_files()
    try:
        told = subprocess.run(  # noqa: S603 - fontconfig's own lister
            [lister, "--format", "%{family}|%{style}|%{fontversion}\n"],
            capture_output=True,
            text=True,
            timeout=FONTS_S,
            check=True,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return _font_files()
    return tuple(sorted({line.strip() for line in told.stdout.splitlines() if line.strip()}))


def _font_files() -> tuple[str, ...]:
    found = (
        f"{path.name}|{path.stat().st_size}"
        for folder in FOLDERS_OF_FONTS
        for path in Path(folder).rglob("*")
        if path.suffix.lower() in {".otf", ".ttc", ".ttf"}
    )
    return tuple(sorted(found))


def _engine_version() -> str:
    try:
        return version("playwright")
    except PackageNotFoundError as error:
        raise BrowserUnusable(
            "Playwright is not installed: pip install 'capture-consumer[browser]'."
        ) from error


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
