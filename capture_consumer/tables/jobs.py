"""The table `jobs`: what has to be done, and how far it is."""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Integer,
    SmallInteger,
    Table,
    Text,
)

from capture_consumer.database.columns import METADATA, BigId, Instant, partial_index

__all__ = ["jobs"]


jobs = Table(
    "jobs",
    METADATA,
    Column("id", Text, primary_key=True),
    Column("build_id", BigId),
    Column("shard_id", BigId),
    Column("kind", Text, nullable=False, comment="capture, publish, notify, or a user's own"),
    Column("step", Text, comment="of a capture job: plan, shard, reduce"),
    Column("status", Text, nullable=False),
    Column("priority", SmallInteger, nullable=False, comment="smaller goes first"),
    Column("visible_at", Instant, comment="may be claimed from then on; only while queued"),
    Column("attempt", Integer, nullable=False, comment="number of the newest attempt"),
    Column("suspect", Boolean, nullable=False, comment="to be run alone on its host"),
    Column("payload", Text),
    Column("created_at", Instant, nullable=False),
    Column("started_at", Instant),
    Column("finished_at", Instant),
    Column("code", Text),
    Column("error", Text),
    CheckConstraint("step IN ('plan', 'shard', 'reduce')", name="job_step_is_known"),
    CheckConstraint(
        "status IN ('queued', 'running', 'done', 'failed', 'cancelled')",
        name="job_status_is_known",
    ),
    CheckConstraint(
        "(visible_at IS NOT NULL) = (status = 'queued')", name="job_is_visible_while_queued"
    ),
    CheckConstraint(
        "(finished_at IS NOT NULL) = (status IN ('done', 'failed', 'cancelled'))",
        name="job_is_finished_when_it_ended",
    ),
    partial_index("jobs_ready", "priority", "visible_at", "id", where="status = 'queued'"),
    partial_index("jobs_suspects", "visible_at", "id", where="status = 'queued' AND suspect"),
    partial_index("jobs_open_of_build", "build_id", where="status IN ('queued', 'running')"),
    partial_index(
        "jobs_prune", "finished_at", "id", where="status IN ('done', 'failed', 'cancelled')"
    ),
    comment="what has to be done; each try of it is a row of job_attempts",
    postgresql_with={
        "fillfactor": 80,
        "autovacuum_vacuum_scale_factor": 0.01,
        "autovacuum_vacuum_threshold": 500,
    },
)
