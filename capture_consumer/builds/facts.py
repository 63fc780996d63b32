"""What a handler, a hook or a page may know: frozen rows, named by their question.

`Facts` is what is asked; `records.facts` answers it from the tables, tests
answer it from plain data. Nothing here can reach a database.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from capture_consumer.builds.rows import (
    BuildFact,
    BuildKind,
    BuiltFact,
    ComparisonFact,
    FileFact,
    HistoryFact,
    ImageFact,
    KeyFact,
    Outcome,
    Phase,
    ProjectFact,
    Review,
    ShardFact,
    SnapshotFact,
    SnapshotState,
    Verdict,
)
from capture_consumer.builds.views import BuildView, SnapshotView, TryFact

__all__ = [
    "BuildFact",
    "BuildKind",
    "BuildView",
    "BuiltFact",
    "ComparisonFact",
    "Facts",
    "FileFact",
    "HistoryFact",
    "ImageFact",
    "KeyFact",
    "Outcome",
    "Phase",
    "ProjectFact",
    "Review",
    "ShardFact",
    "SnapshotFact",
    "SnapshotState",
    "SnapshotView",
    "TryFact",
    "Verdict",
]


class Facts(Protocol):
    """Every question a handler may ask; each is one short read-only transaction."""

    def build(self, build_id: int) -> BuildFact | None:
        """Return the build, or None when it is gone."""
        ...

    def files(self, build_id: int) -> Sequence[FileFact]:
        """Return what was submitted, by path."""
        ...

    def shard(self, shard_id: int) -> ShardFact | None:
        """Return the shard, or None when it is gone."""
        ...

    def planned(self, shard_id: int) -> Sequence[SnapshotFact]:
        """Return what the shard still has to capture; stories to blame come last (SUP-45)."""
        ...

    def snapshots(self, build_id: int) -> Sequence[SnapshotFact]:
        """Return all snapshots of a build, by story, mode and browser."""
        ...

    def history(self, build_id: int) -> HistoryFact:
        """Return what baselines can be chosen from (BUILD-52)."""
        ...

    def keys(self, key_ids: Collection[int]) -> Mapping[int, KeyFact]:
        """Return keys by id."""
        ...

    def key_ids(
        self, build_id: int, wanted: Collection[tuple[str, str, str]]
    ) -> Mapping[tuple[str, str, str], int]:
        """Return the ids of those (story, mode, browser) that the build's line knows."""
        ...

    def images(self, image_ids: Collection[int]) -> Mapping[int, ImageFact]:
        """Return images by id."""
        ...

    def comparisons(
        self, pairs: Collection[tuple[int, int]], params_sha: str
    ) -> Mapping[tuple[int, int], ComparisonFact]:
        """Return the cached comparisons among (from image, to image)."""
        ...

    def durations(self, build_id: int) -> Mapping[tuple[str, str, str], float]:
        """Return ms by (story, mode, browser): the median of the last 5 (BUILD-32)."""
        ...

    def crashed_before(self, job_id: str) -> bool:
        """Tell whether the job has an end crashed or lost: save before each story (R6)."""
        ...

    def waits(self, job_id: str, code: str) -> int:
        """Return how often the job was given back for this reason (BUILD-49)."""
        ...

    def consumers(self) -> int:
        """Return how many consumers are known to be up; at least 1 (BUILD-32)."""
        ...
