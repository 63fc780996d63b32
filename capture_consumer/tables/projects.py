"""The tables `projects` and `tokens`: what is watched, and who may ask for what.

A project is made at its first submit (R26). Its row counts the builds and is
locked by whoever makes one (BUILD-1).
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    select,
    true,
    update,
)

from capture_consumer.builds.facts import ProjectFact
from capture_consumer.database.columns import METADATA, BigId, Instant, Json, Sha
from capture_consumer.database.transaction import Tx
from capture_consumer.database.upsert import insert_or_leave

__all__ = [
    "COLUMNS",
    "by_slug",
    "configure",
    "ensure",
    "fact_of",
    "listing",
    "projects",
    "take_number",
    "tokens",
]

projects = Table(
    "projects",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column("slug", Text, nullable=False, comment="[a-z0-9][a-z0-9-]{0,62}; what people type"),
    Column("repo_kind", Text, comment="github, gitlab, bitbucket, gitea; none without a host"),
    Column("repo_name", Text, comment="as the code host shows it"),
    Column("default_branch", Text, nullable=False, server_default="main"),
    Column("accept_branches", Json, nullable=False, server_default="[]"),
    Column("protected_branches", Json, nullable=False, server_default="[]"),
    Column("baseline_mode", Text, nullable=False, server_default="git"),
    Column("supersede", Boolean, nullable=False, server_default=true()),
    Column("policy_new", Text, nullable=False, server_default="review"),
    Column("policy_removed", Text, nullable=False, server_default="review"),
    Column("policy_unstable", Text, nullable=False, server_default="review"),
    Column("capture", Json, nullable=False, server_default="{}"),
    Column("compare", Json, nullable=False, server_default="{}"),
    Column("modes", Json, nullable=False, server_default="{}", comment="name to mode"),
    Column("egress_allow", Json, nullable=False, server_default="[]", comment="hosts"),
    Column("retention", Json, nullable=False, server_default="{}", comment="days a kind"),
    Column("next_build_number", Integer, nullable=False, server_default="1"),
    Column("status_context", Text, comment="none: capture/<project>[/<name>] (BUILD-115)"),
    Column("created_at", Instant, nullable=False),
    UniqueConstraint("slug", name="one_project_a_slug"),
    CheckConstraint("baseline_mode IN ('git', 'latest')", name="baseline_mode_is_known"),
    CheckConstraint("policy_new IN ('review', 'auto')", name="policy_new_is_known"),
    CheckConstraint("policy_removed IN ('review', 'auto')", name="policy_removed_is_known"),
    CheckConstraint(
        "policy_unstable IN ('review', 'block', 'warn')", name="policy_unstable_is_known"
    ),
    CheckConstraint("next_build_number >= 1", name="builds_count_from_one"),
    comment="What is watched: one line of pictures a name, with its policies",
)

tokens = Table(
    "tokens",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column("project_id", BigId, ForeignKey(projects.c.id, ondelete="CASCADE"), nullable=False),
    Column("sha256", Sha, nullable=False, comment="of the token; the token is never stored"),
    Column("scope", Text, nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, comment="none: never"),
    Column("last_used_at", Instant),
    UniqueConstraint("sha256", name="one_token_a_hash"),
    CheckConstraint(
        "scope IN ('upload', 'upload_untrusted', 'review', 'admin')",
        name="token_scope_is_known",
    ),
    Index("tokens_of_project", "project_id"),
    comment="Who may do what with a project (BUILD-108)",
)

COLUMNS = [
    projects.c[name]
    for name in ProjectFact.__dataclass_fields__
    if name not in {"accept_branches", "protected_branches"}
] + [projects.c.accept_branches, projects.c.protected_branches]


def fact_of(row: Mapping[Any, Any]) -> ProjectFact:
    """Return a row of `COLUMNS`, read by column, as a fact."""
    values = {column.name: row[column] for column in COLUMNS}
    for name in ("accept_branches", "protected_branches"):
        values[name] = tuple(values[name])
    return ProjectFact(**values)


def by_slug(tx: Tx, slug: str) -> ProjectFact | None:
    """Return the project of this slug."""
    row = tx.execute(select(*COLUMNS).where(projects.c.slug == slug)).mappings().one_or_none()
    return fact_of(row) if row else None


def listing(tx: Tx) -> list[ProjectFact]:
    """Return all projects by slug."""
    rows = tx.execute(select(*COLUMNS).order_by(projects.c.slug)).mappings()
    return [fact_of(row) for row in rows]


def ensure(tx: Tx, slug: str, *, default_branch: str | None, now: datetime) -> ProjectFact:
    """Return the project of this slug, made now at its first submit (R26); its row is locked.

    Who makes a build takes this lock first, so its number and its nonce are its own.
    """
    locked = select(*COLUMNS).where(projects.c.slug == slug).with_for_update(key_share=True)
    row = tx.execute(locked).mappings().one_or_none()
    if row is None:
        values = {"slug": slug, "created_at": now}
        if default_branch:
            values["default_branch"] = default_branch
        insert_or_leave(tx, projects, values)
        row = tx.execute(locked).mappings().one()
    return fact_of(row)


def take_number(tx: Tx, project_id: int) -> int:
    """Return the number of the project's next build and count it on (BUILD-1)."""
    counted = (
        update(projects)
        .where(projects.c.id == project_id)
        .values(next_build_number=projects.c.next_build_number + 1)
    )
    following: int = tx.execute(counted.returning(projects.c.next_build_number)).scalar_one()
    return following - 1


def configure(tx: Tx, project_id: int, values: Mapping[str, Any]) -> None:
    """Change settings of a project: columns by name, such as `policy_new` or `modes`."""
    tx.execute(update(projects).where(projects.c.id == project_id).values(**values))
