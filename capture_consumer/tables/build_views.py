"""Builds as they are read: rows of `builds` with project and lane, as facts.

Nothing is locked here and nothing is written. What is decided by one of these
is decided again by the write that follows from it.
"""

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Select, or_, select

from capture_consumer.builds.facts import BuildFact, BuiltFact
from capture_consumer.database.slices import sliced
from capture_consumer.database.transaction import Tx
from capture_consumer.tables.builds import IS_BASELINE, builds
from capture_consumer.tables.lanes import lanes
from capture_consumer.tables.projects import (
    COLUMNS as OF_PROJECT,
    fact_of as project_of,
    projects,
)

__all__ = [
    "built",
    "built_on",
    "by_number",
    "get",
    "newest_built",
    "numbers",
    "recent",
    "recent_of_line",
]

OF_BUILD = [
    builds.c[name] for name in BuildFact.__dataclass_fields__ if name not in {"project", "ref"}
]
OF_BUILT = [
    builds.c.id,
    builds.c.number,
    builds.c.commit_sha,
    builds.c.branch,
    builds.c.pull,
    builds.c.trusted,
    builds.c.manifest_sha,
    builds.c.finished_at,
    builds.c.environment,
]


def get(tx: Tx, build_id: int) -> BuildFact | None:
    """Return a build as it is now."""
    found = facts(tx, whole().where(builds.c.id == build_id))
    return found[0] if found else None


def by_number(tx: Tx, slug: str, number: int) -> BuildFact | None:
    """Return a build by the name that people give it."""
    found = facts(tx, whole().where(projects.c.slug == slug, builds.c.number == number))
    return found[0] if found else None


def recent(
    tx: Tx,
    *,
    project: str | None = None,
    branch: str | None = None,
    commit: str | None = None,
    phase: str | None = None,
    verdict: str | None = None,
    limit: int = 20,
) -> list[BuildFact]:
    """Return the newest builds first, of one project or of all."""
    wanted = {
        projects.c.slug: project,
        builds.c.branch: branch,
        builds.c.commit_sha: commit,
        builds.c.phase: phase,
        builds.c.verdict: verdict,
    }
    asked = [column == value for column, value in wanted.items() if value is not None]
    return facts(tx, whole().where(*asked).order_by(builds.c.id.desc()).limit(limit))


def recent_of_line(tx: Tx, project_id: int, name: str, *, limit: int) -> list[int]:
    """Return the ids of a line's newest builds, the newest first."""
    newest = (
        select(builds.c.id)
        .where(builds.c.project_id == project_id, builds.c.name == name)
        .order_by(builds.c.id.desc())
        .limit(limit)
    )
    return list(tx.execute(newest).scalars())


def built_on(
    tx: Tx, build: BuildFact, shas: Collection[str]
) -> dict[str, tuple[BuiltFact, ...]]:
    """Return, by commit, what this build's baseline may be taken from, newest first."""
    found: dict[str, list[BuiltFact]] = {}
    for some in sliced(shas):
        rows = tx.execute(usable_for(build).where(builds.c.commit_sha.in_(some)))
        for row in rows:
            found.setdefault(row.commit_sha, []).append(BuiltFact(*row))
    return {sha: tuple(built) for sha, built in found.items()}


def newest_built(
    tx: Tx,
    build: BuildFact,
    *,
    branch: str | None = None,
    commit: str | None = None,
    number: int | None = None,
) -> BuiltFact | None:
    """Return the newest that this build's baseline may be taken from, if there is one."""
    wanted = {
        builds.c.branch: branch,
        builds.c.commit_sha: commit,
        builds.c.number: number,
    }
    asked = [column == value for column, value in wanted.items() if value is not None]
    row = tx.execute(usable_for(build).where(*asked).limit(1)).one_or_none()
    return BuiltFact(*row) if row else None


def built(tx: Tx, build_id: int) -> BuiltFact | None:
    """Return a build as a baseline, if it is one."""
    row = tx.execute(
        select(*OF_BUILT).where(builds.c.id == build_id, IS_BASELINE)
    ).one_or_none()
    return BuiltFact(*row) if row else None


def numbers(tx: Tx, build_ids: Collection[int]) -> dict[int, int]:
    """Return the numbers by which people know these builds."""
    found: dict[int, int] = {}
    for some in sliced(build_ids):
        rows = tx.execute(select(builds.c.id, builds.c.number).where(builds.c.id.in_(some)))
        found.update({row[0]: row[1] for row in rows})
    return found


def usable_for(build: BuildFact) -> Select[Any]:
    """Select what a baseline may be taken from: trusted, or of the same pull (BUILD-65)."""
    is_usable: ColumnElement[bool] = builds.c.trusted.is_(True)
    if build.pull is not None:
        is_usable = or_(is_usable, builds.c.pull == build.pull)
    return (
        select(*OF_BUILT)
        .where(
            builds.c.project_id == build.project.id,
            builds.c.name == build.name,
            IS_BASELINE,
            builds.c.id != build.id,
            is_usable,
        )
        .order_by(builds.c.id.desc())
    )


def whole() -> Select[Any]:
    """Select builds with their project and lane."""
    return (
        select(*OF_BUILD, *OF_PROJECT, lanes.c.ref)
        .join(projects, projects.c.id == builds.c.project_id)
        .join(lanes, lanes.c.id == builds.c.lane_id)
    )


def facts(tx: Tx, wanted: Select[Any]) -> list[BuildFact]:
    """Run a selection of whole builds and return them as facts."""
    found = []
    for row in tx.execute(wanted).mappings():
        values = {column.name: row[column] for column in OF_BUILD}
        found.append(BuildFact(project=project_of(row), ref=row[lanes.c.ref], **values))
    return found
