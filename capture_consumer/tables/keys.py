"""The table `keys`: what a snapshot is through history (BUILD-3)."""

from collections.abc import Collection

from sqlalchemy import Column, ForeignKey, Identity, Table, Text, UniqueConstraint, select

from capture_consumer.builds.facts import KeyFact
from capture_consumer.database.columns import METADATA, BigId
from capture_consumer.database.slices import sliced
from capture_consumer.database.transaction import Tx
from capture_consumer.database.upsert import insert_or_leave
from capture_consumer.tables.projects import projects

__all__ = ["Triple", "get", "keep", "keys", "of_line"]

Triple = tuple[str, str, str]
"""(story id, canonical mode, browser)."""

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


def of_line(tx: Tx, project_id: int, name: str) -> dict[Triple, int]:
    """Return the ids of all keys that a line of builds ever had."""
    rows = tx.execute(
        select(keys.c.story_id, keys.c.mode, keys.c.browser, keys.c.id).where(
            keys.c.project_id == project_id, keys.c.name == name
        )
    )
    return {(row[0], row[1], row[2]): row[3] for row in rows}


def keep(tx: Tx, project_id: int, name: str, wanted: Collection[Triple]) -> dict[Triple, int]:
    """Return the ids of these keys, those that are new inserted in their order (R21)."""
    known = of_line(tx, project_id, name)
    new = sorted({triple for triple in wanted if triple not in known})
    if not new:
        return known
    rows = [
        {
            "project_id": project_id,
            "name": name,
            "story_id": story_id,
            "mode": mode,
            "browser": browser,
        }
        for story_id, mode, browser in new
    ]
    insert_or_leave(tx, keys, rows)
    return of_line(tx, project_id, name)


def get(tx: Tx, key_ids: Collection[int]) -> dict[int, KeyFact]:
    """Return keys by id; those that are gone are left out."""
    found: dict[int, KeyFact] = {}
    for some in sliced(key_ids):
        rows = tx.execute(
            select(keys.c.id, keys.c.story_id, keys.c.mode, keys.c.browser).where(
                keys.c.id.in_(some)
            )
        )
        found.update({row.id: KeyFact(*row) for row in rows})
    return found
