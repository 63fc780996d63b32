"""Where a page's pictures come from: an `Album` to ask, and one that fills a folder.

A blob that is gone or damaged costs its picture, never the page.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from capture_consumer.errors import StoreUnusable

__all__ = ["Album", "FolderAlbum", "Shown"]

PNG: Final = b"\x89PNG\r\n\x1a\n"
# The signature, the length and kind of the first chunk, then width and height.
HEAD: Final = 24
LOG_MAX: Final = 100_000


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture on a page: its address, or None with the reason; its size in pixels."""

    src: str | None
    width: int = 0
    height: int = 0
    gone: str = ""


class Album(Protocol):
    """What a page asks for pictures and logs."""

    def picture(self, sha: str) -> Shown:
        """Return a picture by the hash of its blob."""
        ...

    def log(self, sha: str) -> tuple[str, str | None]:
        """Return a log's text, cut to 100,000 characters, and the address of the whole."""
        ...


class FolderAlbum:
    """Copies blobs into `pictures/` and `logs/` of a folder, each once, named by its hash."""

    def __init__(self, store_get: Callable[[str], bytes], folder: Path) -> None:
        self.store_get = store_get
        self.folder = folder
        self.seen: dict[str, Shown] = {}

    def picture(self, sha: str) -> Shown:
        """Copy a picture and return its address, relative to the folder."""
        if sha not in self.seen:
            self.seen[sha] = self.copied(sha)
        return self.seen[sha]

    def copied(self, sha: str) -> Shown:
        """Copy one blob, if it is there and a picture."""
        try:
            data = self.store_get(sha)
        except StoreUnusable:
            return Shown(None, gone="This picture is gone from the store.")
        if not data.startswith(PNG) or len(data) < HEAD:
            return Shown(None, gone="What the store holds here is no picture.")
        width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
        return Shown(self.keep("pictures", f"{sha}.png", data), width, height)

    def log(self, sha: str) -> tuple[str, str | None]:
        """Copy a log and return the beginning of it."""
        try:
            data = self.store_get(sha)
        except StoreUnusable:
            return "The log is gone from the store.", None
        text = data.decode("utf-8", errors="replace")
        return text[:LOG_MAX], self.keep("logs", f"{sha}.txt", data)

    def keep(self, where: str, name: str, data: bytes) -> str:
        """Write a file unless it is there already; return its relative address."""
        place = self.folder / where / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.is_file() or place.stat().st_size != len(data):
            place.write_bytes(data)
        return f"{where}/{name}"
