"""The table `outside_systems`: one row a system that hears of us, there to be locked."""

from sqlalchemy import Column, Table, Text

from capture_consumer.database.columns import METADATA, Instant

__all__ = ["outside_systems"]

outside_systems = Table(
    "outside_systems",
    METADATA,
    Column("system", Text, primary_key=True, comment="github, slack, …"),
    Column("created_at", Instant, nullable=False),
    comment="Systems that posts go to; a claim of posts locks its system's row (POST-22)",
)
