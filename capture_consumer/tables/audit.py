"""The table `audit`: what was done by hand, by whom (COM-16)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Column, Identity, Index, Table, Text, insert

from capture_consumer.database.columns import METADATA, BigId, Instant, Json
from capture_consumer.database.transaction import Tx

__all__ = ["add", "audit"]

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


def add(
    tx: Tx,
    *,
    who: str,
    action: str,
    subject: str,
    now: datetime,
    from_state: str | None = None,
    to_state: str | None = None,
    details: Mapping[str, Any] | None = None,
) -> None:
    """Write down what a person did, in the transaction that did it."""
    tx.execute(
        insert(audit).values(
            at=now,
            who=who,
            action=action,
            subject=subject,
            from_state=from_state,
            to_state=to_state,
            details=dict(details or {}),
        )
    )
