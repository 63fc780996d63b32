"""Lock what effects will touch, in the one order, before anything is looked at.

    project < blob < image < key < comparison < lane < build < shard < snapshot < job …

A settle locks its build first, always, and then its shard (BUILD-11). A save
locks the shard alone, unless it moves the build or writes snapshots that have no
shard. What a build's effects add to other builds of its lane is locked here too,
lane first, builds by ascending id. Content rows need no lock: they are inserted
sorted by key (R21).
"""

from capture_consumer.builds.effects import (
    BeginPlanning,
    BeginShard,
    CancelJobs,
    DealShards,
    Effects,
    EndBuild,
    EndShard,
    FinishBuild,
    GiveUp,
    RecordOutcomes,
    RecordSnapshots,
    ReviewSnapshots,
    SupersedeOlder,
)
from capture_consumer.database.transaction import Tx
from capture_consumer.tables import build_views, builds, lanes, shards

__all__ = ["lock"]

OF_A_BUILD = (
    BeginPlanning
    | CancelJobs
    | DealShards
    | EndBuild
    | EndShard
    | FinishBuild
    | GiveUp
    | RecordOutcomes
    | ReviewSnapshots
    | SupersedeOlder
)
OF_A_SHARD = BeginShard | EndShard | GiveUp | RecordSnapshots
OF_A_LANE = FinishBuild | ReviewSnapshots | SupersedeOlder


def lock(tx: Tx, *, build_id: int | None, shard_id: int | None, effects: Effects) -> None:
    """Lock lanes, builds and shards that these effects will write to.

    Args:
        tx: the caller's transaction, before its first other statement.
        build_id: the build to lock whatever the effects are: a settle of kind capture
            names its job's, a save names none.
        shard_id: the job's shard, if it has one.
        effects: what will be written.
    """
    wanted = {one.build_id for one in effects if isinstance(one, OF_A_BUILD)}
    if build_id is not None:
        wanted.add(build_id)
    wanted |= in_locked_lanes(tx, effects)
    for one in sorted(wanted):
        builds.lock(tx, one)
    named = {one.shard_id for one in effects if isinstance(one, OF_A_SHARD)}
    for shard in sorted({one for one in {*named, shard_id} if one is not None}):
        shards.lock(tx, shard)


def in_locked_lanes(tx: Tx, effects: Effects) -> set[int]:
    """Lock the lanes that are written to; return the other builds that will change."""
    others: set[int] = set()
    about = sorted({one.build_id for one in effects if isinstance(one, OF_A_LANE)})
    found = [build for build in (build_views.get(tx, one) for one in about) if build]
    for lane_id in sorted({build.lane_id for build in found}):
        latest = lanes.lock(tx, lane_id)
        others |= {latest} if latest is not None else set()
    superseding = {one.build_id for one in effects if isinstance(one, SupersedeOlder)}
    for build in found:
        if build.id in superseding:
            others |= {older.id for older in builds.older_open(tx, build.lane_id, build.number)}
    return others
