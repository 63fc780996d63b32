"""A folder to be submitted: checked whole before anything is written, then sent by hash.

What is wrong with a folder is told in one line before a build exists. How a file is
stored is the caller's: this room is handed a function for it.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from capture_consumer.errors import BadInput

__all__ = ["Found", "Sent", "check", "digest", "send"]

Kind = Literal["storybook", "images"]
MARKS = ("index.json", "stories.json", "iframe.html")
PICTURES = (".png",)
IGNORED = {".DS_Store", "Thumbs.db", "desktop.ini", ".git", ".capture", "__MACOSX"}
FILES_MOST = 50_000
FILE_BYTES_MOST = 512 * 2**20
BYTES_MOST = 8 * 2**30
DEPTH_MOST = 64
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Found:
    """A folder that can be submitted. `skipped` counts files that are no pictures."""

    folder: Path
    kind: Kind
    paths: tuple[str, ...]
    bytes: int
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Sent:
    """One file that is in the store now: its path inside the folder, its hash, its size."""

    path: str
    sha: str
    bytes: int


def check(folder: Path, *, kind: Literal["auto", "storybook", "images"] = "auto") -> Found:
    """Return what there is to submit in a folder.

    Raises:
        BadInput: it is not there, empty, neither a Storybook nor pictures, or too large.
    """
    if not folder.is_dir():
        hint = "is a file: give the folder" if folder.exists() else "does not exist"
        raise BadInput(f"{folder} {hint}")
    sizes = dict(sorted(_files(folder)))
    if not sizes:
        raise BadInput(f"{folder} is empty: build the Storybook first (`npx storybook build`)")
    told = _kind(folder, sizes) if kind == "auto" else kind
    kept = (
        sizes if told == "storybook" else {path: sizes[path] for path in sizes if _shown(path)}
    )
    if told == "storybook" and not any(mark in sizes for mark in MARKS):
        raise BadInput(f"{folder} is no built Storybook: it has no index.json")
    if not kept:
        raise BadInput(f"{folder} holds no PNG pictures")
    if sum(kept.values()) > BYTES_MOST:
        raise BadInput(f"{folder} is larger than {BYTES_MOST // 2**30} GiB")
    return Found(folder, told, tuple(kept), sum(kept.values()), len(sizes) - len(kept))


def send(
    found: Found, store: Callable[[bytes], str], *, sent: Callable[[Sent], None]
) -> Sequence[Sent]:
    """Store each file, a few at once; return what was stored, by path.

    Args:
        found: what `check` returned.
        store: puts bytes under their hash and returns it; putting them again is harmless.
        sent: told of each file as soon as it is safe.

    Raises:
        BadInput: a file went away or changed while it was read.
    """

    def one(path: str) -> Sent:
        try:
            data = (found.folder / path).read_bytes()
        except OSError as error:
            raise BadInput(f"{path} cannot be read: {error.strerror}") from error
        return Sent(path, store(data), len(data))

    done = []
    with ThreadPoolExecutor(AT_ONCE, "upload") as pool:
        try:
            for file in pool.map(one, found.paths):
                sent(file)
                done.append(file)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return done


def digest(files: Sequence[Sent]) -> str:
    """Return one hash of a whole folder: of each path and its content, in order."""
    whole = hashlib.sha256()
    for file in sorted(files, key=lambda one: one.path):
        whole.update(f"{file.path}\0{file.sha}\n".encode())
    return whole.hexdigest()


def _kind(folder: Path, sizes: dict[str, int]) -> Kind:
    """Return what the folder is by what lies at its top."""
    if any(mark in sizes for mark in MARKS):
        return "storybook"
    if any(_shown(path) for path in sizes):
        return "images"
    raise BadInput(
        f"{folder} is neither a built Storybook (index.json) nor a folder of PNG pictures"
    )


def _shown(path: str) -> bool:
    return path.lower().endswith(PICTURES)


def _files(folder: Path) -> Iterator[tuple[str, int]]:
    """Return each file's path inside the folder and its size; links must stay inside."""
    top, count = folder.resolve(), 0
    for at, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = sorted(name for name in folders if name not in IGNORED)
        for name in (*folders, *names):
            path = Path(at, name)
            if path.is_symlink() and not (
                path.resolve().is_relative_to(top) and path.is_file()
            ):
                raise BadInput(f"{path} is a link to elsewhere: put a copy in its place")
        for name in sorted(set(names) - IGNORED):
            count += 1
            yield _inside(Path(at, name), folder), _size(Path(at, name))
            if count > FILES_MOST:
                raise BadInput(f"{folder} has more than {FILES_MOST:,} files")


def _refuse(error: OSError) -> None:
    raise BadInput(f"{error.filename} cannot be read: {error.strerror}") from error


def _inside(path: Path, folder: Path) -> str:
    inside = path.relative_to(folder)
    if len(inside.parts) > DEPTH_MOST:
        raise BadInput(f"{path} lies deeper than {DEPTH_MOST} folders")
    text = inside.as_posix()
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"{text!a}: its name is not UTF-8: rename it") from error
    return text


def _size(path: Path) -> int:
    if not path.is_file():
        raise BadInput(f"{path} is no ordinary file: remove it")
    size = path.stat().st_size
    if size > FILE_BYTES_MOST:
        raise BadInput(f"{path} is larger than {FILE_BYTES_MOST // 2**20} MiB")
    return size
