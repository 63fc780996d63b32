"""The tables `inbox_events` and `inbox_subjects`: what the world says, received once."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
)

from capture_consumer.database.columns import METADATA, BigId, Instant, partial_index
from capture_consumer.tables.sources import sources

__all__ = ["inbox_events", "inbox_subjects"]

FINAL = "'done', 'dead', 'skipped'"

inbox_events = Table(
    "inbox_events",
    METADATA,
    Column("seq", BigId, Identity(), primary_key=True, comment="order of arrival"),
    Column("event_id", Text, nullable=False, comment="the sender's id of this delivery"),
    Column("source_key", Text, ForeignKey(sources.c.source_key)),
    Column("type", Text, nullable=False),
    Column("class", Text, nullable=False, comment="how a source's status treats it (INBOX-13)"),
    Column("event_ms", BigInteger, nullable=False, comment="the sender's time, ms since 1970"),
    Column("payload", Text, comment="JSON; none in a final status (INBOX-4)"),
    Column("status", Text, nullable=False, server_default="pending"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("requeues", Integer, nullable=False, server_default="0"),
    Column("claim_no", Integer, nullable=False, server_default="0", comment="the fence"),
    Column("next_attempt_at", Instant, nullable=False),
    Column("claimed_at", Instant),
    Column("created_at", Instant, nullable=False),
    Column("completed_at", Instant),
    Column("error_code", Text),
    UniqueConstraint("event_id", name="one_row_a_delivery"),
    CheckConstraint(
        f"status IN ('pending', 'processing', {FINAL})", name="event_status_is_known"
    ),
    CheckConstraint(
        f"payload IS NULL OR status NOT IN ({FINAL})", name="event_final_has_no_payload"
    ),
    CheckConstraint(
        "(claimed_at IS NOT NULL) = (status = 'processing')",
        name="event_claimed_while_processing",
    ),
    CheckConstraint(
        f"(completed_at IS NOT NULL) = (status IN ({FINAL}))", name="event_ends_with_an_instant"
    ),
    partial_index("inbox_due", "source_key", "event_ms", "seq", where="status = 'pending'"),
    partial_index(
        "inbox_one_processing_a_source",
        "source_key",
        where="status = 'processing'",
        unique=True,
    ),
    partial_index("inbox_prune", "completed_at", "seq", where=f"status IN ({FINAL})"),
    comment="Events of code hosts and CI (INBOX-1)",
)

inbox_subjects = Table(
    "inbox_subjects",
    METADATA,
    Column(
        "event_id",
        Text,
        ForeignKey(inbox_events.c.event_id, ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("subject_key", Text, primary_key=True, comment="pr:<n>, sha:<head>, run:<id>, …"),
    Column("role", Text, primary_key=True),
    Column("source_key", Text, nullable=False, comment="subjects are looked up within it"),
    CheckConstraint("role IN ('original', 'dependent')", name="subject_role_is_known"),
    Index("inbox_subjects_by_subject", "source_key", "subject_key", "role"),
    comment="What an event is about; a dependent waits for its original (INBOX-55)",
)
