"""What the steps of a capture are given to work with, and what they ask of a camera.

The camera is a protocol here, so that a folder of screenshots is planned and reduced
where no browser is installed, and so that every step is tested without one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from capture_consumer.builds.facts import Facts
from capture_consumer.builds.identity import Mode
from capture_consumer.capture.storybook import Site
from capture_consumer.clock import Clock
from capture_consumer.errors import NotNow

__all__ = ["BROWSER", "Blobs", "Camera", "Environment", "Shot", "Tools"]

BROWSER = "chromium"
"""The browser in the key of a story: which engine paints, not which build of it."""


class Blobs(Protocol):
    """The part of a store that a capture needs."""

    def put(self, data: bytes) -> str:
        """Keep bytes and return their sha256 in hex; safe to repeat."""
        ...

    def get(self, sha: str) -> bytes:
        """Return the bytes kept under a hash."""
        ...


class Environment(Protocol):
    """What pictures depend on beside the page (CAP-5)."""

    @property
    def hash(self) -> str:
        """The identity of it all."""
        ...


class Shot(Protocol):
    """One picture of one story, or why there is none (CAP-20)."""

    @property
    def png(self) -> bytes | None:
        """The picture; None where there is none."""
        ...

    @property
    def result(self) -> Literal["still", "moving", "errored"]:
        """Whether it came to rest."""
        ...

    @property
    def code(self) -> str | None:
        """The code word of what went wrong."""
        ...

    @property
    def message(self) -> str | None:
        """The same in one line."""
        ...

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know of a picture that is valid all the same."""
        ...

    @property
    def log(self) -> str:
        """Console, page errors, refused requests."""
        ...

    @property
    def steps_ms(self) -> Mapping[str, int]:
        """How long each step took."""
        ...

    @property
    def empty(self) -> bool:
        """Whether the story painted nothing."""
        ...


class Camera(Protocol):
    """One browser with one page. Raises `BrowserDied`, `BrowserUnusable`."""

    @property
    def environment(self) -> Environment:
        """Return what its pictures depend on, without starting the browser."""
        ...

    def open(self, site: Site) -> None:
        """Serve a Storybook on an origin of its own and open a page on it."""
        ...

    def take(
        self,
        story_id: str,
        mode: Mode,
        *,
        fresh: bool = False,
        known: Callable[[bytes], bool] | None = None,
    ) -> Shot:
        """Take a picture; `fresh`: in a fresh context. After `BrowserDied`: in a new browser.

        `known` tells whether a first shot is what is expected, so that it counts at once.
        """
        ...

    def leave(self) -> None:
        """End the site."""
        ...

    def renew(self) -> None:
        """End the browser, not the site; the next `take` starts a new one."""
        ...


@dataclass(frozen=True, slots=True)
class Tools:
    """What the steps work with. `elapsed` gives seconds, of which only differences count."""

    facts: Facts
    store: Blobs
    camera: Callable[[], Camera] | None
    clock: Clock
    elapsed: Callable[[], float]

    def open_camera(self) -> Camera:
        """Return the camera.

        Raises:
            NotNow: this consumer has none; another one may.
        """
        if self.camera is None:
            raise NotNow("no_browser", "This consumer runs without a browser.")
        return self.camera()
