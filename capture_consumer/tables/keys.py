"""The table `keys`: what a snapshot is through history (BUILD-3)."""

from sqlalchemy import Column, ForeignKey, Identity, Table, Text, UniqueConstraint

from capture_consumer.database.columns import METADATA, BigId
from capture_consumer.tables.projects import projects

__all__ = ["keys"]

keys = Table(
    "keys",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column("project_id", BigId, ForeignKey(projects.c.id), nullable=False),
    Column("name", Text, nullable=False),
    Column(
        "story_id", Text, nullable=False, comment="opaque, NFC, at most 512 bytes (BUILD-4)"
    ),
    Column("mode", Text, nullable=False, comment="canonical JSON (BUILD-5)"),
    Column("browser", Text, nullable=False, comment="image for a folder of pictures (BUILD-6)"),
    UniqueConstraint(
        "project_id", "name", "story_id", "mode", "browser", name="one_key_a_story"
    ),
    comment="The identity of a snapshot through history: story, mode and browser",
)
