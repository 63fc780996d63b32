"""The table `lanes`: one row a branch or pull request of a name, there to be locked."""

from datetime import datetime

from sqlalchemy import (
    Column,
    ForeignKey,
    Identity,
    Table,
    Text,
    UniqueConstraint,
    select,
    update,
)

from capture_consumer.database.columns import METADATA, BigId, Instant
from capture_consumer.database.transaction import Tx
from capture_consumer.database.upsert import insert_or_leave
from capture_consumer.tables.projects import projects

__all__ = ["ensure", "lanes", "lock", "point_to"]

lanes = Table(
    "lanes",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column("project_id", BigId, ForeignKey(projects.c.id), nullable=False),
    Column("name", Text, nullable=False),
    Column("ref", Text, nullable=False, comment="a branch, or pr/12 when a pull is named"),
    Column(
        "latest_build_id",
        BigId,
        comment="newest finished by ancestry, then number; no foreign key (R24)",
    ),
    Column("created_at", Instant, nullable=False, comment="its scope begins (BUILD-59)"),
    Column("closed_at", Instant, comment="pull closed or ref deleted; scope ends 30 d later"),
    UniqueConstraint("project_id", "name", "ref", name="one_lane_a_ref"),
    comment="A branch or pull request of one name; locked by who supersedes or reviews",
)


def ensure(tx: Tx, *, project_id: int, name: str, ref: str, now: datetime) -> int:
    """Return the id of the lane, made now if it is new."""
    key = {"project_id": project_id, "name": name, "ref": ref}
    insert_or_leave(tx, lanes, key | {"created_at": now})
    lane_id: int = tx.execute(select(lanes.c.id).filter_by(**key)).scalar_one()
    return lane_id


def lock(tx: Tx, lane_id: int) -> int | None:
    """Lock a lane, before any of its builds; return its newest finished build's id."""
    latest: int | None = tx.execute(
        select(lanes.c.latest_build_id)
        .where(lanes.c.id == lane_id)
        .with_for_update(key_share=True)
    ).scalar_one()
    return latest


def point_to(tx: Tx, lane_id: int, build_id: int) -> None:
    """Write which finished build is the newest of the lane, whose row is locked."""
    tx.execute(update(lanes).where(lanes.c.id == lane_id).values(latest_build_id=build_id))
