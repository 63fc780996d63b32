"""From the text of one setting to its value, or a `ValueError` that says what to give.

A reader also takes the folder that relative paths start at: the working directory for
the environment, the file's own folder for `capture.toml`.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

__all__ = [
    "Read",
    "one_of",
    "read_database",
    "read_folder",
    "read_names",
    "read_slug",
    "read_store",
    "read_text",
    "whole",
    "without_password",
]

POSTGRES = ("postgres", "postgresql", "postgresql+psycopg")
SLUG = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")

Read = Callable[[str, Path], Any]


def whole(least: int, most: int) -> Read:
    """Return a reader of whole numbers from `least` to `most`."""

    def read(text: str, _start: Path) -> int:
        if not re.fullmatch(r"[0-9]{1,12}", text) or not least <= int(text) <= most:
            raise ValueError(f"give a whole number from {least} to {most}")
        return int(text)

    return read


def one_of(*words: str) -> Read:
    """Return a reader of one of these words."""

    def read(text: str, _start: Path) -> str:
        if text not in words:
            raise ValueError(f"give one of {', '.join(words)}")
        return text

    return read


def read_database(text: str, start: Path) -> str:
    """Return the address as SQLAlchemy takes it; a file's path is made absolute."""
    scheme, _, rest = text.partition("://")
    if scheme in POSTGRES:
        try:
            _ = urlsplit(text).port
        except ValueError as error:
            raise ValueError(f"give postgresql://user@host:port/name: {error}") from error
        return f"postgresql+psycopg://{rest}"
    if scheme != "sqlite":
        raise ValueError("give postgresql://user@host/name or sqlite:///path/to/file")
    path, mark, query = rest.removeprefix("/").partition("?")
    if path in {"", ":memory:"}:
        raise ValueError("give sqlite:///path/to/file: processes cannot share one in memory")
    return f"sqlite:///{start / path}{mark}{query}"


def read_store(text: str, start: Path) -> str:
    """Return an absolute path for a folder, any other address as it is."""
    if text.startswith("file://"):
        return urlsplit(text).path
    return text if "://" in text else str(start / Path(text).expanduser())


def read_folder(text: str, start: Path) -> Path:
    """Return an absolute path."""
    return start / Path(text).expanduser()


def read_slug(text: str, _start: Path) -> str:
    """Return a project's slug (BUILD-1)."""
    if not SLUG.fullmatch(text):
        raise ValueError("give 1 to 63 of a-z, 0-9 and -, not beginning with -")
    return text


def read_names(text: str, _start: Path) -> tuple[str, ...]:
    """Read import paths, `package.module:NAME`, with commas between them."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if wrong := next((name for name in names if name.count(":") != 1), None):
        raise ValueError(f"{wrong!r} is no import path: give package.module:NAME")
    return names


def read_text(text: str, _start: Path) -> str:
    """Return the text as it is."""
    return text


def without_password(url: str) -> str:
    """Return an address that may be shown: a password in it becomes `***`.

    Which driver is used is nothing that a person wrote, so it is left out.
    """
    url = url.replace("postgresql+psycopg://", "postgresql://", 1)
    try:
        parts = urlsplit(url)
    except ValueError:
        return f"{url.partition('://')[0]}://***"
    user, at, host = parts.netloc.rpartition("@")
    if ":" not in user:
        return url
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}:***{at}{host}"))
