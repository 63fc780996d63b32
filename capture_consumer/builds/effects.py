"""What finished work may ask to have written. Only `records` writes it.

An effect is plain data and names content by its hash, never by a row's id
that it would have to make up. `records.effects.write` has one case for each;
mypy shows a case that is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from capture_consumer.builds.capturing import (
    BeginPlanning,
    BeginShard,
    DealShards,
    EndShard,
    PlannedShard,
    PlannedSnapshot,
    RecordSnapshots,
    SnapshotResult,
    TryMade,
)
from capture_consumer.builds.content import Compared, KeepContent, StoredBlob, StoredImage
from capture_consumer.builds.facts import Outcome, Review, Verdict
from capture_consumer.builds.opening import CommitTold, FileSent, OpenBuild, OpenedBuild

__all__ = [
    "NOTHING",
    "BeginPlanning",
    "BeginShard",
    "CancelJobs",
    "CommitTold",
    "Compared",
    "DealShards",
    "Decided",
    "Effect",
    "Effects",
    "EndBuild",
    "EndShard",
    "Enqueue",
    "FileSent",
    "FinishBuild",
    "GiveUp",
    "KeepContent",
    "OpenBuild",
    "OpenedBuild",
    "PlannedShard",
    "PlannedSnapshot",
    "RecordOutcomes",
    "RecordSnapshots",
    "RemovedSnapshot",
    "ReviewSnapshots",
    "Ruled",
    "SnapshotResult",
    "StoredBlob",
    "StoredImage",
    "SupersedeOlder",
    "TryMade",
]


@dataclass(frozen=True, slots=True)
class Ruled:
    """What reduce says of one snapshot, and what it was held against (BUILD-64).

    Without an image of the baseline, its build is the one that has none of this key.
    """

    snapshot_id: int
    outcome: Outcome
    baseline_image_id: int | None
    baseline_build_id: int | None
    baseline_reason: str
    review: Review
    review_source: str | None = None
    compared: tuple[str, str, str] | None = None
    """(from pixel sha, to pixel sha, params sha) of the comparison that decided."""
    error_code: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class RemovedSnapshot:
    """A key that the baseline has and the plan has not (BUILD-62)."""

    key_id: int
    title: str
    outcome: Literal["removed", "lost"]
    baseline_image_id: int
    baseline_build_id: int
    baseline_reason: str
    review: Review
    review_source: str | None = None


@dataclass(frozen=True, slots=True)
class RecordOutcomes:
    """Outcomes of a reducing build, in chunks; shown only once it is finished.

    A key of `removed` that has a row already takes the new values. `withdrawn` are rows
    that an earlier attempt made for removed keys and that no longer hold: they are deleted.
    """

    build_id: int
    ruled: tuple[Ruled, ...]
    removed: tuple[RemovedSnapshot, ...] = ()
    withdrawn: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class FinishBuild:
    """T10: verdict, manifest, counts. `manifest_sha` is None when nothing was compared."""

    build_id: int
    verdict: Verdict
    manifest_sha: str | None
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EndBuild:
    """Any open phase to an end other than finished; ends its jobs and shards (BUILD-16)."""

    build_id: int
    to: Literal["failed", "cancelled", "superseded", "expired"]
    code: str | None = None
    text: str | None = None
    superseded_by: int | None = None


@dataclass(frozen=True, slots=True)
class SupersedeOlder:
    """T14 for every older open build of this build's lane that may be superseded (BUILD-91)."""

    build_id: int


@dataclass(frozen=True, slots=True)
class CancelJobs:
    """Cancel what is left of an ended build's jobs and shards."""

    build_id: int


@dataclass(frozen=True, slots=True)
class GiveUp:
    """A capture job was given up: fail its shard, or its build (JOB-118, JOB-119)."""

    build_id: int
    shard_id: int | None
    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Enqueue:
    """A new job; an id that exists already is left alone (JOB-15)."""

    job_id: str
    kind: str
    step: Literal["plan", "shard", "reduce"] | None = None
    build_id: int | None = None
    shard_id: int | None = None
    priority: int = 0
    delay_ms: int = 0
    payload: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Decided:
    """A person's answer about one snapshot, and the `review_no` that was on the page.

    `undone` revokes the answers that were given: the snapshot is `pending` again (BUILD-85).
    """

    snapshot_id: int
    decision: Literal["accepted", "rejected", "undone"]
    review_no: int


@dataclass(frozen=True, slots=True)
class ReviewSnapshots:
    """T15: answers, the manifest and the verdict that follow from them (BUILD-83).

    `rev` is the build's that was seen; another one there refuses the whole.
    """

    build_id: int
    rev: int
    decided: tuple[Decided, ...]
    reviewer: str
    manifest_sha: str | None
    verdict: Verdict
    counts: Mapping[str, int]


Effect = (
    KeepContent
    | BeginPlanning
    | DealShards
    | BeginShard
    | RecordSnapshots
    | EndShard
    | RecordOutcomes
    | FinishBuild
    | EndBuild
    | SupersedeOlder
    | CancelJobs
    | GiveUp
    | Enqueue
    | ReviewSnapshots
)
Effects = tuple[Effect, ...]
NOTHING: Effects = ()
