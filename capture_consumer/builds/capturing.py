"""Effects of planning and capturing: snapshots are dealt out, tried and recorded."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

__all__ = [
    "BeginPlanning",
    "BeginShard",
    "DealShards",
    "EndShard",
    "PlannedShard",
    "PlannedSnapshot",
    "RecordSnapshots",
    "SnapshotResult",
    "TryMade",
]


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
