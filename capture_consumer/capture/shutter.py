"""The camera: stories of one Storybook at a time, each to one `Shot`.

Read `Camera.take` first. A story that throws, hangs or is too large is an errored
`Shot`; a page or browser that dies raises `BrowserDied`, and the next call starts
a new one (CAP-22). This room knows no queue and no baseline.
"""

from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

import structlog
from playwright.sync_api import Error

from capture_consumer.builds.identity import Mode
from capture_consumer.capture.browser import BrowserChoice
from capture_consumer.capture.environment import Environment, environment_of
from capture_consumer.capture.exposure import Known, Shot, errored, expose
from capture_consumer.capture.guard import Guard
from capture_consumer.capture.launch import Launched
from capture_consumer.capture.limits import Limits
from capture_consumer.capture.page import Origin, PageLost, StoryPage
from capture_consumer.capture.server import SiteServer
from capture_consumer.capture.storybook import Site
from capture_consumer.capture.watchdog import Measure, Watchdog
from capture_consumer.errors import BrowserDied

__all__ = ["Camera", "Shot"]

log = structlog.get_logger()

STORIES_A_BROWSER = 300
RSS_BYTES_MAX = 1_500 * 2**20
START_S = 60.0
LOST = {
    "absent": ("load_error", "The preview cannot be loaded"),
    "left": ("navigated_away", "The story left its page"),
    "reloaded": ("reloads", "The page reloads itself again and again"),
}


class Camera:
    """A browser, when it is needed, and the site whose stories are taken.

    All but `pids` and `kill` belong to the thread that calls `take` first.
    """

    def __init__(
        self,
        browser: BrowserChoice,
        *,
        scratch: Path,
        limits: Limits | None = None,
        guard: Guard | None = None,
    ) -> None:
        self.environment: Environment = environment_of(browser)
        self._limits = limits or Limits()
        self._guard = guard or Guard()
        self._launched = Launched(browser, scratch)
        self._watchdog = Watchdog(
            (
                Measure(0.0, self._launched.kill_renderers),
                Measure(3.0, self._launched.kill),
                Measure(6.0, self._launched.kill_all),
            )
        )
        self._server: SiteServer | None = None
        self._origin: Origin | None = None
        self._page: StoryPage | None = None
        self._confirming: StoryPage | None = None
        self._taken = 0

    def open(self, site: Site) -> None:
        """Serve a Storybook from an origin of its own; end the one before."""
        self.leave()
        self._guard.allow(site.allow)
        self._server = SiteServer(site)
        self._origin = Origin(self._server.origin, self._server.authority, self._guard.address)

    def take(
        self, story_id: str, mode: Mode, *, fresh: bool = False, known: Known = None
    ) -> Shot:
        """Take one story.

        Args:
            story_id: as the index names it.
            mode: how it is shown.
            fresh: in a new context, by navigation, as the confirmation wants it (CAP-21).
            known: tells whether a PNG is the expected one; then no second one is taken.

        Raises:
            BrowserDied: the page or its browser is gone; the next call starts a new one.
            BrowserUnusable: the browser does not start.
            Exception: what the site's `read` raised; it is no fault of the story's.
        """
        assert self._server is not None, "open a site first"
        self._watchdog.begin()
        self._guard.refused()
        self._server.missed()
        try:
            shot = self._try(story_id, mode, fresh=fresh, known=known)
        finally:
            self._watchdog.relax()
            self._taken += 1
        if self._server.fault is not None:
            fault, self._server.fault = self._server.fault, None
            raise fault
        return replace(shot, warnings=(*shot.warnings, *self._notes()))

    def _try(self, story_id: str, mode: Mode, *, fresh: bool, known: Known) -> Shot:
        try:
            return self._once(story_id, mode, fresh=fresh, known=known)
        except PageLost as lost:
            if lost.why != "reloaded":
                return self._lost(lost)
        # The preview reloads itself now and then, a service worker once (CAP-9).
        try:
            return self._once(story_id, mode, fresh=fresh, known=known)
        except PageLost as lost:
            return self._lost(lost)

    def _once(self, story_id: str, mode: Mode, *, fresh: bool, known: Known) -> Shot:
        page = self._fresh_page(mode) if fresh else self._page_for(mode)
        return expose(page, story_id, mode, self._limits, known)

    def _lost(self, lost: PageLost) -> Shot:
        """Say what became of the story whose page is lost."""
        step, late = self._watchdog.step, self._watchdog.late
        if lost.why == "gone" and late is None:
            raise self._died(f"The page died: {lost}")
        self._leave_pages()
        if lost.why == "late" or late is not None:
            cap = self._limits.of_step(late or step) / 1000
            text = f"The step {late or step} took more than {cap:g} s; its page was ended."
            return errored(f"{late or step}_timeout", text)
        code, text = LOST[lost.why]
        return errored(code, f"{text}: {lost}.")

    def _page_for(self, mode: Mode) -> StoryPage:
        """Return the page that goes from story to story."""
        if self._taken >= STORIES_A_BROWSER:
            self._recycle("stories", self._taken)
        elif self._page is not None and self._page.worn:
            rss = self._launched.rss_bytes()
            if rss > RSS_BYTES_MAX:
                self._recycle("memory", rss)
        if self._page is None or not self._page.fits(mode):
            _close(self._page)
            self._page = self._new_page(mode)
        return self._page

    def _fresh_page(self, mode: Mode) -> StoryPage:
        """Return the page of another context, wiped: nothing of any story is left in it.

        The context is kept for confirmations only. A new one each time would start a new
        process and compile all scripts again, three times as long.
        """
        if self._confirming is None or not self._confirming.fits(mode):
            _close(self._confirming)
            self._confirming = self._new_page(mode)
        self._confirming.wipe()
        return self._confirming

    def _new_page(self, mode: Mode) -> StoryPage:
        assert self._origin is not None
        self._watchdog.expect("load", START_S)
        try:
            browser = self._launched.browser()
            return StoryPage(browser, self._origin, mode, self._watchdog, self._limits)
        except Error as error:
            raise self._died(f"The browser opens no page: {str(error)[:300]}") from error

    def _recycle(self, why: str, number: int) -> None:
        log.info("browser_recycled", why=why, number=number)
        self._leave_pages()
        self._launched.stop_browser()
        self._taken = 0

    def _died(self, what: str) -> BrowserDied:
        self._page = self._confirming = None
        self._taken = 0
        self._watchdog.expect("close", 5.0)
        return self._launched.died(what)

    def _notes(self) -> list[str]:
        assert self._server is not None
        refused = self._guard.refused()
        missed = sorted(set(self._server.missed()))
        return [
            *(f"refused: {host} ({count})" for host, count in sorted(refused.items())),
            *(f"missing: {path}" for path in missed[:20]),
        ]

    def _leave_pages(self) -> None:
        pages = self._page, self._confirming
        self._page = self._confirming = None
        for page in pages:
            _close(page)

    def leave(self) -> None:
        """End the site: its context, its origin. The browser stays."""
        self._leave_pages()
        if self._server is not None:
            self._server.close()
        self._server = self._origin = None

    def close(self) -> None:
        """End everything; nothing is left running or on disk."""
        self._watchdog.expect("close", 5.0)
        self.leave()
        self._watchdog.expect("close", 5.0)
        self._launched.stop()
        self._watchdog.close()
        self._guard.close()

    def renew(self) -> None:
        """End the browser, not the site; the next `take` starts a new one (SUP-45)."""
        self._recycle("asked", self._taken)

    def pids(self) -> list[int]:
        """Return the processes of driver and browser that live. Thread-safe."""
        return self._launched.pids()

    def kill(self) -> None:
        """Kill the browser now: a `take` under way raises BrowserDied. Thread-safe (R32)."""
        self._launched.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _close(page: StoryPage | None) -> None:
    if page is not None:
        page.close()
