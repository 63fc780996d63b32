"""Playwright's driver and one browser below it, known by their pids.

Whoever may use the objects (one thread, always the same) starts and stops; the
pids may be asked for and killed from any thread (R32).
"""

import contextlib
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import structlog
from playwright.sync_api import Browser, Error, Playwright, sync_playwright

from capture_consumer.capture.browser import BrowserChoice
from capture_consumer.capture.flags import FLAGS, environment_of_browser, may_use_sandbox
from capture_consumer.errors import BrowserDied, BrowserUnusable
from capture_consumer.machine import Process, tree

__all__ = ["Launched", "sweep"]

log = structlog.get_logger()

START_MS = 30_000
PREFIX = "camera-"
# Pages have a proxy with their context. What the browser itself asks for goes nowhere.
NOWHERE = "http://127.0.0.1:9"
NO_SANDBOX = (
    "Chromium runs without its sandbox. To have it: run as another user than root, in a"
    " system that allows user namespaces (or the image's seccomp profile)."
)


class Launched:
    """A driver, and a browser when it was started; both can be started again."""

    def __init__(self, choice: BrowserChoice, scratch: Path) -> None:
        self._choice = choice
        self._home = _new_home(scratch)
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._driver: Process | None = None
        self._lock = threading.Lock()
        self._sandbox = may_use_sandbox()
        if not self._sandbox:
            log.warning("browser_without_sandbox", cure=NO_SANDBOX)

    def browser(self) -> Browser:
        """Return the browser; start it when none is running.

        Raises:
            BrowserUnusable: it does not start.
        """
        if self._browser is None or not self._browser.is_connected():
            self._browser = self._start()
        return self._browser

    def _start(self) -> Browser:
        self._home.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            playwright = self._drive()
            return self._launch(playwright)
        except (Error, OSError) as error:
            first = str(error).strip().splitlines()[0]
            raise BrowserUnusable(
                f"The browser {self._choice.path} does not start: {first}"
            ) from error

    def _drive(self) -> Playwright:
        if self._playwright is None:
            before = {process.pid for process in tree(os.getpid())}
            with _temporary_folder(self._home):
                self._playwright = sync_playwright().start()
            new = [one for one in tree(os.getpid()) if one.pid not in before]
            with self._lock:
                self._driver = min(new, key=lambda one: one.started_at_s, default=None)
        return self._playwright

    def _launch(self, playwright: Playwright) -> Browser:
        try:
            return self._try_launch(playwright)
        except Error as error:
            if not self._sandbox or "sandbox" not in str(error).lower():
                raise
        log.warning("browser_without_sandbox", cure=NO_SANDBOX)
        self._sandbox = False
        return self._try_launch(playwright)

    def _try_launch(self, playwright: Playwright) -> Browser:
        return playwright.chromium.launch(
            executable_path=self._choice.path,
            args=list(FLAGS),
            chromium_sandbox=self._sandbox,
            env={**environment_of_browser(os.environ, self._home)},
            handle_sigint=False,  # the process that holds us decides what a signal means
            handle_sigterm=False,
            handle_sighup=False,
            proxy={"server": NOWHERE, "bypass": "<-loopback>"},
            timeout=START_MS,
        )

    def pids(self) -> list[int]:
        """Return driver and browser processes that live. Thread-safe."""
        return [process.pid for process in self._tree()]

    def rss_bytes(self) -> int:
        """Return the resident bytes of driver and browser. Thread-safe."""
        return sum(process.rss_bytes for process in self._tree())

    def kill(self) -> None:
        """Kill the browser; whoever waits for it is told. Thread-safe."""
        for process in self._tree()[1:]:
            _kill(process.pid)

    def kill_renderers(self) -> None:
        """Kill the processes that run pages; the browser lives on. Thread-safe."""
        for process in self._tree()[1:]:
            if _is_renderer(process.pid):
                _kill(process.pid)

    def kill_all(self) -> None:
        """Kill the browser and the driver. Thread-safe."""
        for process in reversed(self._tree()):
            _kill(process.pid)

    def _tree(self) -> tuple[Process, ...]:
        with self._lock:
            driver = self._driver
        if driver is None:
            return ()
        found = tree(driver.pid)
        # The pid may be another process's by now.
        same = bool(found) and found[0].started_at_s == driver.started_at_s
        return found if same else ()

    def stop_browser(self) -> None:
        """End the browser; the driver stays."""
        browser, self._browser = self._browser, None
        if browser is not None:
            with contextlib.suppress(Error):
                browser.close()
        if not self._tree():
            self._stop_driver()
        self.kill()

    def _stop_driver(self) -> None:
        playwright, self._playwright = self._playwright, None
        if playwright is not None:
            with contextlib.suppress(Exception):  # it may be dead already
                playwright.stop()
        with self._lock:
            self._driver = None

    def stop(self) -> None:
        """End browser and driver, and remove what they left."""
        self.stop_browser()
        self._stop_driver()
        shutil.rmtree(self._home, ignore_errors=True)

    def died(self, what: str) -> BrowserDied:
        """Return the error that says so, having cleaned up."""
        self.stop_browser()
        return BrowserDied(what)


def sweep(scratch: Path) -> None:
    """Remove what cameras of processes that are gone left here (CAP-10)."""
    for home in scratch.glob(f"{PREFIX}*"):
        pid = home.name.removeprefix(PREFIX).split("-")[0]
        if not pid.isdigit() or not tree(int(pid)):
            shutil.rmtree(home, ignore_errors=True)


def _new_home(scratch: Path) -> Path:
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    sweep(scratch)
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=scratch)).resolve()


@contextlib.contextmanager
def _temporary_folder(home: Path) -> Iterator[None]:
    """Have the driver put the browser's profile there: it asks its environment only."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(home)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


def _is_renderer(pid: int) -> bool:
    try:
        return b"--type=renderer" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return not Path("/proc/self").exists()  # no way to tell: all of them, then


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
