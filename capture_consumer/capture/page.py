"""The one page, in a browser context of its own: it shows stories and is photographed.

It is navigated once, then told by the preview's own channel which story comes
next (CAP-14); anew every 20 stories and after trouble, because a story may leave
something behind (CAP-6).
"""

import base64
import contextlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from playwright.sync_api import Browser, BrowserContext, Error, Page

from capture_consumer.builds.identity import Mode
from capture_consumer.capture.flags import user_agent
from capture_consumer.capture.freeze import BINDING, Frozen, script
from capture_consumer.capture.limits import Limits
from capture_consumer.capture.storybook import PREVIEW, address_of
from capture_consumer.capture.watchdog import Watchdog
from capture_consumer.capture.witness import Witness

__all__ = ["Origin", "PageLost", "StoryPage"]

STORIES_A_NAVIGATION = 20
MARGIN_S = 1.0
WAIT_MS = 20
ARRIVES_MS = 2_000
STORAGE = "cookies,local_storage,indexeddb,cache_storage,service_workers,file_systems"
ELSEWHERE = re.compile(r'interrupted by another navigation to "([^"]*)"')
Why = Literal["absent", "gone", "late", "left", "reloaded"]


@dataclass(frozen=True, slots=True)
class Origin:
    """Where pages come from: the site's origin, and the guard all else goes through."""

    url: str
    authority: str
    proxy: str


class PageLost(Exception):
    """The page answers no more: it was late, has left, reloaded itself, or is gone."""

    def __init__(self, why: Why, text: str) -> None:
        super().__init__(text)
        self.why = why


class StoryPage:
    """A context and its page. Every call may raise PageLost."""

    def __init__(
        self, browser: Browser, origin: Origin, mode: Mode, watchdog: Watchdog, limits: Limits
    ) -> None:
        self._origin, self._watchdog, self._limits = origin, watchdog, limits
        self._context = _context(browser, origin, mode)
        self._page = self._context.new_page()
        self._context.on("page", _close)
        self._cdp = self._context.new_cdp_session(self._page)
        self._cdp.send("Runtime.enable")
        self._cdp.send("Runtime.addBinding", {"name": BINDING})
        self._cdp.on("Runtime.bindingCalled", self._on_step)
        self._page.add_init_script(script(Frozen()))
        self.witness = Witness(self._page)
        self.mode = mode
        self.stale = True
        self._shown = 0
        self._story: str | None = None

    @property
    def worn(self) -> bool:
        """Tell whether it is time to navigate anew (CAP-6)."""
        return self._shown >= STORIES_A_NAVIGATION

    def fits(self, mode: Mode) -> bool:
        """Tell whether this context can show the mode: size and media can be changed."""
        return (mode.scale, mode.locale) == (self.mode.scale, self.mode.locale)

    def wipe(self) -> None:
        """Leave nothing of the stories shown so far; the next one is navigated to."""
        self.stale = True
        with self._told():
            if self._shown:
                self._page.evaluate("() => __capture__.wipe()")
            self._cdp.send(
                "Storage.clearDataForOrigin",
                {"origin": self._origin.url, "storageTypes": STORAGE},
            )

    def show(self, story_id: str, mode: Mode) -> Mapping[str, Any]:
        """Show a story and wait until it is in and at rest; return how it stands."""
        caps = asdict(self._limits)
        self.witness.begin()
        self._expect("load")
        if self._must_navigate(story_id, mode):
            self._navigate(story_id, mode)
            report = self._ask("caps => __capture__.settle(caps)", caps)
        else:
            report = self._ask("([id, caps]) => __capture__.go(id, caps)", [story_id, caps])
        self._story = story_id
        self._shown += 1
        return self._network_settled(report, caps)

    def state(self) -> Mapping[str, Any]:
        """Return how the story stands now: its id, its errors, its height in pixels."""
        return self._ask("() => __capture__.state()", None)

    def shoot(self, height: int) -> bytes:
        """Return a PNG, `height` CSS pixels high, as wide as the viewport."""
        self._expect("shot")
        asked: dict[str, Any] = {"format": "png", "optimizeForSpeed": True}
        if height > self.mode.height:
            box = {"x": 0, "y": 0, "width": self.mode.width, "height": height, "scale": 1}
            asked |= {"captureBeyondViewport": True, "clip": box}
        with self._told():
            return base64.b64decode(self._cdp.send("Page.captureScreenshot", asked)["data"])

    def wait(self, ms: int) -> None:
        """Let the page go on for a while."""
        with self._told():
            self._page.wait_for_timeout(ms)

    def close(self) -> None:
        """End the context and everything in it."""
        self._watchdog.expect("close", MARGIN_S * 5)
        with contextlib.suppress(Error):
            self._context.close()
        self._watchdog.relax()

    def _must_navigate(self, story_id: str, mode: Mode) -> bool:
        return self.stale or self.worn or story_id == self._story or mode != self.mode

    def _navigate(self, story_id: str, mode: Mode) -> None:
        self.stale, self._shown = False, 0
        with self._told():
            if (mode.width, mode.height) != (self.mode.width, self.mode.height):
                self._page.set_viewport_size({"width": mode.width, "height": mode.height})
            if mode.media or self.mode.media:
                self._page.emulate_media(**_media(mode))
            self.mode = mode
            answer = self._page.goto(
                address_of(self._origin.url, story_id, mode),
                wait_until="commit",
                timeout=self._limits.load_ms,
            )
        if answer is not None and not answer.ok:
            raise PageLost("absent", f"{PREVIEW} was answered with {answer.status}")

    def _network_settled(self, report: Mapping[str, Any], caps: Any) -> Mapping[str, Any]:
        """Wait for what scripts cannot see: their own chunks, styles, frames (CAP-17)."""
        if not self.witness.waiting() or report["errors"] or report["over"] or report["notes"]:
            return report
        self._expect("settle")
        for _ in range(self._limits.settle_ms // WAIT_MS):
            self.wait(WAIT_MS)
            if not self.witness.waiting():
                return self._ask("caps => __capture__.settle(caps)", caps)
        return {**report, "notes": [*report["notes"], "network_not_idle"]}

    def _ask(self, question: str, given: Any) -> Mapping[str, Any]:
        with self._told():
            answer: Mapping[str, Any] = self._page.evaluate(question, given)
        if not self._is_ours(self._page.url):
            raise PageLost("left", _left(self._page.url))
        return answer

    def _is_ours(self, address: str) -> bool:
        return address.split("?", 1)[0] == f"{self._origin.url}/{PREVIEW}"

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Say in our words what went wrong inside."""
        try:
            yield
        except Error as error:
            raise self._lost(error) from error

    def _lost(self, error: Error) -> PageLost:
        self.stale = True
        text = str(error).strip().splitlines()[0][:300]
        if self._watchdog.late is not None:
            return PageLost("late", text)
        if self._page.is_closed() or "crash" in text.lower() or "closed" in text.lower():
            return PageLost("gone", text)
        with contextlib.suppress(Error):  # where it goes is known once it is there
            self._page.wait_for_load_state("domcontentloaded", timeout=ARRIVES_MS)
        elsewhere = ELSEWHERE.search(str(error))
        address = elsewhere.group(1) if elsewhere else self._page.url
        if not self._is_ours(address):
            return PageLost("left", _left(address))
        return PageLost("reloaded", text)

    def _expect(self, step: str) -> None:
        self._watchdog.expect(step, self._limits.of_step(step) / 1000 + MARGIN_S)

    def _on_step(self, told: Mapping[str, Any]) -> None:
        step = told.get("payload")
        if told.get("name") == BINDING and step in {"load", "render", "play", "settle", "shot"}:
            self._expect(str(step))


def _context(browser: Browser, origin: Origin, mode: Mode) -> BrowserContext:
    return browser.new_context(
        viewport={"width": mode.width, "height": mode.height},
        device_scale_factor=mode.scale,
        user_agent=user_agent(browser.version),
        locale=mode.locale or "en-US",
        timezone_id="UTC",
        accept_downloads=False,
        # The later rule wins: loopback goes through the guard, but for our own port.
        proxy={"server": origin.proxy, "bypass": f"<-loopback>,{origin.authority}"},
        **_media(mode),
    )


def _media(mode: Mode) -> dict[str, Any]:
    names = {"prefers-color-scheme": "color_scheme", "prefers-reduced-motion": "reduced_motion"}
    return {
        "color_scheme": "light",
        "reduced_motion": "no-preference",
        **{names[name]: value for name, value in mode.media.items() if name in names},
    }


def _left(address: str) -> str:
    return f"it went to {address[:300]}"


def _close(page: Page) -> None:
    with contextlib.suppress(Error):
        page.close()
