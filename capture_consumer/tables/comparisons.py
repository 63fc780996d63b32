"""The table `comparisons`: two images, one rule and a verdict: a cache."""

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
)

from capture_consumer.database.columns import METADATA, BigId, Json, Sha
from capture_consumer.tables.images import images

__all__ = ["comparisons"]

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
