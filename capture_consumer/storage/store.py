"""What every store promises: bytes are kept under the hash of their content.

A blob is there whole or not at all, is never overwritten, and is checked when it is read
(BUILD-99). A store that cannot do its work says so as `StoreUnusable`, which is never the
fault of a story (BUILD-38).
"""

import hashlib
import re
from typing import Final, Protocol

from capture_consumer.errors import StoreUnusable

__all__ = ["Store", "checked", "named"]

SHA: Final = re.compile(r"[0-9a-f]{64}")


class Store(Protocol):
    """Whoever keeps or needs a blob is handed one of these. Threads may share it."""

    @property
    def url(self) -> str:
        """Return the address under which `open_store` opens it again."""
        ...

    def put(self, data: bytes) -> str:
        """Keep bytes and return their sha256 in hex; safe to repeat, and from many processes.

        Once it returns they survive a power cut.

        Raises:
            StoreUnusable: they could not be kept; nothing half-written is visible.
        """
        ...

    def get(self, sha: str) -> bytes:
        """Return the bytes kept under a hash, which they are checked against.

        Raises:
            StoreUnusable: they are not there, cannot be read, or are not what was kept.
        """
        ...

    def has(self, sha: str) -> bool:
        """Tell whether a blob is there. Its content is not looked at."""
        ...


def named(data: bytes) -> str:
    """Return the name of some bytes: their sha256 in hex."""
    return hashlib.sha256(data).hexdigest()


def checked(data: bytes, sha: str, where: str) -> bytes:
    """Return what was read when it is what was kept.

    Raises:
        StoreUnusable: it is not.
    """
    if named(data) != sha:
        raise StoreUnusable(
            f"{where} is damaged: its content is not {sha[:12]}… any more. Restore it from a"
            " backup, or delete it and capture again."
        )
    return data
