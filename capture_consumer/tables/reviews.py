"""The table `reviews`: what people decided. Nothing is overwritten (BUILD-88)."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Table,
    Text,
    insert,
    update,
)

from capture_consumer.database.columns import METADATA, BigId, Instant
from capture_consumer.database.transaction import Tx
from capture_consumer.tables.images import images
from capture_consumer.tables.keys import keys
from capture_consumer.tables.projects import projects

__all__ = ["add", "reviews", "revoke"]

reviews = Table(
    "reviews",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column("project_id", BigId, ForeignKey(projects.c.id), nullable=False),
    Column("name", Text, nullable=False),
    Column("key_id", BigId, ForeignKey(keys.c.id), nullable=False),
    Column("scope_ref", Text, nullable=False, comment="the lane's ref (BUILD-59)"),
    Column("from_image", BigId, ForeignKey(images.c.id), comment="none: it was new"),
    Column("to_image", BigId, ForeignKey(images.c.id), comment="none: it was removed"),
    Column("decision", Text, nullable=False),
    Column("reviewer", Text, nullable=False),
    Column("reviewed_at", Instant, nullable=False),
    Column(
        "build_id", BigId, nullable=False, comment="where; no foreign key: it may be pruned"
    ),
    Column("revoked_at", Instant, comment="undone (BUILD-85)"),
    CheckConstraint("decision IN ('accepted', 'rejected')", name="review_decision_is_known"),
    Index("reviews_of_key", "key_id", "scope_ref", "id"),
    Index("reviews_of_scope", "project_id", "name", "scope_ref", "id"),
    comment="What people decided; an approval lives by its image, not by its commit",
)


def add(tx: Tx, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert decisions, one row each; earlier ones stay (BUILD-88)."""
    if rows:
        tx.execute(insert(reviews), list(rows))


def revoke(
    tx: Tx, *, key_ids: Collection[int], scope_ref: str, build_id: int, now: datetime
) -> int:
    """Take back what was decided on these keys in this build; return how many (BUILD-85)."""
    revoked = update(reviews).where(
        reviews.c.key_id.in_(key_ids),
        reviews.c.scope_ref == scope_ref,
        reviews.c.build_id == build_id,
        reviews.c.revoked_at.is_(None),
    )
    return tx.execute(revoked.values(revoked_at=now)).rowcount
