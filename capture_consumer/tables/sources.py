"""The tables `repositories` and `sources`: whether we listen (INBOX-12).

A source's row is locked by whoever claims an event of it (INBOX-31).
"""

from sqlalchemy import CheckConstraint, Column, ForeignKey, Index, Table, Text

from capture_consumer.database.columns import METADATA, BigId, Instant
from capture_consumer.tables.projects import projects

__all__ = ["repositories", "sources"]

STATUSES = "'allowed', 'blocked', 'pending', 'left'"

repositories = Table(
    "repositories",
    METADATA,
    Column("repo_key", Text, primary_key=True, comment="github:<host>/<numeric id>, …"),
    Column("project_id", BigId, ForeignKey(projects.c.id, ondelete="SET NULL")),
    Column("status", Text, nullable=False, server_default="pending"),
    Column("marked_at", Instant, comment="the last mark's own time (INBOX-24)"),
    Column("installation", Text),
    Column("repo_name", Text, comment="as last heard; renames keep the key"),
    Column("created_at", Instant, nullable=False),
    CheckConstraint(f"status IN ({STATUSES})", name="repository_status_is_known"),
    Index("repositories_of_project", "project_id"),
    comment="Repositories that we have heard of",
)

sources = Table(
    "sources",
    METADATA,
    Column("source_key", Text, primary_key=True),
    Column("repo_key", Text, ForeignKey(repositories.c.repo_key), nullable=False),
    Column("status", Text, nullable=False, server_default="allowed"),
    Column("marked_at", Instant, comment="the last mark's own time (INBOX-24)"),
    Column("created_at", Instant, nullable=False),
    CheckConstraint(f"status IN ({STATUSES})", name="source_status_is_known"),
    Index("sources_of_repository", "repo_key"),
    comment="One pull request, branch or repository, there to be locked",
)
