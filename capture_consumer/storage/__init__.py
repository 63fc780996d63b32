"""The cellar: bytes by the hash of their content.

`store` says what a store promises, `folder` keeps one in a folder. `open_store` makes one
of the address in the settings.
"""

import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from capture_consumer.errors import BadInput
from capture_consumer.storage.folder import FolderStore
from capture_consumer.storage.store import Store

__all__ = ["open_store"]


def open_store(url: str) -> Store:
    """Return the store at an address: a path, or `file:///…`. Nothing is made or read yet.

    Raises:
        BadInput: there is no store of this kind.
    """
    if not url.strip():
        raise BadInput("the address of the store is empty: give a folder")
    if "\0" in url:
        raise BadInput("the address of the store has a NUL in it")
    scheme = re.match(r"(?i)[a-z][a-z0-9+.-]+(?=://)|file(?=:)", url)
    if not scheme:
        return FolderStore(Path(url).expanduser())
    if scheme[0].lower() != "file":
        raise BadInput(f"no store at {scheme[0]}:// yet: give a folder, or file:///a/folder")
    parts = urlsplit(url)
    if parts.netloc not in {"", "localhost"} or not parts.path.startswith("/"):
        raise BadInput(f"{url}: a file address has three slashes, as in file:///a/folder")
    return FolderStore(Path(unquote(parts.path)))
