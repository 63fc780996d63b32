"""A plan's effects: planning begins, and the shards are dealt in one transaction (T5 to T7)."""

from collections import Counter
from datetime import datetime
from typing import Any

from capture_consumer.builds.effects import BeginPlanning, DealShards, PlannedSnapshot
from capture_consumer.consumer.safetext import safe_text
from capture_consumer.database.transaction import Tx
from capture_consumer.records import content, moving
from capture_consumer.tables import builds, jobs, keys, shards, snapshots
from capture_consumer.tables.builds import BuildRow

__all__ = ["begin", "deal"]


def begin(tx: Tx, effect: BeginPlanning, *, now: datetime) -> None:
    """Move a build to planning; one that plans already is well, any other is left alone."""
    build = builds.lock(tx, effect.build_id)
    if build is not None and build.phase == "pending":
        moving.move(tx, build, "planning", now=now)


def deal(tx: Tx, effect: DealShards, *, now: datetime) -> None:
    """Write keys, snapshots, shards and their jobs, and flip the phase with them (R12).

    All of it is one transaction, so no shard's job can be claimed before the build
    captures. A build that is not planning any more is left alone.
    """
    build = builds.lock(tx, effect.build_id)
    if build is None or build.phase != "planning":
        return
    add_snapshots(tx, build, effect, add_shards(tx, build, effect, now=now), now=now)
    values = {"environment": effect.environment}
    if effect.shards:
        moving.move(tx, build, "capturing", now=now, values=values)
    else:
        moving.move(tx, build, "reducing", now=now, values=values)
        moving.enqueue_reduce(tx, build.id, now=now)


def add_shards(tx: Tx, build: BuildRow, effect: DealShards, *, now: datetime) -> dict[int, int]:
    """Insert shards and the job of each; return the shards' ids by idx."""
    sizes = Counter(one.shard_idx for one in effect.snapshots)
    dealt = [(one.idx, one.weight_ms, sizes[one.idx]) for one in effect.shards]
    ids = shards.deal(tx, build.id, dealt)
    for idx, shard_id in sorted(ids.items()):
        jobs.enqueue(
            tx,
            job_id=f"shard:{build.id}:{idx}",
            kind="capture",
            step="shard",
            build_id=build.id,
            shard_id=shard_id,
            now=now,
        )
    return ids


def add_snapshots(
    tx: Tx,
    build: BuildRow,
    effect: DealShards,
    shard_ids: dict[int, int],
    *,
    now: datetime,
) -> None:
    """Insert what is planned, the keys that are new with it."""
    named = {triple_of(one) for one in effect.snapshots}
    key_ids = keys.keep(tx, build.project_id, build.name, named)
    shas = {one.pixel_sha for one in effect.snapshots if one.pixel_sha}
    pictures = content.image_ids(tx, shas, now=now)
    rows: list[dict[str, Any]] = [
        {
            "build_id": build.id,
            "key_id": key_ids[triple_of(one)],
            "shard_id": None if one.shard_idx is None else shard_ids[one.shard_idx],
            "title": safe_text(one.title),
            "state": one.state,
            "image_id": pictures[one.pixel_sha] if one.pixel_sha else None,
            "baseline_image_id": one.baseline_image_id,
            "error_code": one.error_code,
            "message": None if one.message is None else safe_text(one.message),
        }
        for one in effect.snapshots
    ]
    snapshots.add(tx, rows)


def triple_of(one: PlannedSnapshot) -> keys.Triple:
    """Return what names the key of a planned snapshot."""
    return one.story_id, one.mode, one.browser
