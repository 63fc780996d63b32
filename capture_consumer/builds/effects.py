"""What finished work may ask to have written. Only `records` writes it.

An effect is plain data and names content by its hash, never by a row's id
that it would have to make up. `records.effects.write` has one case for each;
mypy shows a case that is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from capture_consumer.builds.facts import BuildKind, Outcome, Phase, Review, Verdict

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
class StoredBlob:
    """Bytes that are in the store already, by their sha256."""

    sha: str
    bytes: int
    kind: Literal["file", "image", "diff", "mask", "log", "trace", "manifest"]


@dataclass(frozen=True, slots=True)
class StoredImage:
    """A picture whose bytes are in the store already."""

    pixel_sha: str
    blob_sha: str
    width: int
    height: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison made; images are named by the hash of their pixels."""

    from_pixel_sha: str
    to_pixel_sha: str
    params_sha: str
    verdict: Literal["equal", "tolerated", "changed"]
    changed_px: int
    ratio: float
    densest_block: int
    box: tuple[int, int, int, int] | None
    bands: tuple[Mapping[str, Any], ...] = ()
    mask_sha: str | None = None
    diff_sha: str | None = None


@dataclass(frozen=True, slots=True)
class KeepContent:
    """Content rows; written first, sorted by key, "do nothing on conflict" (R21)."""

    blobs: tuple[StoredBlob, ...] = ()
    images: tuple[StoredImage, ...] = ()
    comparisons: tuple[Compared, ...] = ()


@dataclass(frozen=True, slots=True)
class BeginPlanning:
    """T5: pending to planning. Already planning is well; any other phase writes nothing."""

    build_id: int


@dataclass(frozen=True, slots=True)
class PlannedSnapshot:
    """One snapshot that a plan makes. A folder's have their state at once (BUILD-44)."""

    story_id: str
    mode: str
    browser: str
    title: str
    shard_idx: int | None
    state: Literal["planned", "captured", "errored", "skipped"] = "planned"
    pixel_sha: str | None = None
    baseline_image_id: int | None = None
    error_code: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class PlannedShard:
    """One shard that a plan makes."""

    idx: int
    weight_ms: int


@dataclass(frozen=True, slots=True)
class DealShards:
    """T6: keys, snapshots, shards and their jobs, then capturing. T7 when there is no shard."""

    build_id: int
    environment: str
    snapshots: tuple[PlannedSnapshot, ...]
    shards: tuple[PlannedShard, ...]


@dataclass(frozen=True, slots=True)
class BeginShard:
    """A shard's first save: pending to running. Running already is well (BUILD-31)."""

    shard_id: int


@dataclass(frozen=True, slots=True)
class TryMade:
    """One picture taken, or one that failed (BUILD-45). Its number follows the last one's."""

    started_at: datetime
    ended_at: datetime
    result: Literal["still", "moving", "errored", "died"]
    pixel_sha: str | None = None
    error: Mapping[str, Any] | None = None
    log_sha: str | None = None
    trace_sha: str | None = None


@dataclass(frozen=True, slots=True)
class SnapshotResult:
    """What became of one planned snapshot. Once written it never changes (BUILD-44)."""

    snapshot_id: int
    state: Literal["captured", "errored", "unstable", "skipped"]
    flaky: bool = False
    pixel_sha: str | None = None
    error_code: str | None = None
    message: str | None = None
    tries: tuple[TryMade, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordSnapshots:
    """Results of a shard so far; only snapshots still `planned` take them (BUILD-13).

    `job_id` and `attempt` are written on the tries.
    """

    shard_id: int
    job_id: str
    attempt: int
    results: tuple[SnapshotResult, ...]


@dataclass(frozen=True, slots=True)
class EndShard:
    """The shard is done, nothing of it is planned (BUILD-34). T9 when it was the last."""

    build_id: int
    shard_id: int


@dataclass(frozen=True, slots=True)
class Ruled:
    """What reduce says of one snapshot."""

    snapshot_id: int
    outcome: Outcome
    baseline_image_id: int | None
    baseline_build_id: int | None
    baseline_reason: str | None
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


@dataclass(frozen=True, slots=True)
class CommitTold:
    """A commit as a client knows it; `parents` is None where its clone is too shallow."""

    sha: str
    parents: tuple[str, ...] | None
    tree: str | None = None
    committed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FileSent:
    """A file of what is submitted: its path inside the folder and its blob."""

    path: str
    sha: str
    bytes: int
    kind: Literal["file", "image"] = "file"


@dataclass(frozen=True, slots=True)
class OpenBuild:
    """T1: a build as it is asked for. `project` is a slug; it is made at its first submit."""

    project: str
    nonce: str
    kind: BuildKind
    name: str = "default"
    commit: str | None = None
    head: str | None = None
    branch: str | None = None
    pull: int | None = None
    base_branch: str | None = None
    pinned_base: str | None = None
    commits: tuple[CommitTold, ...] = ()
    files: tuple[FileSent, ...] = ()
    subset: bool = False
    trusted: bool = True
    ci_run: str | None = None
    retry_of: int | None = None
    default_branch: str | None = None


@dataclass(frozen=True, slots=True)
class OpenedBuild:
    """What T1 gave. `is_new` is False when the nonce had made this build before."""

    build_id: int
    project: str
    number: int
    phase: Phase
    is_new: bool


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
