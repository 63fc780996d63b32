"""The table `reviews`: what people decided. Nothing is overwritten (BUILD-88)."""

from sqlalchemy import (
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Table,
    Text,
)

from capture_consumer.database.columns import METADATA, BigId, Instant
from capture_consumer.tables.images import images
from capture_consumer.tables.keys import keys
from capture_consumer.tables.projects import projects

__all__ = ["reviews"]

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
