"""The table `shards`: parts of a build, each captured by one job and ended once.

A shard has no lease, its job has (BUILD-31). The open ones are counted, never
kept as a number to be counted down (BUILD-72).
"""

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from capture_consumer.database.columns import METADATA, BigId, Instant, partial_index
from capture_consumer.tables.builds import builds

__all__ = ["shards"]

shards = Table(
    "shards",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column("build_id", BigId, ForeignKey(builds.c.id, ondelete="CASCADE"), nullable=False),
    Column("idx", Integer, nullable=False, comment="from 0 in its build"),
    Column("state", Text, nullable=False, server_default="pending"),
    Column("error_code", Text),
    Column("error_text", Text),
    Column("planned", Integer, nullable=False, server_default="0", comment="snapshots dealt"),
    Column("ended", Integer, nullable=False, server_default="0", comment="for progress only"),
    Column("weight_ms", Integer, nullable=False, server_default="0", comment="expected time"),
    Column("ended_at", Instant),
    UniqueConstraint("build_id", "idx", name="one_shard_an_idx"),
    CheckConstraint(
        "state IN ('pending', 'running', 'done', 'failed', 'cancelled')",
        name="shard_state_is_known",
    ),
    CheckConstraint(
        "(ended_at IS NULL) = (state IN ('pending', 'running'))",
        name="shard_ends_with_an_instant",
    ),
    partial_index("shards_open_of_build", "build_id", where="state IN ('pending', 'running')"),
    comment="Parts of a build; the last one that ends moves it to reducing",
)
