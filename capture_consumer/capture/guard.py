"""The network guard: a proxy that lets a page out to nobody but the allowed (CAP-8).

The browser is told to send everything but its own origin through here, so the
rule holds for scripts, workers, sockets and redirects alike, and costs the own
origin nothing. A name's addresses are looked up here and only here: one that
leads into this network is refused even when its name is allowed.
"""

import contextlib
import ipaddress
import selectors
import socket
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from fnmatch import fnmatchcase
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

__all__ = ["Guard", "is_public", "look_up"]

CONNECT_S = 5
IDLE_S = 30
CHUNK_BYTES = 65_536
HOP_HEADERS = {"connection", "keep-alive", "proxy-authorization", "proxy-connection"}


def look_up(host: str, port: int) -> list[str]:
    """Return the addresses of a host."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[4][0]) for address in found]


def is_public(address: str) -> bool:
    """Tell whether an address lies outside: not private, link-local, metadata or ours."""
    known = ipaddress.ip_address(address.split("%", 1)[0])
    mapped = getattr(known, "ipv4_mapped", None)
    known = mapped or known
    return known.is_global and not known.is_multicast


class Guard:
    """A proxy on loopback in threads of its own. `close` it at the end."""

    def __init__(
        self,
        *,
        look_up: Callable[[str, int], Collection[str]] = look_up,
        is_public: Callable[[str], bool] = is_public,
    ) -> None:
        self._look_up, self._is_public = look_up, is_public
        self._allow: tuple[str, ...] = ()
        self._refused: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._server = _Proxy(("127.0.0.1", 0), _Handler)
        self._server.of = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True
        )
        self._thread.start()

    @property
    def address(self) -> str:
        """Return the proxy's URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def allow(self, hosts: Collection[str]) -> None:
        """Set whom pages may ask from now on: names, with `*.` for all below one."""
        self._allow = tuple(host.lower() for host in hosts)

    def refused(self) -> dict[str, int]:
        """Return how often each host was refused since the last call."""
        with self._lock:
            refused, self._refused = dict(self._refused), Counter()
        return refused

    def connect(self, host: str, port: int) -> socket.socket | None:
        """Return a connection to an allowed host, or None: it is refused and listed."""
        name = host.lower().rstrip(".")
        try:
            allowed = any(fnmatchcase(name, pattern) for pattern in self._allow)
            addresses = self._look_up(name, port) if allowed else ()
            if addresses and all(self._is_public(address) for address in addresses):
                return socket.create_connection((next(iter(addresses)), port), CONNECT_S)
        except (OSError, ValueError):
            pass
        with self._lock:
            self._refused[name[:200]] += 1
        return None

    def close(self) -> None:
        """Stop; open tunnels end with their pages."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Proxy(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    of: Guard

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a browser that hangs up is no event."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    server: _Proxy

    def do_CONNECT(self) -> None:
        """Open a tunnel (https, sockets)."""
        host, _, port = self.path.rpartition(":")
        with self._outside(host.strip("[]"), port) as outside:
            if outside is None:
                return
            self.send_response_only(200)
            self.end_headers()
            _both_ways(self.connection, outside)

    def do_GET(self) -> None:
        """Pass a plain request on."""
        asked = urlsplit(self.path)
        with self._outside(asked.hostname or "", str(asked.port or 80)) as outside:
            if outside is None:
                return
            path = asked._replace(scheme="", netloc="").geturl() or "/"
            lines = [f"{self.command} {path} HTTP/1.1"]
            kept = (pair for pair in self.headers.items() if pair[0].lower() not in HOP_HEADERS)
            lines += [f"{name}: {value}" for name, value in kept]
            outside.sendall(
                "\r\n".join([*lines, "Connection: close\r\n\r\n"]).encode("latin-1")
            )
            _both_ways(self.connection, outside)

    do_DELETE = do_HEAD = do_OPTIONS = do_PATCH = do_POST = do_PUT = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: what was refused is told with the shot."""

    @contextlib.contextmanager
    def _outside(self, host: str, port: str) -> Iterator[socket.socket | None]:
        self.close_connection = True
        found = self.server.of.connect(host, int(port)) if port.isdigit() else None
        if found is None:
            self.send_response_only(403)
            self.send_header("Content-Length", "0")
            self.end_headers()
            yield None
            return
        with found:
            yield found


def _both_ways(inside: socket.socket, outside: socket.socket) -> None:
    """Carry bytes until one side ends or both are silent for a while."""
    with selectors.DefaultSelector() as ready:
        ready.register(inside, selectors.EVENT_READ, (inside, outside))
        ready.register(outside, selectors.EVENT_READ, (outside, inside))
        while events := ready.select(IDLE_S):
            for key, _ in events:
                source, target = key.data
                data = source.recv(CHUNK_BYTES)
                if not data:
                    return
                target.sendall(data)
