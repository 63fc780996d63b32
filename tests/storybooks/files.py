"""A folder of files as the camera is handed them: by path, by hash, in memory."""

from hashlib import sha256
from pathlib import Path

from capture_consumer.capture.storybook import Site

__all__ = ["site_of"]


def site_of(folder: Path, *, allow: tuple[str, ...] = ()) -> Site:
    """Return the folder as a site."""
    contents: dict[str, bytes] = {}
    files: dict[str, str] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            sha = sha256(data).hexdigest()
            contents[sha] = data
            files[path.relative_to(folder).as_posix()] = sha
    return Site(files, contents.__getitem__, allow)
