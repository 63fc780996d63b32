"""Snapshots as they are read: rows of `snapshots` with key and pictures, as facts.

Databases sort text by different rules, so what is to be in order is sorted here.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, func, select

from capture_consumer.builds.facts import ImageFact, KeyFact, SnapshotFact
from capture_consumer.database.slices import sliced
from capture_consumer.database.transaction import Tx
from capture_consumer.tables.images import images
from capture_consumer.tables.keys import Triple, keys
from capture_consumer.tables.snapshots import IS_PLANNED, snapshots

__all__ = ["Shown", "by_state", "durations", "of_build", "planned", "shown"]

BEFORE = images.alias("before_images")
OWN = [
    snapshots.c[name]
    for name in (
        "id",
        "shard_id",
        "title",
        "state",
        "flaky",
        "error_code",
        "message",
        "outcome",
        "review",
        "review_no",
    )
]


@dataclass(frozen=True, slots=True)
class Shown:
    """A snapshot with what people ask about it."""

    fact: SnapshotFact
    baseline_build_id: int | None
    baseline_reason: str | None
    comparison_id: int | None
    review_source: str | None


def of_build(tx: Tx, build_id: int) -> list[SnapshotFact]:
    """Return all snapshots of a build, by story, mode and browser."""
    return in_order(tx, whole().where(snapshots.c.build_id == build_id))


def planned(tx: Tx, shard_id: int) -> list[SnapshotFact]:
    """Return what a shard still has to capture, by story, mode and browser."""
    return in_order(tx, whole().where(snapshots.c.shard_id == shard_id, IS_PLANNED))


def shown(tx: Tx, build_id: int) -> list[Shown]:
    """Return all snapshots of a build with their why, by story, mode and browser."""
    more = (
        snapshots.c.baseline_build_id,
        snapshots.c.baseline_reason,
        snapshots.c.comparison_id,
        snapshots.c.review_source,
    )
    wanted = whole().add_columns(*more).where(snapshots.c.build_id == build_id)
    rows = tx.execute(wanted).mappings()
    found = [Shown(fact_of(row), *(row[column] for column in more)) for row in rows]
    return sorted(found, key=lambda one: order_of(one.fact))


def durations(tx: Tx, build_ids: list[int]) -> dict[Triple, list[int]]:
    """Return how many ms each key took in these builds (BUILD-32)."""
    found: dict[Triple, list[int]] = {}
    for some in sliced(build_ids):
        rows = tx.execute(
            select(keys.c.story_id, keys.c.mode, keys.c.browser, snapshots.c.took_ms)
            .join(keys, keys.c.id == snapshots.c.key_id)
            .where(snapshots.c.build_id.in_(some), snapshots.c.took_ms.is_not(None))
        )
        for row in rows:
            found.setdefault((row[0], row[1], row[2]), []).append(row[3])
    return found


def by_state(tx: Tx, build_id: int) -> dict[str, int]:
    """Return how many snapshots of a build have each state."""
    counted = (
        select(snapshots.c.state, func.count())
        .where(snapshots.c.build_id == build_id)
        .group_by(snapshots.c.state)
    )
    return {row[0]: row[1] for row in tx.execute(counted)}


def whole() -> Select[Any]:
    """Select snapshots with their key, their picture and their baseline's."""
    return (
        select(*OWN, *keys.c, *images.c, *BEFORE.c)
        .join(keys, keys.c.id == snapshots.c.key_id)
        .outerjoin(images, images.c.id == snapshots.c.image_id)
        .outerjoin(BEFORE, BEFORE.c.id == snapshots.c.baseline_image_id)
    )


def in_order(tx: Tx, wanted: Select[Any]) -> list[SnapshotFact]:
    """Run a selection of whole snapshots; return them by story, mode and browser."""
    return sorted((fact_of(row) for row in tx.execute(wanted).mappings()), key=order_of)


def order_of(fact: SnapshotFact) -> Triple:
    """Return what snapshots are sorted by."""
    return fact.key.story_id, fact.key.mode, fact.key.browser


def fact_of(row: Any) -> SnapshotFact:
    """Return a row of `whole`, read by column, as a fact."""
    key = KeyFact(*(row[keys.c[name]] for name in KeyFact.__dataclass_fields__))
    values = {column.name: row[column] for column in OWN}
    return SnapshotFact(
        key=key, image=picture(row, images), baseline=picture(row, BEFORE), **values
    )


def picture(row: Any, table: Any) -> ImageFact | None:
    """Return a picture out of a row, or None where there is none."""
    if row[table.c.id] is None:
        return None
    return ImageFact(*(row[table.c[name]] for name in ImageFact.__dataclass_fields__))
