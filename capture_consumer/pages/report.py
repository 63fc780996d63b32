"""A build's report: one HTML file and its pictures, readable anywhere, without a network."""

import os
from collections.abc import Callable
from pathlib import Path

from capture_consumer.builds.facts import BuildView
from capture_consumer.errors import BadInput
from capture_consumer.pages import builds
from capture_consumer.pages.album import FolderAlbum
from capture_consumer.pages.render import html

__all__ = ["write"]


def write(view: BuildView, store_get: Callable[[str], bytes], folder: Path) -> Path:
    """Write `index.html`, `pictures/` and `logs/` into a folder; return the HTML's path.

    The folder is made; one that has a report already gets the new one, and keeps pictures
    that lie there. The HTML is renamed into place when all it shows is there.

    Raises:
        BadInput: the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        page = builds.page(view, FolderAlbum(store_get, folder))
        new = folder / f".index.{os.getpid()}.html"
        new.write_text(html("report.html", page=page), encoding="utf-8")
        return new.replace(folder / "index.html")
    except OSError as error:
        raise BadInput(f"the report cannot be written to {folder}: {error.strerror}") from error
