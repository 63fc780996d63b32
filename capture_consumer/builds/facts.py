"""What a handler, a hook or a page may know: frozen rows, named by their question.

`Facts` is what is asked; `records.facts` answers it from the tables, tests
answer it from plain data. Nothing here can reach a database.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

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

BuildKind = Literal["storybook", "images"]
Phase = Literal[
    "receiving",
    "pending",
    "planning",
    "capturing",
    "reducing",
    "finished",
    "failed",
    "cancelled",
    "superseded",
    "expired",
]
Verdict = Literal[
    "passed", "accepted", "needs_review", "rejected", "broken", "incomplete", "skipped"
]
SnapshotState = Literal["planned", "captured", "errored", "unstable", "lost", "skipped"]
Outcome = Literal[
    "unchanged",
    "changed",
    "new",
    "removed",
    "carried",
    "errored",
    "unstable",
    "lost",
    "skipped",
]
Review = Literal["none", "pending", "accepted", "rejected"]


@dataclass(frozen=True, slots=True)
class ProjectFact:
    """A project and its policies (builds.md, section 2)."""

    id: int
    slug: str
    default_branch: str = "main"
    accept_branches: tuple[str, ...] = ()
    protected_branches: tuple[str, ...] = ()
    baseline_mode: Literal["git", "latest"] = "git"
    supersede: bool = True
    policy_new: Literal["review", "auto"] = "review"
    policy_removed: Literal["review", "auto"] = "review"
    policy_unstable: Literal["review", "block", "warn"] = "review"
    capture: Mapping[str, Any] = field(default_factory=dict)
    compare: Mapping[str, Any] = field(default_factory=dict)
    modes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BuildFact:
    """A build's row and its project's."""

    id: int
    project: ProjectFact
    number: int
    name: str
    kind: BuildKind
    lane_id: int
    ref: str
    commit_sha: str | None
    head_sha: str | None
    branch: str | None
    pull: int | None
    base_branch: str | None
    pinned_base: str | None
    subset: bool
    trusted: bool
    retry_of: int | None
    superseded_by: int | None
    phase: Phase
    verdict: Verdict | None
    rev: int
    error_code: str | None
    error_text: str | None
    environment: str | None
    manifest_sha: str | None
    counts: Mapping[str, int]
    created_at: datetime
    pending_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True, slots=True)
class FileFact:
    """One file of what was submitted: its path inside the folder and its blob."""

    path: str
    sha: str
    bytes: int


@dataclass(frozen=True, slots=True)
class ImageFact:
    """A picture: identified by its pixels, stored as a blob (decision 12)."""

    id: int
    pixel_sha: str
    blob_sha: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class KeyFact:
    """The identity of a snapshot through history (BUILD-3). `mode` is canonical JSON."""

    id: int
    story_id: str
    mode: str
    browser: str


@dataclass(frozen=True, slots=True)
class ShardFact:
    """A shard's row."""

    id: int
    build_id: int
    idx: int
    state: Literal["pending", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class SnapshotFact:
    """A snapshot as its capturing and its reducing see it.

    `baseline` is the tentative one while the build captures (R28). `tries` is how many
    pictures of it are recorded already; `deaths` names the ends of the shard's job, known
    and unexplained, at which this story was in hand (SUP-45).
    """

    id: int
    key: KeyFact
    shard_id: int | None
    title: str
    state: SnapshotState
    flaky: bool
    image: ImageFact | None
    baseline: ImageFact | None
    error_code: str | None
    message: str | None
    outcome: Outcome | None = None
    review: Review = "none"
    review_no: int = 0
    tries: int = 0
    deaths: int = 0


@dataclass(frozen=True, slots=True)
class BuiltFact:
    """A finished build that has a manifest: what a baseline can be taken from."""

    build_id: int
    number: int
    commit_sha: str | None
    branch: str | None
    pull: int | None
    trusted: bool
    manifest_sha: str
    finished_at: datetime


@dataclass(frozen=True, slots=True)
class HistoryFact:
    """The commits above a build and the finished builds that stand on them.

    `parents` maps a commit to its parents; None where a clone was too shallow to know
    them, which is the horizon (BUILD-52). `built` holds, for a commit, its usable builds,
    newest first. `latest` is the newest finished build of the name with a manifest
    (R2), `on_base` the newest one on the build's base branch (BUILD-55).
    """

    parents: Mapping[str, tuple[str, ...] | None]
    built: Mapping[str, tuple[BuiltFact, ...]]
    latest: BuiltFact | None
    on_base: BuiltFact | None
    pinned: BuiltFact | None = None


@dataclass(frozen=True, slots=True)
class ComparisonFact:
    """What comparing two images under one set of parameters gave."""

    id: int
    from_image: int
    to_image: int
    params_sha: str
    verdict: Literal["equal", "tolerated", "changed"]
    changed_px: int
    ratio: float
    box: tuple[int, int, int, int] | None
    bands: tuple[Mapping[str, Any], ...]
    diff_sha: str | None


@dataclass(frozen=True, slots=True)
class TryFact:
    """One time a picture of a snapshot was taken (BUILD-9)."""

    n: int
    attempt: int
    result: str
    started_at: datetime
    ended_at: datetime
    image: ImageFact | None
    error: Mapping[str, Any] | None
    log_sha: str | None


@dataclass(frozen=True, slots=True)
class SnapshotView:
    """A snapshot for people: `show` and the report."""

    fact: SnapshotFact
    mode_name: str
    baseline_build: int | None
    baseline_reason: str | None
    comparison: ComparisonFact | None
    review_source: str | None
    tries: tuple[TryFact, ...] = ()


@dataclass(frozen=True, slots=True)
class BuildView:
    """A build for people: `show` and the report. `baseline` is None for a first build."""

    build: BuildFact
    snapshots: tuple[SnapshotView, ...]
    shards: tuple[ShardFact, ...]
    baseline: BuiltFact | None
    baseline_reason: str | None


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

    def consumers(self) -> int:
        """Return how many consumers are known to be up; at least 1 (BUILD-32)."""
        ...
