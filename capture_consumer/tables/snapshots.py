"""The tables `snapshots` and `tries`: what a build shows of a key, and how it was taken.

Rows are written only under the lock of their shard or build, after the fence
(decision 11). A state is written once: `planned` to another, never on (BUILD-44).
"""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    false,
)

from capture_consumer.database.columns import METADATA, BigId, Instant, Json, Sha, partial_index
from capture_consumer.tables.builds import builds
from capture_consumer.tables.comparisons import comparisons
from capture_consumer.tables.images import images
from capture_consumer.tables.keys import keys
from capture_consumer.tables.shards import shards

__all__ = ["snapshots", "tries"]

PENDING_ONLY = "review = 'pending'"

snapshots = Table(
    "snapshots",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column("build_id", BigId, ForeignKey(builds.c.id, ondelete="CASCADE"), nullable=False),
    Column("key_id", BigId, ForeignKey(keys.c.id), nullable=False),
    Column("shard_id", BigId, ForeignKey(shards.c.id, ondelete="CASCADE")),
    Column("title", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("flaky", Boolean, nullable=False, server_default=false()),
    Column("image_id", BigId, ForeignKey(images.c.id)),
    Column("copied_from", BigId, comment="a snapshot's id; no foreign key: it may be pruned"),
    Column("error_code", Text),
    Column("message", Text),
    Column("took_ms", Integer, comment="all its tries together; weighs shards (BUILD-32)"),
    Column("outcome", Text, comment="none until reduced"),
    Column(
        "baseline_image_id", BigId, ForeignKey(images.c.id), comment="tentative, then final"
    ),
    Column(
        "baseline_build_id", BigId, comment="a build's id; no foreign key: it may be pruned"
    ),
    Column("baseline_reason", Text),
    Column("comparison_id", BigId, ForeignKey(comparisons.c.id)),
    Column("review", Text, nullable=False, server_default="none"),
    Column("review_source", Text, comment="person, carried, policy, auto_branch, first_build"),
    Column("review_no", Integer, nullable=False, server_default="0"),
    UniqueConstraint("build_id", "key_id", name="one_snapshot_a_key"),
    CheckConstraint(
        "state IN ('planned', 'captured', 'errored', 'unstable', 'lost', 'skipped', "
        "'inherited')",
        name="snapshot_state_is_known",
    ),
    CheckConstraint(
        "outcome IN ('unchanged', 'changed', 'new', 'removed', 'carried', 'ignored', "
        "'errored', 'unstable', 'lost', 'skipped')",
        name="snapshot_outcome_is_known",
    ),
    CheckConstraint(
        "review IN ('none', 'pending', 'accepted', 'rejected')", name="snapshot_review_is_known"
    ),
    CheckConstraint(
        "state <> 'captured' OR image_id IS NOT NULL",
        name="captured_has_an_image",
    ),
    Index("snapshots_of_shard", "shard_id"),
    Index("snapshots_of_key", "key_id", "id"),
    Index("snapshots_of_image", "image_id"),
    partial_index("snapshots_pending_of_key", "key_id", "image_id", where=PENDING_ONLY),
    comment="What one build shows of one key, and what people said of it",
)

tries = Table(
    "tries",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column(
        "snapshot_id", BigId, ForeignKey(snapshots.c.id, ondelete="CASCADE"), nullable=False
    ),
    Column("n", Integer, nullable=False, comment="from 1 in its snapshot"),
    Column("job_id", Text, nullable=False, comment="with attempt; no foreign key (R19)"),
    Column("attempt", Integer, nullable=False),
    Column("started_at", Instant, nullable=False),
    Column("ended_at", Instant, nullable=False),
    Column("result", Text, nullable=False),
    Column("image_id", BigId, ForeignKey(images.c.id)),
    Column("error", Json),
    Column("log_sha", Sha, comment="a blob: the page's log"),
    Column("trace_sha", Sha, comment="a blob"),
    UniqueConstraint("snapshot_id", "n", name="one_try_a_number"),
    CheckConstraint(
        "result IN ('still', 'moving', 'errored', 'died')", name="try_result_is_known"
    ),
    CheckConstraint("n >= 1", name="tries_count_from_one"),
    comment="Each time a picture of a snapshot was taken (BUILD-45)",
)
