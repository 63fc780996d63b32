"""What a page said and asked for while a story was in hand (CAP-17, CAP-20)."""

from collections import deque
from urllib.parse import urlsplit

from playwright.sync_api import ConsoleMessage, Error, Page, Request

__all__ = ["Witness"]

LOG_BYTES_MAX = 65_536
LINE_MAX = 2_000
# A picture does not wait for these: they may stay open for good.
ENDLESS = {"eventsource", "media", "ping", "texttrack", "websocket"}


class Witness:
    """Listens to one page; `begin` closes what belongs to an earlier story."""

    def __init__(self, page: Page) -> None:
        self._lines: deque[str] = deque()
        self._bytes = 0
        self._flying: set[Request] = set()
        self._failed: list[Request] = []
        page.on("console", self._on_console)
        page.on("pageerror", self._on_error)
        page.on("request", self._on_request)
        page.on("requestfinished", self._on_finished)
        page.on("requestfailed", self._on_failed)

    def begin(self) -> None:
        """Begin a story: what an earlier one left open is not waited for."""
        self._lines.clear()
        self._bytes = 0
        self._flying.clear()
        self._failed.clear()

    def waiting(self) -> bool:
        """Tell whether a request is under way that will end."""
        return bool(self._flying)

    @property
    def log(self) -> str:
        """Return the console's lines and the page's errors, cut at 64 KiB."""
        return "\n".join(self._lines)

    def fonts_missed(self) -> tuple[str, ...]:
        """Return the addresses of fonts that did not come."""
        return tuple(
            _short(asked.url) for asked in self._failed if asked.resource_type == "font"
        )

    def _on_console(self, message: ConsoleMessage) -> None:
        self._add(f"{message.type}: {message.text}")

    def _on_error(self, error: Error) -> None:
        self._add(f"uncaught: {error}")

    def _on_request(self, request: Request) -> None:
        if request.resource_type not in ENDLESS and not request.is_navigation_request():
            self._flying.add(request)

    def _on_finished(self, request: Request) -> None:
        self._flying.discard(request)

    def _on_failed(self, request: Request) -> None:
        self._flying.discard(request)
        self._failed.append(request)
        self._add(f"request failed: {_short(request.url)} ({request.failure})")

    def _add(self, line: str) -> None:
        cut = line[:LINE_MAX]
        size = len(cut.encode(errors="replace")) + 1
        if self._bytes + size <= LOG_BYTES_MAX:
            self._lines.append(cut)
            self._bytes += size


def _short(address: str) -> str:
    parts = urlsplit(address)
    return address[:300] if parts.scheme in {"http", "https"} else f"{parts.scheme}:…"
