"""The tables `commits` and `merged_pulls`: the graph that baselines are found in.

Clients fill it, at most 1 000 commits a build (BUILD-24). Parents that a
shallow clone does not know are none, which is the horizon (BUILD-52).
"""

from sqlalchemy import CheckConstraint, Column, ForeignKey, Integer, Table, Text

from capture_consumer.database.columns import METADATA, BigId, Instant, Json
from capture_consumer.tables.projects import projects

__all__ = ["commits", "merged_pulls"]

commits = Table(
    "commits",
    METADATA,
    Column("project_id", BigId, ForeignKey(projects.c.id), primary_key=True),
    Column("sha", Text, primary_key=True),
    Column("parents", Json, comment="list of full hashes; none: not known (BUILD-52)"),
    Column("tree", Text, comment="equal trees show a squash (BUILD-59)"),
    Column("committed_at", Instant),
    CheckConstraint("length(sha) IN (40, 64)", name="commit_sha_is_whole"),
    comment="Commits as clients told them",
)

merged_pulls = Table(
    "merged_pulls",
    METADATA,
    Column("project_id", BigId, ForeignKey(projects.c.id), primary_key=True),
    Column("merge_sha", Text, primary_key=True),
    Column("pull", Integer, nullable=False),
    Column("head_sha", Text),
    Column("branch", Text),
    Column("source", Text, nullable=False, comment="how it is known; subject is a guess"),
    Column("created_at", Instant, nullable=False),
    CheckConstraint("length(merge_sha) IN (40, 64)", name="merge_sha_is_whole"),
    CheckConstraint(
        "source IN ('webhook', 'api', 'tree', 'subject')", name="merged_pull_source_is_known"
    ),
    comment="Which pull request a commit merged; brings its approvals into scope (BUILD-59)",
)
