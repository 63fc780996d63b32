"""A build and its snapshots as people see them: `show`, the report, a review."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from capture_consumer.builds.rows import (
    BuildFact,
    BuiltFact,
    ComparisonFact,
    ImageFact,
    ShardFact,
    SnapshotFact,
)

__all__ = ["BuildView", "SnapshotView", "TryFact"]


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
