"""The table `comparisons`: two images, one rule and a verdict: a cache."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    select,
)

from capture_consumer.builds.facts import ComparisonFact
from capture_consumer.database.columns import METADATA, BigId, Json, Sha
from capture_consumer.database.slices import sliced
from capture_consumer.database.transaction import Tx
from capture_consumer.database.upsert import insert_or_leave
from capture_consumer.tables.images import images

__all__ = ["Pair", "among", "comparisons", "fact_of", "get", "keep"]

Pair = tuple[int, int]
"""(from image, to image), by id."""

comparisons = Table(
    "comparisons",
    METADATA,
    Column("id", BigId, Identity(), primary_key=True),
    Column("from_image", BigId, ForeignKey(images.c.id), nullable=False),
    Column("to_image", BigId, ForeignKey(images.c.id), nullable=False),
    Column("params_sha", Sha, nullable=False, comment="of the rule that compared them"),
    Column("verdict", Text, nullable=False),
    Column("changed_px", Integer, nullable=False),
    Column("ratio", Double, nullable=False, comment="share of changed pixels, 0.0 to 1.0"),
    Column("densest_block", Integer, nullable=False),
    Column("box", Json, comment="left, top, right, bottom of what changed"),
    Column("bands", Json, nullable=False, server_default="[]", comment="rows that moved"),
    Column("mask_sha", Sha, comment="a blob"),
    Column("diff_sha", Sha, comment="a blob"),
    UniqueConstraint("from_image", "to_image", "params_sha", name="one_comparison_a_rule"),
    CheckConstraint(
        "verdict IN ('equal', 'tolerated', 'changed')", name="comparison_verdict_is_known"
    ),
    CheckConstraint("ratio >= 0 AND ratio <= 1", name="ratio_is_a_share"),
    Index("comparisons_to_image", "to_image"),
    comment="What comparing two images gave; pure, so it is kept",
)

COLUMNS = [comparisons.c[name] for name in ComparisonFact.__dataclass_fields__]


def keep(tx: Tx, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert comparisons that are new; images are named by id (R21)."""
    by_key = {(row["from_image"], row["to_image"], row["params_sha"]): row for row in rows}
    insert_or_leave(tx, comparisons, [row for _, row in sorted(by_key.items(), key=key_of)])


def key_of(item: tuple[tuple[int, int, str], object]) -> tuple[int, int, str]:
    """Return what rows are sorted by."""
    return item[0]


def among(tx: Tx, pairs: Collection[Pair], params_sha: str) -> dict[Pair, ComparisonFact]:
    """Return the comparisons of these pairs under one rule; others are left out."""
    wanted = set(pairs)
    found: dict[Pair, ComparisonFact] = {}
    for some in sliced([pair[0] for pair in wanted]):
        rows = tx.execute(
            select(*COLUMNS).where(
                comparisons.c.from_image.in_(some), comparisons.c.params_sha == params_sha
            )
        )
        for row in rows:
            if (row.from_image, row.to_image) in wanted:
                found[row.from_image, row.to_image] = fact_of(row)
    return found


def get(tx: Tx, ids: Collection[int]) -> dict[int, ComparisonFact]:
    """Return comparisons by id."""
    found: dict[int, ComparisonFact] = {}
    for some in sliced(ids):
        rows = tx.execute(select(*COLUMNS).where(comparisons.c.id.in_(some)))
        found.update({row.id: fact_of(row) for row in rows})
    return found


def fact_of(row: Any) -> ComparisonFact:
    """Return a row of `COLUMNS` as a fact."""
    values = dict(row._mapping)  # noqa: SLF001 - SQLAlchemy's name for it is public
    values["box"] = tuple(values["box"]) if values["box"] else None
    values["bands"] = tuple(values["bands"])
    return ComparisonFact(**values)
