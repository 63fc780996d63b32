"""Builds in every phase, made by the product's own functions, on a real database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from threading import Barrier
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Engine, select, text

from capture_consumer.builds.effects import (
    BeginPlanning,
    DealShards,
    Effect,
    EndBuild,
    EndShard,
    FinishBuild,
    KeepContent,
    OpenBuild,
    PlannedShard,
    PlannedSnapshot,
    RecordSnapshots,
    SnapshotResult,
    StoredBlob,
    StoredImage,
    TryMade,
)
from capture_consumer.builds.facts import Phase
from capture_consumer.database.transaction import transaction
from capture_consumer.records import effects, opening, order
from capture_consumer.tables import build_views, builds, jobs, shards, snapshots
from capture_consumer.tables.lifecycle_events import lifecycle_events

if TYPE_CHECKING:
    from tests.conftest import HandClock

Answer = TypeVar("Answer")

MODE = '{"height":720,"width":1280}'


def sha(*words: object) -> str:
    """Return a hash that stands for these words."""
    return sha256(repr(words).encode()).hexdigest()


def image(*words: object) -> StoredImage:
    """Return a picture of these words."""
    return StoredImage(sha("pixels", *words), sha("png", *words), 4, 3, 99)


def kept(*pictures: StoredImage) -> KeepContent:
    """Return pictures as content to keep."""
    stored = tuple(StoredBlob(one.blob_sha, one.bytes, "image") for one in pictures)
    return KeepContent(blobs=stored, images=pictures)


def written(engine: Engine, clock: HandClock, *asked: Effect) -> None:
    """Write effects as a settle does, without a job."""
    with transaction(engine) as tx:
        order.lock(tx, build_id=None, shard_id=None, effects=asked)
        effects.write(tx, asked, now=clock.now())


def opened(engine: Engine, clock: HandClock, **values: Any) -> int:
    """Return a build in `receiving`."""
    wanted: dict[str, Any] = {"project": "shop", "kind": "storybook", "branch": "topic"}
    wanted |= values
    wanted.setdefault("nonce", f"nonce-{sha(clock.now(), sorted(map(repr, values.items())))}")
    with transaction(engine) as tx:
        return opening.open_build(tx, OpenBuild(**wanted), now=clock.now()).build_id


def pending(engine: Engine, clock: HandClock, **values: Any) -> int:
    """Return a build in `pending`."""
    build_id = opened(engine, clock, **values)
    with transaction(engine) as tx:
        opening.finalize(tx, build_id, clock.now())
    return build_id


def planning(engine: Engine, clock: HandClock, **values: Any) -> int:
    """Return a build in `planning`."""
    build_id = pending(engine, clock, **values)
    written(engine, clock, BeginPlanning(build_id))
    return build_id


def dealt(build_id: int, *stories_of: Sequence[str]) -> DealShards:
    """Return a plan with a shard for each list of stories."""
    return DealShards(
        build_id=build_id,
        environment="env",
        snapshots=tuple(
            PlannedSnapshot(story, MODE, "chromium", f"Title of {story}", idx)
            for idx, stories in enumerate(stories_of)
            for story in stories
        ),
        shards=tuple(PlannedShard(idx, 1000) for idx in range(len(stories_of))),
    )


def capturing(
    engine: Engine, clock: HandClock, *stories_of: Sequence[str], **values: Any
) -> int:
    """Return a build in `capturing`, with a shard for each list of stories."""
    build_id = planning(engine, clock, **values)
    written(engine, clock, dealt(build_id, *(stories_of or (["a"], ["b"]))))
    return build_id


def captured(engine: Engine, clock: HandClock, build_id: int, shard_id: int) -> None:
    """Record one picture of every planned snapshot of a shard."""
    at = clock.now()
    rows = snapshots_of(engine, build_id)
    mine = [row for row in rows if row.shard_id == shard_id and row.state == "planned"]
    pictures = {row.id: image(row.key_id) for row in mine}
    results = tuple(
        SnapshotResult(
            row.id,
            "captured",
            pixel_sha=pictures[row.id].pixel_sha,
            tries=(TryMade(at, at, "still", pictures[row.id].pixel_sha),),
        )
        for row in mine
    )
    recorded = RecordSnapshots(shard_id, f"shard:{build_id}:0", 1, results)
    written(engine, clock, kept(*pictures.values()), recorded)


def reducing(
    engine: Engine, clock: HandClock, *stories_of: Sequence[str], **values: Any
) -> int:
    """Return a build in `reducing`, all of it captured."""
    build_id = capturing(engine, clock, *stories_of, **values)
    for shard in shards_of(engine, build_id):
        captured(engine, clock, build_id, shard.id)
        written(engine, clock, EndShard(build_id, shard.id))
    return build_id


def finished(
    engine: Engine, clock: HandClock, *stories_of: Sequence[str], **values: Any
) -> int:
    """Return a finished build with a manifest."""
    verdict = values.pop("verdict", "passed")
    build_id = reducing(engine, clock, *stories_of, **values)
    manifest = StoredBlob(sha("manifest", build_id), 10, "manifest")
    written(
        engine,
        clock,
        KeepContent(blobs=(manifest,)),
        FinishBuild(build_id, verdict, manifest.sha, {}),
    )
    return build_id


def ended(engine: Engine, clock: HandClock, to: Any, **values: Any) -> int:
    """Return a build that ended so."""
    build_id = pending(engine, clock, **values) if to != "expired" else opened(engine, clock)
    written(engine, clock, EndBuild(build_id, to))
    return build_id


IN_PHASE: dict[Phase, Callable[[Engine, HandClock], int]] = {
    "receiving": opened,
    "pending": pending,
    "planning": planning,
    "capturing": capturing,
    "reducing": reducing,
    "finished": finished,
    "failed": lambda engine, clock: ended(engine, clock, "failed"),
    "cancelled": lambda engine, clock: ended(engine, clock, "cancelled"),
    "superseded": lambda engine, clock: ended(engine, clock, "superseded"),
    "expired": lambda engine, clock: ended(engine, clock, "expired"),
}


def build_of(engine: Engine, build_id: int) -> Any:
    """Return a build as it is now."""
    with engine.connect() as db:
        found = build_views.get(db, build_id)
    assert found
    return found


def shards_of(engine: Engine, build_id: int) -> list[Any]:
    """Return a build's shards."""
    with engine.connect() as db:
        return list(shards.of_build(db, build_id))


def snapshots_of(engine: Engine, build_id: int) -> list[Any]:
    """Return a build's rows of snapshots by id."""
    table = snapshots.snapshots
    with engine.connect() as db:
        rows = db.execute(
            select(table).where(table.c.build_id == build_id).order_by(table.c.id)
        )
        return list(rows)


def states(engine: Engine, build_id: int) -> dict[str, str]:
    """Return the states of a build's snapshots by title."""
    return {
        row.title.removeprefix("Title of "): row.state for row in snapshots_of(engine, build_id)
    }


def jobs_of(engine: Engine, build_id: int) -> dict[str, str]:
    """Return the statuses of a build's jobs by id, its number left out."""
    with engine.connect() as db:
        found = jobs.listing(db, build_id=build_id, limit=1000)
    return {job.id.replace(f":{build_id}", "", 1): job.status for job in found}


def hooks_of(engine: Engine, build_id: int) -> list[tuple[int, str]]:
    """Return the lifecycle rows of a build: rev and hook."""
    table = lifecycle_events
    with engine.connect() as db:
        rows = db.execute(
            select(table.c.build_rev, table.c.hook_type)
            .where(table.c.build_id == build_id)
            .order_by(table.c.id)
        )
        return [(row[0], row[1]) for row in rows]


def everything(engine: Engine) -> dict[str, list[Any]]:
    """Return all rows of what builds are made of, to see that nothing changed."""
    tables = (builds.builds, shards.shards, snapshots.snapshots, jobs.jobs, lifecycle_events)
    with engine.connect() as db:
        return {
            one.name: [tuple(row) for row in db.execute(select(one).order_by(text("id")))]
            for one in tables
        }


@dataclass
class AtOnce:
    """Runs functions in as many threads, begun together."""

    actors: int

    def run(self, do: Callable[[int], Answer]) -> list[Answer]:
        """Run `do(i)` for each i at one barrier; return the answers."""
        together = Barrier(self.actors)

        def one(place: int) -> Answer:
            together.wait(10)
            return do(place)

        with ThreadPoolExecutor(self.actors) as pool:
            return list(pool.map(one, range(self.actors)))
