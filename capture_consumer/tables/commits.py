"""The tables `commits` and `merged_pulls`: the graph that baselines are found in.

Clients fill it, at most 1 000 commits a build (BUILD-24). Parents that a
shallow clone does not know are none, which is the horizon (BUILD-52).
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import (
    JSON,
    CheckConstraint,
    Column,
    ForeignKey,
    Integer,
    Table,
    TableValuedAlias,
    Text,
    bindparam,
    cast,
    func,
    literal,
    select,
    true,
    update,
)

from capture_consumer.builds.effects import CommitTold
from capture_consumer.database.columns import METADATA, BigId, Instant, Json
from capture_consumer.database.slices import sliced
from capture_consumer.database.transaction import Tx
from capture_consumer.database.upsert import insert_or_leave
from capture_consumer.tables.projects import projects

__all__ = ["Parents", "above", "commits", "is_ancestor", "keep", "merged_pulls"]

Parents = tuple[str, ...] | None
"""A commit's parents; None when no client knew them."""

WALK_MAX = 5_000

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


def keep(tx: Tx, project_id: int, told: Collection[CommitTold]) -> None:
    """Insert commits that are new, and write parents that were not known before (BUILD-24)."""
    by_sha = {commit.sha: commit for commit in told}
    rows = [
        {
            "project_id": project_id,
            "sha": sha,
            "parents": None if commit.parents is None else list(commit.parents),
            "tree": commit.tree,
            "committed_at": commit.committed_at,
        }
        for sha, commit in sorted(by_sha.items())
    ]
    if insert_or_leave(tx, commits, rows) < len(rows):
        learn_parents(tx, project_id, [row for row in rows if row["parents"] is not None])


def learn_parents(tx: Tx, project_id: int, rows: list[dict[str, Any]]) -> None:
    """Write the parents of commits that a shallow clone had told without them."""
    parents_of = {row["sha"]: row["parents"] for row in rows}
    unknown: list[str] = []
    for some in sliced(parents_of):
        found = select(commits.c.sha).where(
            commits.c.project_id == project_id,
            commits.c.sha.in_(some),
            commits.c.parents.is_(None),
        )
        unknown += tx.execute(found).scalars()
    if unknown:
        learned = update(commits).where(
            commits.c.project_id == project_id, commits.c.sha == bindparam("of_sha")
        )
        tx.execute(
            learned.values(parents=bindparam("told")),
            [{"of_sha": sha, "told": parents_of[sha]} for sha in unknown],
        )


def above(tx: Tx, project_id: int, sha: str, *, at_most: int = WALK_MAX) -> dict[str, Parents]:
    """Return a commit and the nearest ones above it with their parents (BUILD-52).

    One statement walks level by level and stops at `at_most`. A commit that was never
    told, or told without its parents, has None: the horizon.
    """
    walk = select(literal(sha).label("sha")).cte("walk", recursive=True)
    parent = parents_of_row(tx)
    here = (commits.c.project_id == project_id) & (commits.c.sha == walk.c.sha)
    # The function reads the row before it, so the order of the joins is not the planner's.
    rows_of = walk.join(commits, here).join(parent, true())
    walk = walk.union(select(parent.c.value).select_from(rows_of))
    near = select(walk.c.sha).limit(at_most).cte("near")
    rows = tx.execute(
        select(near.c.sha, commits.c.parents).join_from(
            near,
            commits,
            (commits.c.project_id == project_id) & (commits.c.sha == near.c.sha),
            isouter=True,
        )
    )
    return {row[0]: None if row[1] is None else tuple(row[1]) for row in rows}


def parents_of_row(tx: Tx) -> TableValuedAlias:
    """Return a row for each parent; each database unfolds JSON its own way."""
    if tx.dialect.name == "sqlite":
        return func.json_each(commits.c.parents).table_valued("value")
    unfold = func.json_array_elements_text(cast(commits.c.parents, JSON))
    return unfold.table_valued("value").render_derived()


def is_ancestor(tx: Tx, project_id: int, sha: str, *, of: str) -> bool:
    """Tell whether a commit is another's strict ancestor, as far as the walk goes."""
    return sha != of and sha in above(tx, project_id, of)
