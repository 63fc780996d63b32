"""The table `lifecycle_events`: one row for each hook that has to follow a build's move."""

from sqlalchemy import (
    CheckConstraint,
    Column,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from capture_consumer.database.columns import METADATA, BigId, Instant, partial_index

__all__ = ["lifecycle_events"]


lifecycle_events = Table(
    "lifecycle_events",
    METADATA,
    Column("id", BigId, primary_key=True),
    Column("project_id", BigId, comment="none when the build's project is gone"),
    Column("build_id", BigId, nullable=False),
    Column(
        "build_rev", Integer, nullable=False, comment="the build's rev that it follows from"
    ),
    Column("hook_type", Text, nullable=False),
    Column("key", Text, nullable=False, comment="tells rows of one rev and hook apart"),
    Column("payload", Text),
    Column("status", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("claim_no", Integer, nullable=False, comment="the fence: counts claims, never back"),
    Column("next_at", Instant, comment="not before; none is at once"),
    Column("code", Text),
    Column("reason", Text),
    Column("created_at", Instant, nullable=False),
    Column("changed_at", Instant, nullable=False),
    UniqueConstraint(
        "build_id", "build_rev", "hook_type", "key", name="one_row_a_hook_and_rev"
    ),
    CheckConstraint(
        "status IN ('pending', 'running', 'succeeded', 'failed')",
        name="lifecycle_status_is_known",
    ),
    partial_index("lifecycle_events_pending", "id", where="status = 'pending'"),
    partial_index("lifecycle_events_running", "changed_at", where="status = 'running'"),
    partial_index(
        "lifecycle_events_open_of_build",
        "build_id",
        "hook_type",
        "id",
        where="status IN ('pending', 'running')",
    ),
    partial_index(
        "lifecycle_events_prune", "changed_at", "id", where="status IN ('succeeded', 'failed')"
    ),
    comment="what has to follow a build's move: one row a hook",
)
