"""The table `builds`: what a build is and how far it is.

Phase, verdict and manifest move by compare-and-set only, and each move adds 1
to `rev` (BUILD-10, BUILD-14). Whoever ends a shard locks the build's row first
(BUILD-71): see `lock`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

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
    insert,
    literal,
    select,
    true,
    update,
)

from capture_consumer.builds.facts import Phase, Verdict
from capture_consumer.builds.phases import ENDS, OPEN
from capture_consumer.database.columns import METADATA, BigId, Instant, Json, Sha, partial_index
from capture_consumer.database.transaction import Tx
from capture_consumer.tables.blobs import blobs
from capture_consumer.tables.lanes import lanes
from capture_consumer.tables.projects import projects

__all__ = [
    "IS_BASELINE",
    "IS_OPEN",
    "BuildRow",
    "builds",
    "create",
    "lock",
    "move",
    "of_nonce",
    "older_open",
    "point_to_newer",
    "rewrite",
]

OPEN_WORDS = ", ".join(f"'{phase}'" for phase in OPEN)
END_WORDS = ", ".join(f"'{phase}'" for phase in ENDS)
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
    Index("builds_of_nonce", "project_id", "nonce"),
    Index("builds_newest_of_line", "project_id", "name", "id"),
    partial_index("builds_open", "phase", "id", where=OPEN_ONLY),
    partial_index("builds_open_of_lane", "lane_id", "id", where=OPEN_ONLY),
    partial_index(
        "builds_baselines_by_commit", "project_id", "name", "commit_sha", where=BASELINES_ONLY
    ),
    comment="One run of one line of pictures, from upload to verdict",
)

IS_OPEN = builds.c.phase.in_([literal(phase, literal_execute=True) for phase in OPEN])
IS_BASELINE = (builds.c.phase == literal("finished", literal_execute=True)) & (
    builds.c.manifest_sha.is_not(None)
)


@dataclass(frozen=True, slots=True)
class BuildRow:
    """What whoever holds a build's lock has to know of it."""

    id: int
    project_id: int
    lane_id: int
    number: int
    name: str
    nonce: str
    kind: str
    commit_sha: str | None
    trusted: bool
    phase: Phase
    verdict: Verdict | None
    rev: int
    manifest_sha: str | None


COLUMNS = [builds.c[name] for name in BuildRow.__dataclass_fields__]


def lock(tx: Tx, build_id: int) -> BuildRow | None:
    """Lock a build's row until the end of the transaction; return it, None if it is gone.

    It comes before its shards, its snapshots and its jobs (BUILD-71). On SQLite the
    transaction holds the only write lock already.
    """
    row = tx.execute(
        select(*COLUMNS).where(builds.c.id == build_id).with_for_update(key_share=True)
    ).one_or_none()
    return BuildRow(*row) if row else None


def create(tx: Tx, *, now: datetime, **values: Any) -> int:
    """Insert a build in `receiving` (T1) and return its id."""
    made = insert(builds).values(phase="receiving", created_at=now, activity_at=now, **values)
    build_id: int = tx.execute(made.returning(builds.c.id)).scalar_one()
    return build_id


def of_nonce(tx: Tx, project_id: int, nonce: str) -> BuildRow | None:
    """Return the build of the project that was made with this nonce, of any name."""
    row = tx.execute(
        select(*COLUMNS)
        .where(builds.c.project_id == project_id, builds.c.nonce == nonce)
        .order_by(builds.c.id)
        .limit(1)
    ).one_or_none()
    return BuildRow(*row) if row else None


def move(
    tx: Tx,
    build_id: int,
    *,
    frm: Collection[Phase],
    to: Phase,
    now: datetime,
    values: Mapping[str, Any] | None = None,
) -> int | None:
    """Move the phase by compare-and-set; return the new `rev`, None if it was elsewhere.

    `values` are other columns that the same write sets (BUILD-14).
    """
    ended = {"finished_at": now} if to in ENDS else {}
    moved = (
        update(builds)
        .where(builds.c.id == build_id, builds.c.phase.in_(frm))
        .values(phase=to, rev=builds.c.rev + 1, **ended, **(values or {}))
    )
    rev: int | None = tx.execute(moved.returning(builds.c.rev)).scalar_one_or_none()
    return rev


def rewrite(tx: Tx, build_id: int, *, rev: int, values: Mapping[str, Any]) -> int | None:
    """Change verdict, manifest and counts of a finished build (T15); None if `rev` moved."""
    changed = (
        update(builds)
        .where(builds.c.id == build_id, builds.c.rev == rev, builds.c.phase == "finished")
        .values(rev=builds.c.rev + 1, **values)
    )
    new: int | None = tx.execute(changed.returning(builds.c.rev)).scalar_one_or_none()
    return new


def point_to_newer(tx: Tx, build_id: int, newer_id: int) -> None:
    """Write which build came after an ended one; nothing else of it changes (T16)."""
    tx.execute(
        update(builds)
        .where(
            builds.c.id == build_id,
            builds.c.phase.in_(ENDS),
            builds.c.superseded_by.is_(None),
        )
        .values(superseded_by=newer_id)
    )


def older_open(tx: Tx, lane_id: int, number: int) -> list[BuildRow]:
    """Return the open builds of a lane that have a lower number, the oldest first."""
    rows = tx.execute(
        select(*COLUMNS)
        .where(builds.c.lane_id == lane_id, builds.c.number < number, IS_OPEN)
        .order_by(builds.c.id)
    )
    return [BuildRow(*row) for row in rows]
