"""Fakes around a capture that behave: a store, a hold, a camera."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Literal

from capture_consumer.builds.effects import Effects
from capture_consumer.builds.identity import Mode
from capture_consumer.capture.storybook import Site
from capture_consumer.consumer.job import StopWhy
from capture_consumer.errors import Interrupted, StoreUnusable
from tests.fakes import PlainFacts

__all__ = ["Blobs", "FakeCamera", "FakeHold", "Killed", "Shot"]


class Killed(BaseException):
    """The process is gone: nothing catches it."""


class Blobs(dict[str, bytes]):
    """A store that is a dict."""

    url = "dict:"

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def put(self, data: bytes) -> str:
        """Keep bytes."""
        sha = sha256(data).hexdigest()
        self[sha] = data
        return sha

    def get(self, sha: str) -> bytes:  # type: ignore[override]
        """Return bytes."""
        if sha not in self:
            raise StoreUnusable(f"{sha[:12]} is not there")
        self.read.append(sha)
        return self[sha]

    def has(self, sha: str) -> bool:
        """Tell whether they are there."""
        return sha in self


@dataclass
class Stop:
    """A stop signal in a test's hand."""

    why: StopWhy | None = None

    def wait(self, timeout_s: float) -> StopWhy | None:
        """Return at once."""
        return self.why


@dataclass
class FakeHold:
    """A hold that writes to plain rows. `dies_at` counts the calls after which it is killed."""

    facts: PlainFacts
    stop_soon: Stop = field(default_factory=Stop)
    stops_at_story: str | None = None
    stops_at_touch: bool = False
    stops_with: StopWhy = "released"
    dies_at: int | None = None
    begun: list[str] = field(default_factory=list)
    saves: list[Effects] = field(default_factory=list)
    calls: int = 0

    def count(self) -> None:
        """Be killed if it is time."""
        self.calls += 1
        if self.calls == self.dies_at:
            raise Killed

    def touch(self) -> None:
        self.count()
        if self.stops_at_touch:
            self.stop_soon.why = self.stops_with

    def begin(
        self, story: str, *, snapshot_id: int, index: int, of: int, deadline_s: float
    ) -> None:
        self.count()
        if story == self.stops_at_story:
            self.stop_soon.why = self.stops_with
        if self.stop_soon.why is not None:
            raise Interrupted(self.stop_soon.why)
        self.begun.append(story)

    def save(self, effects: Effects) -> None:
        self.count()
        if self.stop_soon.why == "cancelled":
            raise Interrupted("cancelled")
        self.facts.write(effects)
        self.saves.append(effects)
        self.count()

    @contextmanager
    def keep_alive(self, *, at_most_ms: int) -> Iterator[None]:
        yield


@dataclass(frozen=True)
class Shot:
    """One shot, scripted."""

    png: bytes | None
    result: Literal["still", "moving", "errored"] = "still"
    code: str | None = None
    message: str | None = None
    warnings: tuple[str, ...] = ()
    log: str = ""
    steps_ms: Mapping[str, int] = field(default_factory=dict)
    empty: bool = False


@dataclass
class FakeEnvironment:
    """An environment by name."""

    hash: str = "env"


@dataclass
class FakeCamera:
    """A camera that answers each story's takes from a list; the last one for ever.

    An exception in the list is raised.
    """

    shots: Mapping[str, Sequence[Shot | Exception]]
    environment: FakeEnvironment = field(default_factory=FakeEnvironment)
    taken: list[tuple[str, bool]] = field(default_factory=list)
    modes: list[Mode] = field(default_factory=list)
    site: Site | None = None
    renewed: int = 0
    known: int = 0

    def open(self, site: Site) -> None:
        self.site = site

    def take(
        self,
        story_id: str,
        mode: Mode,
        *,
        fresh: bool = False,
        known: Callable[[bytes], bool] | None = None,
    ) -> Shot:
        assert self.site is not None, "open a site first"
        earlier = sum(story == story_id for story, _ in self.taken)
        self.taken.append((story_id, fresh))
        self.modes.append(mode)
        shots = self.shots[story_id]
        shot = shots[min(earlier, len(shots) - 1)]
        if isinstance(shot, Exception):
            raise shot
        self.known += known is not None and shot.png is not None and known(shot.png)
        return shot

    def leave(self) -> None:
        self.site = None

    def renew(self) -> None:
        self.renewed += 1
