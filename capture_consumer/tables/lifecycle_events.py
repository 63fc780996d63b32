"""The table `lifecycle_events`: one row for each hook that has to follow a build's move.

Rows are inserted by the transaction that moves the build (LIFE-1). `claim_no` is
the fence: it counts claims and never goes back, `attempts` may (LIFE-22, COM-6).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Column, Identity, Integer, Table, Text, UniqueConstraint

from capture_consumer.database.columns import (
    METADATA,
    BigId,
    Instant,
    canonical_json,
    partial_index,
)
from capture_consumer.database.transaction import Tx
from capture_consumer.database.upsert import insert_or_leave

__all__ = ["insert", "lifecycle_events"]


lifecycle_events = Table(
    "lifecycle_events",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
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


def insert(
    tx: Tx,
    *,
    build_id: int,
    project_id: int | None,
    rev: int,
    hooks: Sequence[tuple[str, str, Mapping[str, Any] | None]],
    now: datetime,
) -> int:
    """Insert a row for each (hook type, key, payload); return how many are new (LIFE-4).

    `key` is empty but for hooks that may follow more than once from one rev.
    """
    common = {"build_id": build_id, "project_id": project_id, "build_rev": rev}
    fresh = {"status": "pending", "attempts": 0, "claim_no": 0}
    rows = [
        {
            "hook_type": hook_type,
            "key": key,
            "payload": canonical_json(payload) if payload else None,
            "created_at": now,
            "changed_at": now,
        }
        | common
        | fresh
        for hook_type, key, payload in hooks
    ]
    return insert_or_leave(tx, lifecycle_events, rows)
