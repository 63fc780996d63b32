"""A project's history played without a database: commits, builds, answers (BUILD-67).

Images are numbers; two of them are within tolerance when they are at most `tolerance`
apart. What is asked of the rows in the product is answered here from a few dicts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from capture_consumer.builds import manifest
from capture_consumer.builds.baselines import choose, held
from capture_consumer.builds.effects import ReviewSnapshots
from capture_consumer.builds.facts import (
    BuildFact,
    BuildView,
    BuiltFact,
    HistoryFact,
    Review,
    SnapshotFact,
    SnapshotView,
)
from capture_consumer.builds.reducing import Reduced, pairs, reduce
from capture_consumer.builds.reviewing import review
from capture_consumer.builds.ruling import Compared, Question
from tests.plain import a_build, a_built, a_key, a_project, a_snapshot, an_image

NEVER_REDUCED = ("failed", "cancelled", "superseded")


@dataclass
class Shown:
    """A build that is finished, as people see it."""

    build: BuildFact
    snapshots: tuple[SnapshotFact, ...]
    reduced: Reduced
    reason: str

    def outcome(self, story: str) -> str:
        """Return one story's outcome."""
        (found,) = (one for one in self.snapshots if one.key.story_id == story)
        assert found.outcome
        return found.outcome

    @property
    def verdict(self) -> str:
        """Return the build's verdict."""
        assert self.build.verdict
        return self.build.verdict


@dataclass
class History:
    """One project, from its first commit on."""

    tolerance: int = 0
    shallow: bool = False
    project: dict[str, object] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    built: dict[str, tuple[BuiltFact, ...]] = field(default_factory=dict)
    maps: dict[int, dict[int, int]] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    numbers: int = 0

    def commit(self, sha: str, *parents: str) -> None:
        """Add a commit."""
        self.parents[sha] = parents

    def build(self, commit: str | None, *, branch: str = "main", **images: int) -> Shown:
        """Capture these images on a commit, and reduce."""
        return self.build_of(commit, images, branch=branch)

    def build_of(
        self,
        commit: str | None,
        images: dict[str, int],
        *,
        branch: str = "main",
        subset: bool = False,
        errored: tuple[str, ...] = (),
    ) -> Shown:
        """Capture, choose the baseline, reduce and finish one build."""
        self.numbers += 1
        build = a_build(
            id=self.numbers,
            number=self.numbers,
            commit_sha=commit,
            branch=branch,
            subset=subset,
            project=a_project(**self.project),
        )
        snapshots = self.snapshots(images, errored)
        baseline = choose(build, self.history())
        before = held(baseline, self.maps)
        reduced = reduce(self.question(build, snapshots, baseline, before))
        return self.finished(build, snapshots, reduced, baseline.reason)

    def snapshots(
        self, images: dict[str, int], errored: tuple[str, ...]
    ) -> tuple[SnapshotFact, ...]:
        captured = [
            a_snapshot(id=number, key=self.key(story), image=an_image(image))
            for number, (story, image) in enumerate(images.items(), 1)
        ]
        threw = [
            a_snapshot(id=100 + number, key=self.key(story), state="errored")
            for number, story in enumerate(errored)
        ]
        return (*captured, *threw)

    def key(self, story: str):
        return a_key(self.keys.setdefault(story, len(self.keys) + 1), story)

    def history(self) -> HistoryFact:
        everything = sorted(
            (one for row in self.built.values() for one in row), key=lambda one: -one.number
        )
        latest = everything[0] if everything else None
        on_base = next((one for one in everything if one.branch == "main"), None)
        parents = dict.fromkeys(self.parents) if self.shallow else self.parents
        return HistoryFact(parents, self.built, latest, on_base)

    def question(self, build, snapshots, baseline, before) -> Question:
        compared: dict[tuple[int, int], Compared] = {
            pair: "tolerated" if abs(pair[0] - pair[1]) <= self.tolerance else "changed"
            for pair in pairs(snapshots, before)
        }
        names = {number: a_key(number, story) for story, number in self.keys.items()}
        images = {image: an_image(image) for one in before.values() for image in one.image_ids}
        return Question(build, snapshots, baseline, before, names, images, compared, "rule")

    def finished(self, build, snapshots, reduced: Reduced, reason: str) -> Shown:
        assert reduced.manifest is not None
        self.maps[build.id] = dict(reduced.manifest)
        built = a_built(build.number, build.commit_sha, branch=build.branch)
        commit = build.commit_sha or ""
        self.built[commit] = (built, *self.built.get(commit, ()))
        build = replace(
            build, phase="finished", verdict=reduced.verdict, manifest_sha=built.manifest_sha
        )
        said = {one.snapshot_id: one for one in reduced.ruled}
        shown = [
            replace(
                one,
                outcome=said[one.id].outcome,
                review=said[one.id].review,
                baseline=image_or_none(said[one.id].baseline_image_id),
            )
            for one in snapshots
        ]
        shown += [
            a_snapshot(
                id=1000 + gone.key_id,
                key=a_key(gone.key_id, gone.title),
                state="lost",
                outcome="removed",
                review=gone.review,
                baseline=an_image(gone.baseline_image_id),
            )
            for gone in reduced.removed
        ]
        return Shown(build, tuple(shown), reduced, reason)

    def answer(self, shown: Shown, **patterns: tuple[str, ...]) -> Shown:
        """Accept, reject or undo by patterns."""
        views = tuple(
            SnapshotView(one, "default", None, None, None, None) for one in shown.snapshots
        )
        view = BuildView(shown.build, views, (), None, None)
        found = review(view, reviewer="ana", manifest=self.maps[shown.build.id], **patterns)
        self.maps[shown.build.id] = manifest.decode(found.manifest)
        effect = next(one for one in found.effects if isinstance(one, ReviewSnapshots))
        reviews: dict[str, Review] = {
            "accepted": "accepted",
            "rejected": "rejected",
            "undone": "pending",
        }
        said = {one.snapshot_id: reviews[one.decision] for one in effect.decided}
        return replace(
            shown,
            build=replace(shown.build, verdict=effect.verdict),
            snapshots=tuple(
                replace(one, review=said.get(one.id, one.review)) for one in shown.snapshots
            ),
        )


def image_or_none(number: int | None):
    """Return the image of this number."""
    return None if number is None else an_image(number)
