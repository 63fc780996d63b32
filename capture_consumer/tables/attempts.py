"""The table `job_attempts`: one row each time a job is tried."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    SmallInteger,
    Table,
    Text,
)

from capture_consumer.database.columns import METADATA, Instant, Sha, partial_index
from capture_consumer.tables.jobs import jobs

__all__ = ["job_attempts"]

job_attempts = Table(
    "job_attempts",
    METADATA,
    Column("job_id", Text, ForeignKey(jobs.c.id, ondelete="CASCADE"), primary_key=True),
    Column("attempt", Integer, primary_key=True, autoincrement=False),
    Column("owner", Text, nullable=False, comment="UUID of one process's life"),
    Column("host", Text),
    Column("slot", SmallInteger),
    Column("pid", Integer),
    Column("incarnation", Text, comment="the supervisor's life"),
    Column("started_at", Instant, nullable=False),
    Column(
        "lease_until", Instant, nullable=False, comment="in no index, so that a touch is cheap"
    ),
    Column("touched_at", Instant),
    Column("story", Text, comment="in hand at the last touch"),
    Column("ended_at", Instant, comment="none while it is open"),
    Column(
        "outcome", Text, comment="done, failed, crashed, timed_out, lost, cancelled, released"
    ),
    Column("code", Text),
    Column("error", Text),
    Column("exit_code", Integer),
    Column("signal", Integer),
    Column("oom", Boolean, comment="the kernel killed it for memory"),
    Column("peak_rss", BigInteger, comment="bytes"),
    Column("explained", Boolean, nullable=False, comment="its story took the blame"),
    Column("trace_sha", Sha, comment="the tail of its trace, a blob"),
    CheckConstraint("attempt >= 1", name="attempts_count_from_one"),
    CheckConstraint("(ended_at IS NULL) = (outcome IS NULL)", name="attempt_ends_with_a_word"),
    CheckConstraint(
        "outcome IN ('done', 'failed', 'crashed', 'timed_out', 'lost', 'cancelled', "
        "'released')",
        name="attempt_outcome_is_known",
    ),
    partial_index("job_attempts_open", "job_id", where="ended_at IS NULL", unique=True),
    partial_index("job_attempts_open_of_owner", "owner", where="ended_at IS NULL"),
    comment="tries of jobs; claiming a job is inserting its next row",
    postgresql_with={
        "fillfactor": 70,
        "autovacuum_vacuum_scale_factor": 0.01,
        "autovacuum_vacuum_threshold": 200,
    },
)
