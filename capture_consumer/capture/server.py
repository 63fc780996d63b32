"""Serve one built Storybook from an origin of its own on loopback (CAP-7).

Only known files, each by its exact path: there is no folder to leave. All is
immutable, so a page that is opened anew takes its scripts from the cache.
"""

import mimetypes
import threading
from collections import OrderedDict
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from capture_consumer.capture.storybook import Site

__all__ = ["SiteServer"]

KEPT_BYTES = 64 * 2**20
IDLE_S = 60
TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".mjs": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".wasm": "application/wasm",
    ".webp": "image/webp",
    ".woff": "font/woff",
    ".woff2": "font/woff2",
}


class SiteServer:
    """A small server in threads of its own. Use it as a context, or `close` it."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._kept_bytes = 0
        self._lock = threading.Lock()
        self._missed: list[str] = []
        self.fault: Exception | None = None
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.of = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        )
        self._thread.start()

    @property
    def authority(self) -> str:
        """Return host and port."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def origin(self) -> str:
        """Return the origin that pages of this site have."""
        return f"http://{self.authority}"

    def missed(self) -> tuple[str, ...]:
        """Return the paths that were asked for in vain since the last call."""
        with self._lock:
            missed, self._missed = tuple(self._missed), []
        return missed

    def content(self, path: str) -> bytes | None:
        """Return a file's bytes, or None when there is no such file. Thread-safe."""
        sha = self._site.files.get(path.removeprefix("/"))
        with self._lock:
            if sha is None:
                if path != "/favicon.ico":  # the browser asks for it, not the page
                    self._missed.append(path[:500])
                return None
            if sha in self._kept:
                self._kept.move_to_end(sha)
                return self._kept[sha]
        data = self._site.read(sha)
        self._keep(sha, data)
        return data

    def _keep(self, sha: str, data: bytes) -> None:
        with self._lock:
            if sha in self._kept:
                return
            self._kept[sha] = data
            self._kept_bytes += len(data)
            while self._kept_bytes > KEPT_BYTES:
                self._kept_bytes -= len(self._kept.popitem(last=False)[1])

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> "SiteServer":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    of: SiteServer

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a browser that hangs up is no event."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    server: _Server

    def do_GET(self) -> None:
        """Answer with a file."""
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        """Answer with a file's headers."""
        self._answer(with_body=False)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: what matters is told with the shot."""

    def _answer(self, *, with_body: bool) -> None:
        # A name that was bound to this address is another origin's, not ours.
        if self.headers.get("Host") != self.server.of.authority:
            self._send(HTTPStatus.MISDIRECTED_REQUEST, b"", "text/plain", with_body=with_body)
            return
        path = unquote(urlsplit(self.path).path)
        try:
            body = self.server.of.content(path)
        except Exception as error:  # whatever the store raises is told to the camera
            self.server.of.fault = error
            status = HTTPStatus.INTERNAL_SERVER_ERROR
            self._send(status, b"", "text/plain", with_body=with_body)
            return
        if body is None:
            self._send(HTTPStatus.NOT_FOUND, b"", "text/plain", with_body=with_body)
        else:
            self._send(HTTPStatus.OK, body, _type_of(path), with_body=with_body)

    def _send(self, status: HTTPStatus, body: bytes, kind: str, *, with_body: bool) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        kept = "public, max-age=31536000, immutable" if status is HTTPStatus.OK else "no-store"
        self.send_header("Cache-Control", kept)
        self.end_headers()
        if with_body:
            self.wfile.write(body)


def _type_of(path: str) -> str:
    suffix = PurePosixPath(path).suffix.lower()
    return TYPES.get(suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"
