"""The table `builds`: what a build is and how far it is.

Phase, verdict and manifest move by compare-and-set only, and each move adds 1
to `rev` (BUILD-10, BUILD-14). Whoever ends a shard locks the build's row first
(BUILD-71): see `lock`.
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
    true,
)

from capture_consumer.database.columns import METADATA, BigId, Instant, Json, Sha, partial_index
from capture_consumer.tables.blobs import blobs
from capture_consumer.tables.lanes import lanes
from capture_consumer.tables.projects import projects

__all__ = ["builds"]

OPEN_WORDS = "'receiving', 'pending', 'planning', 'capturing', 'reducing'"
END_WORDS = "'finished', 'failed', 'cancelled', 'superseded', 'expired'"
OPEN_ONLY = f"phase IN ({OPEN_WORDS})"
BASELINES_ONLY = "phase = 'finished' AND manifest_sha IS NOT NULL"

builds = Table(
    "builds",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column("project_id", BigId, ForeignKey(projects.c.id), nullable=False),
    Column("number", Integer, nullable=False, comment="from 1 in its project (BUILD-1)"),
    Column("name", Text, nullable=False, server_default="default"),
    Column("nonce", Text, nullable=False, comment="the same again is the same build"),
    Column("lane_id", BigId, ForeignKey(lanes.c.id), nullable=False),
    Column("commit_sha", Text, comment="none without git (R26)"),
    Column("head_sha", Text, comment="where the status goes (BUILD-115)"),
    Column("branch", Text),
    Column("pull", Integer),
    Column("base_branch", Text),
    Column("pinned_base", Text, comment="commit, branch or build number (BUILD-51)"),
    Column("kind", Text, nullable=False),
    Column("source_sha", Sha, comment="of the list of what was sent"),
    Column("subset", Boolean, nullable=False, server_default=false()),
    Column("trusted", Boolean, nullable=False, server_default=true()),
    Column("ci_run", Text),
    Column("retry_of", BigId, comment="a build's id; no foreign key: it may be pruned"),
    Column("superseded_by", BigId, comment="a build's id; no foreign key: it may be pruned"),
    Column("phase", Text, nullable=False),
    Column("verdict", Text),
    Column("rev", Integer, nullable=False, server_default="0"),
    Column("error_code", Text),
    Column("error_text", Text),
    Column("environment", Text, comment="hash of browser, flags and fonts (BUILD-49)"),
    Column("manifest_sha", Sha, ForeignKey(blobs.c.sha)),
    Column("waits_for", BigId, comment="a nearer build that is open (BUILD-57)"),
    Column("counts", Json, nullable=False, server_default="{}"),
    Column("upload_total", Integer, comment="shards of an uploaded folder; none: not known"),
    Column("created_at", Instant, nullable=False),
    Column("activity_at", Instant, nullable=False, comment="of the upload (BUILD-40)"),
    Column("pending_at", Instant),
    Column("finished_at", Instant, comment="of any end"),
    Column("deadline_at", Instant),
    UniqueConstraint("project_id", "number", name="one_build_a_number"),
    UniqueConstraint("project_id", "name", "nonce", name="one_build_a_nonce"),
    CheckConstraint("kind IN ('storybook', 'images')", name="build_kind_is_known"),
    CheckConstraint(f"phase IN ({OPEN_WORDS}, {END_WORDS})", name="build_phase_is_known"),
    CheckConstraint(
        "verdict IN ('passed', 'accepted', 'needs_review', 'rejected', 'broken', "
        "'incomplete', 'skipped')",
        name="build_verdict_is_known",
    ),
    CheckConstraint(
        "(verdict IS NOT NULL) = (phase = 'finished')", name="finished_has_a_verdict"
    ),
    CheckConstraint(
        f"(finished_at IS NOT NULL) = (phase IN ({END_WORDS}))",
        name="build_ends_with_an_instant",
    ),
    CheckConstraint("manifest_sha IS NULL OR phase = 'finished'", name="manifest_is_final"),
    CheckConstraint("rev >= 0", name="rev_counts_from_zero"),
    CheckConstraint("length(commit_sha) IN (40, 64)", name="commit_sha_is_whole"),
    Index("builds_of_lane", "lane_id", "id"),
    Index("builds_newest_of_line", "project_id", "name", "id"),
    partial_index("builds_open", "phase", "id", where=OPEN_ONLY),
    partial_index(
        "builds_baselines_by_commit", "project_id", "name", "commit_sha", where=BASELINES_ONLY
    ),
    partial_index(
        "builds_baselines_by_age",
        "project_id",
        "name",
        "finished_at",
        "id",
        where=BASELINES_ONLY,
    ),
    comment="One run of one line of pictures, from upload to verdict",
)
