"""A project captured without a database and without a browser: steps, run one after another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from capture_consumer.builds import manifest
from capture_consumer.builds.facts import BuiltFact, FileFact, HistoryFact, ImageFact
from capture_consumer.consumer.job import ConsumerJob
from capture_consumer.handlers.capture import CaptureHandler
from capture_consumer.images.decode import decode
from capture_consumer.images.fingerprint import pixel_sha
from tests.conftest import HandClock
from tests.fakes import PlainFacts
from tests.fakes_of_capture import Blobs, FakeCamera, FakeHold
from tests.plain import a_build, a_built


def index_of(*stories: str, **entries: Any) -> bytes:
    """Return an index.json of these stories; keywords are entries of their own."""
    plain = {
        story: {"type": "story", "id": story, "title": "T", "name": story, "tags": []}
        for story in stories
    }
    return json.dumps({"v": 5, "entries": plain | entries}).encode()


@dataclass
class Studio:
    """One build in work."""

    camera: FakeCamera = field(default_factory=lambda: FakeCamera({}))
    store: Blobs = field(default_factory=Blobs)
    facts: PlainFacts = field(
        default_factory=lambda: PlainFacts(a_build(id=9, phase="pending"))
    )
    clock: HandClock = field(default_factory=HandClock)
    seconds: float = 0.0
    with_browser: bool = True

    @property
    def handler(self) -> CaptureHandler:
        """Return the handler of this build's jobs."""
        return CaptureHandler(
            self.facts,
            self.store,
            (lambda: self.camera) if self.with_browser else None,
            clock=self.clock,
            elapsed=lambda: self.seconds,
        )

    def submit(self, files: Mapping[str, bytes]) -> None:
        """Upload a folder."""
        self.facts.submitted = [
            FileFact(path, self.store.put(data), len(data)) for path, data in files.items()
        ]

    def hold(self, **values: Any) -> FakeHold:
        return FakeHold(self.facts, **values)

    def run(self, step: Any, *, hold: FakeHold | None = None, **job: Any) -> FakeHold:
        """Do one job of the build, and settle it."""
        hold = hold or self.hold()
        values = {"job_id": step, "kind": "capture", "attempt": 1, "owner": "me", "build_id": 9}
        claimed = ConsumerJob(**{**values, "step": step, **job})
        self.facts.write(self.handler.run(claimed, hold))
        return hold

    def run_shards(self) -> None:
        for shard in list(self.facts.shards.values()):
            self.run("shard", shard_id=shard.id)

    def run_all(self) -> None:
        """Take the build from pending to finished."""
        self.run("plan")
        self.run_shards()
        self.run("reduce")

    def keep_picture(self, png: bytes) -> ImageFact:
        """Keep a picture of an earlier build."""
        sha = pixel_sha(decode(png))
        made = ImageFact(len(self.facts.image_rows) + 1, sha, self.store.put(png), 8, 8)
        return self.facts.image_rows.setdefault(sha, made)

    def grow_from(self, pictures: Mapping[tuple[str, str, str], bytes]) -> BuiltFact:
        """Put a finished build with these accepted pictures on the build's own commit."""
        accepted = {
            self.facts.key(*key).id: self.keep_picture(png).id for key, png in pictures.items()
        }
        sha = self.store.put(manifest.encode(accepted))
        built = a_built(5, self.facts.row.commit_sha, manifest_sha=sha)
        commit = self.facts.row.commit_sha or ""
        self.facts.past = HistoryFact({commit: ()}, {commit: (built,)}, built, built)
        return built

    def set(self, **values: Any) -> None:
        """Change the build's row."""
        self.facts.row = replace(self.facts.row, **values)

    def state(self, story: str) -> tuple[str, str | None]:
        """Return state and error code of a story's one snapshot."""
        (found,) = (one for one in self.facts.shown.values() if one.key.story_id == story)
        return (found.state, found.error_code)

    def outcomes(self) -> dict[str, str | None]:
        """Return each story's outcome."""
        return {one.key.story_id: one.outcome for one in self.facts.shown.values()}
