"""The table `audit`: what was done by hand, by whom (COM-16)."""

from sqlalchemy import Column, Identity, Index, Table, Text

from capture_consumer.database.columns import METADATA, BigId, Instant, Json

__all__ = ["audit"]

audit = Table(
    "audit",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column("at", Instant, nullable=False),
    Column("who", Text, nullable=False),
    Column("action", Text, nullable=False, comment="review, cancel, retry, drop, …"),
    Column("subject", Text, nullable=False, comment="build:12, job:plan:12, post:…"),
    Column("from_state", Text),
    Column("to_state", Text),
    Column("details", Json, nullable=False, server_default="{}"),
    Index("audit_of_subject", "subject", "id"),
    comment="What people did by hand; only ever added to",
)
