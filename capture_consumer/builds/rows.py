"""Frozen rows, named by their question (builds.md, section 2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

__all__ = [
    "BuildFact",
    "BuildKind",
    "BuiltFact",
    "ComparisonFact",
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
    pictures of it are recorded already; `deaths` counts the ends of the job that asks at which
    this story was in hand: of a shard's the unexplained ones (SUP-45), of a reduce's all
    (BUILD-78).
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
    environment: str | None = None


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
