"""Facts out of the tables: each question is one short read-only transaction.

Nothing is locked, so an answer may be out of date when it is used; whatever is
decided by it is looked at again by the write that follows (adr/0006).
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any, NamedTuple

from capture_consumer.builds.facts import (
    BuildFact,
    BuildView,
    ComparisonFact,
    FileFact,
    HistoryFact,
    ImageFact,
    KeyFact,
    ShardFact,
    SnapshotFact,
)
from capture_consumer.builds.identity import split_ref
from capture_consumer.clock import Clock
from capture_consumer.database.engine import Engine
from capture_consumer.database.transaction import reading
from capture_consumer.errors import NotFound
from capture_consumer.records import history, view
from capture_consumer.records.evidence import past_of
from capture_consumer.tables import (
    attempts,
    build_views,
    comparisons,
    images,
    keys,
    projects,
    shards,
    snapshot_views,
    supervisors,
    tries,
    uploads,
)
from capture_consumer.tables.comparisons import Pair
from capture_consumer.tables.keys import Triple

__all__ = ["Progress", "RowFacts"]

BUILDS_WEIGHED = 5
DEATHS = frozenset({"crashed", "timed_out", "lost"})
SAVE_OFTEN_AFTER = frozenset({"crashed", "lost"})
EMPTY_HISTORY = HistoryFact(parents={}, built={}, latest=None, on_base=None)


class Progress(NamedTuple):
    """How far the snapshots of a build are."""

    done: int
    total: int
    errored: int
    lost: int


class RowFacts:
    """Answers `builds.facts.Facts`, and what doors ask besides, from one database."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self.engine = engine
        self.clock = clock

    def build(self, build_id: int) -> BuildFact | None:
        """Return the build, or None when it is gone."""
        with reading(self.engine) as tx:
            return build_views.get(tx, build_id)

    def files(self, build_id: int) -> Sequence[FileFact]:
        """Return what was submitted, by path."""
        with reading(self.engine) as tx:
            return uploads.of_build(tx, build_id)

    def shard(self, shard_id: int) -> ShardFact | None:
        """Return the shard, or None when it is gone."""
        with reading(self.engine) as tx:
            return shards.get(tx, shard_id)

    def planned(self, shard_id: int) -> Sequence[SnapshotFact]:
        """Return what the shard still has to capture; stories to blame come last (SUP-45).

        Those are the stories in hand at ends of the shard's job that nobody could be
        blamed for yet.
        """
        with reading(self.engine) as tx:
            shard = shards.get(tx, shard_id)
            if shard is None:
                return []
            ended = attempts.of_job(tx, f"shard:{shard.build_id}:{shard.idx}")
            deaths = Counter(
                one.story for one in ended if one.outcome in DEATHS and not one.explained
            )
            found = snapshot_views.planned(tx, shard_id)
            made = tries.counts(tx, {one.id for one in found})
        counted = [
            view.with_counts(one, tries=made.get(one.id, 0), deaths=deaths[one.key.story_id])
            for one in found
        ]
        return sorted(counted, key=lambda one: one.deaths)

    def snapshots(self, build_id: int) -> Sequence[SnapshotFact]:
        """Return all snapshots of a build, by story, mode and browser.

        With how often each was in hand, known exactly, at a death of reduce (BUILD-78).
        """
        with reading(self.engine) as tx:
            found = snapshot_views.of_build(tx, build_id)
            ended = past_of(attempts.of_job(tx, f"reduce:{build_id}"))
        deaths = Counter(one.story for one in ended if one.outcome in DEATHS)
        return [
            replace(one, deaths=deaths[one.key.story_id]) if deaths else one for one in found
        ]

    def history(self, build_id: int) -> HistoryFact:
        """Return what baselines can be chosen from (BUILD-52)."""
        with reading(self.engine) as tx:
            build = build_views.get(tx, build_id)
            return EMPTY_HISTORY if build is None else history.of_build(tx, build)

    def keys(self, key_ids: Collection[int]) -> Mapping[int, KeyFact]:
        """Return keys by id."""
        with reading(self.engine) as tx:
            return keys.get(tx, key_ids)

    def key_ids(self, build_id: int, wanted: Collection[Triple]) -> Mapping[Triple, int]:
        """Return the ids of those (story, mode, browser) that the build's line knows."""
        with reading(self.engine) as tx:
            build = build_views.get(tx, build_id)
            if build is None:
                return {}
            known = keys.of_line(tx, build.project.id, build.name)
        return {triple: known[triple] for triple in wanted if triple in known}

    def images(self, image_ids: Collection[int]) -> Mapping[int, ImageFact]:
        """Return images by id."""
        with reading(self.engine) as tx:
            return images.get(tx, image_ids)

    def comparisons(
        self, pairs: Collection[Pair], params_sha: str
    ) -> Mapping[Pair, ComparisonFact]:
        """Return the cached comparisons among (from image, to image)."""
        with reading(self.engine) as tx:
            return comparisons.among(tx, pairs, params_sha)

    def durations(self, build_id: int) -> Mapping[Triple, float]:
        """Return milliseconds by (story, mode, browser): the median of the last 5 (BUILD-32).

        Of the line's last 5 builds, so that one look answers for all keys at once.
        """
        with reading(self.engine) as tx:
            build = build_views.get(tx, build_id)
            if build is None:
                return {}
            last = build_views.recent_of_line(
                tx, build.project.id, build.name, limit=BUILDS_WEIGHED + 1
            )
            took = snapshot_views.durations(tx, [one for one in last if one != build_id])
        return {triple: float(median(each)) for triple, each in took.items()}

    def crashed_before(self, job_id: str) -> bool:
        """Tell whether the job has an end crashed or lost: save before each story (R6)."""
        with reading(self.engine) as tx:
            return any(one.outcome in SAVE_OFTEN_AFTER for one in attempts.of_job(tx, job_id))

    def waits(self, job_id: str, code: str) -> int:
        """Return how often the job was given back for this reason (BUILD-49)."""
        with reading(self.engine) as tx:
            ends = [(one.outcome, one.code) for one in attempts.of_job(tx, job_id)]
        return ends.count(("released", code))

    def consumers(self) -> int:
        """Return how many consumers are known to be up; at least 1 (BUILD-32)."""
        with reading(self.engine) as tx:
            return supervisors.consumers_up(tx, self.clock.now())

    def view(self, build_id: int) -> BuildView:
        """Return a build with all that people ask about it.

        Raises:
            NotFound: there is no such build.
        """
        with reading(self.engine) as tx:
            found = view.of_build(tx, build_id)
        if found is None:
            raise NotFound(f"there is no build with the id {build_id}")
        return found

    def find(self, ref: str, default_project: str | None = None) -> BuildFact:
        """Return the build that a person names: `[project/]number` (R23).

        Raises:
            BadInput: it is no such name.
            NotFound: no such build; the text says what is missing.
        """
        named, number = split_ref(ref)
        slug = named or default_project
        if slug is None:
            raise NotFound(f"build {number} of which project? Name it: project/{number}")
        with reading(self.engine) as tx:
            found = build_views.by_number(tx, slug, number)
            is_project = projects.by_slug(tx, slug) is not None
        if found is None:
            missing = f"has no build {number}" if is_project else "is not known here"
            raise NotFound(f"project {slug} {missing}")
        return found

    def recent(self, **wanted: Any) -> Sequence[BuildFact]:
        """Return the newest builds first.

        Args:
            **wanted: any of `project`, `branch`, `commit`, `phase`, `verdict`; `limit` (20).
        """
        with reading(self.engine) as tx:
            return build_views.recent(tx, **wanted)

    def progress(self, build_id: int) -> Progress:
        """Return how many snapshots have ended, of how many, and how many went wrong."""
        with reading(self.engine) as tx:
            states = snapshot_views.by_state(tx, build_id)
        total = sum(states.values())
        return Progress(
            done=total - states.get("planned", 0),
            total=total,
            errored=states.get("errored", 0),
            lost=states.get("lost", 0),
        )
