"""One browser a module, since Playwright drives one at a time; a server of somebody else."""

from __future__ import annotations

import os
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import pytest

from capture_consumer.capture.browser import BrowserChoice, find
from capture_consumer.capture.limits import Limits
from capture_consumer.capture.shutter import Camera
from capture_consumer.errors import BrowserUnusable
from capture_consumer.machine import tree

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Short, so that what hangs costs a test seconds; long enough for a busy machine.
IMPATIENT = Limits(
    load_ms=10_000, render_ms=2_500, play_ms=1_500, settle_ms=3_000, timers_ms=600
)


@pytest.fixture(scope="session")
def browser() -> BrowserChoice:
    """Return this machine's browser; without one, these tests say so and are left out."""
    try:
        return find(None, os.environ)
    except BrowserUnusable as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for what the camera needs while it runs."""
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="module")
def camera(browser: BrowserChoice, scratch: Path) -> Iterator[Camera]:
    """Return a camera with short limits; nothing of it is left at the end."""
    with Camera(browser, scratch=scratch, limits=IMPATIENT) as made:
        yield made
        pids = made.pids()
    assert made.pids() == []
    assert not [pid for pid in pids if tree(pid)]
    assert list(scratch.iterdir()) == []


class Outside(HTTPServer):
    """A server of somebody else; `asked` holds the requests that reached it."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.asked: list[str] = []


class Answer(BaseHTTPRequestHandler):
    """Answers whoever asks."""

    server: Outside

    def do_GET(self) -> None:
        """Note it down and answer."""
        self.server.asked.append(f"{self.headers['Host']}{self.path}")
        self.send_response(200)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def outside() -> Iterator[Outside]:
    """Return a running server on loopback that is not ours to ask."""
    server = Outside()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
