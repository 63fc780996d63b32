"""MetaData, the names of constraints, and the column types that both databases share.

Whatever a column holds, Python sees one shape of it: an `Instant` is an aware
datetime in UTC, `Json` is plain data, `Sha` is lower-case hexadecimal.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    DateTime,
    Dialect,
    Index,
    Integer,
    MetaData,
    String,
    Text,
    text,
)
from sqlalchemy.types import TypeDecorator, TypeEngine

__all__ = ["METADATA", "BigId", "Instant", "Json", "Sha", "canonical_json", "partial_index"]

METADATA = MetaData(
    naming_convention={
        "pk": "%(table_name)s_pkey",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "ix": "%(table_name)s_%(column_0_N_name)s",
        "ck": "%(constraint_name)s",
    }
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ONE_MS = timedelta(milliseconds=1)

BigId = BigInteger().with_variant(Integer, "sqlite")
"""A row's id: a bigint identity; on SQLite the rowid, which must be called INTEGER (R24)."""

Sha = String(64)
"""A sha256 in lower-case hexadecimal."""


class Instant(TypeDecorator[datetime]):
    """An instant: `timestamptz` on PostgreSQL, whole milliseconds since 1970 on SQLite."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Choose the database's own type."""
        if dialect.name == "sqlite":
            return dialect.type_descriptor(BigInteger())
        return dialect.type_descriptor(DateTime(timezone=True))

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Write it; an instant without a zone is a bug of ours."""
        if value is None:
            return None
        assert value.tzinfo is not None, "an instant is aware"
        return (value - EPOCH) // ONE_MS if dialect.name == "sqlite" else value

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Read it, in UTC."""
        if value is None:
            return None
        if dialect.name == "sqlite":
            return EPOCH + ONE_MS * int(value)
        assert isinstance(value, datetime)
        return value.astimezone(UTC)


class Json(TypeDecorator[Any]):
    """Plain data as canonical JSON text: sorted, without spaces, ASCII only (JOB-165)."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, _dialect: Dialect) -> str | None:
        """Write it."""
        return None if value is None else canonical_json(value)

    def process_result_value(self, value: str | None, _dialect: Dialect) -> Any:
        """Read it."""
        return None if value is None else json.loads(value)


def canonical_json(value: Any) -> str:
    """Return the one text of this data. NUL and lone surrogates are escaped by it.

    Raises:
        ValueError: a number is not finite; JSON has no word for it.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def partial_index(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """Return an index over the rows of which this condition is true, on both databases.

    A statement that is to be served by it must hold the condition as literals (JOB-152).
    """
    condition = text(where)
    return Index(
        name, *columns, unique=unique, postgresql_where=condition, sqlite_where=condition
    )
