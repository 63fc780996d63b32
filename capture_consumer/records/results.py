"""What became of snapshots: results of a shard, outcomes of a reduce."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from capture_consumer.builds.effects import (
    RecordOutcomes,
    RecordSnapshots,
    RemovedSnapshot,
    Ruled,
    SnapshotResult,
    TryMade,
)
from capture_consumer.consumer.safetext import safe_text
from capture_consumer.database.transaction import Tx
from capture_consumer.records import content
from capture_consumer.tables import blobs, builds, shards, snapshots, tries

__all__ = ["record", "rule"]

ONE_MS = timedelta(milliseconds=1)


def record(tx: Tx, effect: RecordSnapshots, *, now: datetime) -> None:
    """Write results and their tries, once each (BUILD-13, BUILD-44).

    A shard that has ended takes none. The end of a build ends its shards with it, so
    the shard's lock says what the build's would.
    """
    shard = shards.lock(tx, effect.shard_id)
    if shard is None or shard.state not in {"pending", "running"}:
        return
    made = [one for result in effect.results for one in result.tries]
    shas = {one.pixel_sha for one in effect.results if one.pixel_sha}
    shas |= {one.pixel_sha for one in made if one.pixel_sha}
    pictures = content.image_ids(tx, shas, now=now)
    texts = {sha for one in made for sha in (one.log_sha, one.trace_sha) if sha}
    blobs.touch(tx, texts, now=now)
    before = tries.counts(tx, {result.snapshot_id for result in effect.results})
    written = 0
    for result in effect.results:
        values = columns_of(result, pictures)
        if snapshots.record(tx, effect.shard_id, result.snapshot_id, values):
            written += 1
            rows = [try_of(one, effect, pictures) for one in result.tries]
            tries.add(tx, result.snapshot_id, before.get(result.snapshot_id, 0), rows)
    shards.count_ended(tx, effect.shard_id, written)


def columns_of(result: SnapshotResult, pictures: dict[str, int]) -> dict[str, Any]:
    """Return a result as columns of its snapshot."""
    took = sum((one.ended_at - one.started_at for one in result.tries), timedelta())
    return {
        "state": result.state,
        "flaky": result.flaky,
        "image_id": pictures[result.pixel_sha] if result.pixel_sha else None,
        "error_code": result.error_code,
        "message": None if result.message is None else safe_text(result.message),
        "took_ms": took // ONE_MS if result.tries else None,
    }


def try_of(one: TryMade, effect: RecordSnapshots, pictures: dict[str, int]) -> dict[str, Any]:
    """Return a try as columns."""
    return {
        "job_id": effect.job_id,
        "attempt": effect.attempt,
        "started_at": one.started_at,
        "ended_at": one.ended_at,
        "result": one.result,
        "image_id": pictures[one.pixel_sha] if one.pixel_sha else None,
        "error": None if one.error is None else dict(one.error),
        "log_sha": one.log_sha,
        "trace_sha": one.trace_sha,
    }


def rule(tx: Tx, effect: RecordOutcomes, *, now: datetime) -> None:
    """Write outcomes of a build that reduces; any other takes none (BUILD-75)."""
    build = builds.lock(tx, effect.build_id)
    if build is None or build.phase != "reducing":
        return
    named = {one.compared for one in effect.ruled if one.compared}
    compared = content.comparison_ids(tx, named, now=now)
    fine = [one for one in effect.ruled if one.error_code is None]
    failed = [one for one in effect.ruled if one.error_code is not None]
    snapshots.rule(tx, build.id, [ruled_columns(one, compared) for one in fine])
    snapshots.rule(
        tx, build.id, [ruled_columns(one, compared) | error_columns(one) for one in failed]
    )
    add_removed(tx, build.id, effect.removed)
    snapshots.withdraw(tx, build.id, effect.withdrawn)


def ruled_columns(one: Ruled, compared: dict[content.Named, int]) -> dict[str, Any]:
    """Return an outcome as columns of its snapshot."""
    return {
        "id": one.snapshot_id,
        "outcome": one.outcome,
        "baseline_image_id": one.baseline_image_id,
        "baseline_build_id": one.baseline_build_id,
        "baseline_reason": one.baseline_reason,
        "comparison_id": compared[one.compared] if one.compared else None,
        "review": one.review,
        "review_source": one.review_source,
    }


def error_columns(one: Ruled) -> dict[str, Any]:
    """Return what reduce itself failed at, as columns (BUILD-78)."""
    return {
        "state": "errored",
        "error_code": one.error_code,
        "message": None if one.message is None else safe_text(one.message),
    }


def add_removed(tx: Tx, build_id: int, removed: Sequence[RemovedSnapshot]) -> None:
    """Insert rows for keys that were not planned; those that are there take the new values."""
    there = snapshots.of_keys(tx, build_id, {one.key_id for one in removed})
    again = [one for one in removed if one.key_id in there]
    fresh = [one for one in removed if one.key_id not in there]
    snapshots.rule(tx, build_id, [removed_columns(one, id=there[one.key_id]) for one in again])
    snapshots.add(tx, [removed_columns(one, build_id=build_id) for one in fresh])


def removed_columns(one: RemovedSnapshot, **more: int) -> dict[str, Any]:
    """Return a removed key as columns; its state is `skipped`: nobody planned it."""
    return {
        "key_id": one.key_id,
        "title": safe_text(one.title),
        "state": "lost" if one.outcome == "lost" else "skipped",
        "outcome": one.outcome,
        "baseline_image_id": one.baseline_image_id,
        "baseline_build_id": one.baseline_build_id,
        "baseline_reason": one.baseline_reason,
        "review": one.review,
        "review_source": one.review_source,
        **more,
    }
