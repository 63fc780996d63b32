"""A store in a folder: temporary name, sync, rename (BUILD-99).

Layout: `ab/cdef…`, the first two digits of the hash and the rest, so that no folder gets
more than its share. What is being written lies in `.new/`, in the same file system; what
a killed process leaves there is nobody's blob.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from capture_consumer.errors import StoreUnusable
from capture_consumer.storage.store import SHA, checked, named

__all__ = ["FolderStore"]

REASONS: Final = {
    errno.ENOSPC: "the disk is full; free some space",
    errno.EDQUOT: "the disk quota is used up; free some space",
    errno.EACCES: "permission denied; let this user read and write there",
    errno.EPERM: "permission denied; let this user read and write there",
    errno.EROFS: "the file system is read-only; choose another place",
    errno.ENOTDIR: "a part of this path is a file; choose another place",
    errno.EISDIR: "there is a folder where a file should be",
    errno.EIO: "the disk reports an error; check it",
    errno.EMFILE: "too many files are open; raise the limit (ulimit -n)",
    errno.ENFILE: "too many files are open on this machine",
}


class FolderStore:
    """Blobs as files. The folder is made when the first blob is put.

    Two processes may put the same bytes at once: both write a file of their own, and
    whichever is renamed last replaces equal bytes by equal bytes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    @property
    def url(self) -> str:
        """Return the address as a `file://` URL."""
        return self.path.as_uri()

    def put(self, data: bytes) -> str:
        """Keep bytes and return their sha256 in hex."""
        sha = named(data)
        place = self.place(sha)
        with told(place):
            if not has_size(place, len(data)):
                self.write(data, place)
        return sha

    def get(self, sha: str) -> bytes:
        """Return the bytes kept under a hash, checked against it."""
        place = self.place(sha)
        with told(place):
            try:
                data = place.read_bytes()
            except FileNotFoundError as error:
                missing = "blob" if self.path.is_dir() else "folder"
                raise StoreUnusable(
                    f"the store {self.path} has no such {missing}: {sha[:12]}…"
                    " Is CAPTURE_STORE right?"
                ) from error
        return checked(data, sha, str(place))

    def has(self, sha: str) -> bool:
        """Tell whether a blob is there."""
        place = self.place(sha)
        with told(place):
            return place.is_file()

    def place(self, sha: str) -> Path:
        """Return where a blob lies, whether it is there or not."""
        if not SHA.fullmatch(sha):
            raise StoreUnusable(f"{sha[:80]!r} is no sha256 in hex, so it names no blob")
        return self.path / sha[:2] / sha[2:]

    def write(self, data: bytes, place: Path) -> None:
        """Write, sync, rename, and sync the folder that learnt a new name."""
        waiting = self.path / ".new"
        for folder in (self.path, waiting, place.parent):
            make(folder)
        new = waiting / uuid4().hex
        try:
            with new.open("xb", buffering=0) as file:
                write_all(file.fileno(), data)
                os.fsync(file.fileno())
            new.replace(place)
        except BaseException:
            with suppress(OSError):
                new.unlink()
            raise
        sync(place.parent)


def has_size(place: Path, size: int) -> bool:
    """Tell whether a file is there, whole by its size.

    One of another size was cut by a file system that lost what it had synced; it is put again.
    """
    try:
        return place.stat().st_size == size
    except FileNotFoundError:
        return False


def make(folder: Path) -> None:
    """Make a folder, and those above it; a new name is synced where it was entered."""
    if folder.is_dir():
        return
    if not folder.parent.is_dir():
        make(folder.parent)
    folder.mkdir(exist_ok=True)
    sync(folder.parent)


def write_all(descriptor: int, data: bytes) -> None:
    """Write to the last byte; one call may take only some of them."""
    left = memoryview(data)
    while left:
        left = left[os.write(descriptor, left) :]


def sync(folder: Path) -> None:
    """Make the names in a folder survive a power cut, where the file system can."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot sync a folder; they keep names by themselves.
        if error.errno not in {errno.EINVAL, errno.ENOTSUP}:
            raise
    finally:
        os.close(descriptor)


@contextmanager
def told(place: Path) -> Iterator[None]:
    """Turn what the operating system says into one line that says what to do."""
    try:
        yield
    except OSError as error:
        reason = REASONS.get(error.errno or 0, error.strerror or str(error))
        raise StoreUnusable(f"the store cannot be used at {place}: {reason}.") from error
