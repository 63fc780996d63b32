"""The table `lanes`: one row a branch or pull request of a name, there to be locked."""

from sqlalchemy import Column, ForeignKey, Identity, Table, Text, UniqueConstraint

from capture_consumer.database.columns import METADATA, BigId, Instant
from capture_consumer.tables.projects import projects

__all__ = ["lanes"]

lanes = Table(
    "lanes",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column("project_id", BigId, ForeignKey(projects.c.id), nullable=False),
    Column("name", Text, nullable=False),
    Column("ref", Text, nullable=False, comment="a branch, or pr/12 when a pull is named"),
    Column(
        "latest_build_id",
        BigId,
        comment="newest finished by ancestry, then number; no foreign key (R24)",
    ),
    Column("created_at", Instant, nullable=False, comment="its scope begins (BUILD-59)"),
    Column("closed_at", Instant, comment="pull closed or ref deleted; scope ends 30 d later"),
    UniqueConstraint("project_id", "name", "ref", name="one_lane_a_ref"),
    comment="A branch or pull request of one name; locked by who supersedes or reviews",
)
