"""schema.sql from the declared tables: what a DBA reads, and may apply by hand.

Generated, never edited; a test holds the file and this equal. The first
migration is the same text, frozen, for each database.
"""

from typing import Literal

from sqlalchemy import Dialect, Table
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import (
    CreateIndex,
    CreateTable,
    ExecutableDDLElement,
    SetColumnComment,
    SetTableComment,
)

from capture_consumer.database.columns import METADATA
from capture_consumer.database.upgrade import declare_tables

__all__ = ["ddl", "statements"]

HEADING = (
    "-- The tables of capture-consumer. Generated from capture_consumer/tables; never edited.\n"
)


def ddl(database: Literal["postgresql", "sqlite"] = "postgresql") -> str:
    """Return the declared tables as one database's DDL, on PostgreSQL with all comments."""
    declare_tables()
    dialect: Dialect = (
        postgresql.dialect() if database == "postgresql" else sqlite.dialect()  # type: ignore[no-untyped-call]
    )
    made = [one for table in METADATA.sorted_tables for one in elements(table, dialect)]
    texts = [str(one.compile(dialect=dialect)).strip() for one in made]
    written = "\n\n".join(f"{text};" for text in texts).replace("\t", "  ")
    return f"{HEADING}\n" + "\n".join(line.rstrip() for line in written.split("\n")) + "\n"


def elements(table: Table, dialect: Dialect) -> list[ExecutableDDLElement]:
    """Return what makes one table: itself, its comments where there are any, its indexes."""
    made: list[ExecutableDDLElement] = [CreateTable(table)]
    if dialect.supports_comments:
        made += [SetTableComment(table)] if table.comment else []
        made += [SetColumnComment(column) for column in table.columns if column.comment]
    indexes = sorted(table.indexes, key=lambda index: str(index.name))
    return made + [CreateIndex(index) for index in indexes]


def statements(script: str) -> list[str]:
    """Return the statements of a text that `ddl` has made."""
    parts = [part.strip() for part in script.removeprefix(HEADING).split(";\n\n")]
    return [part.removesuffix(";") for part in parts if part]
