"""Insert a row unless its key is there already: one statement, each database's own words."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Table
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite

from capture_consumer.database.transaction import Tx

__all__ = ["insert_or_leave"]


def insert_or_leave(
    tx: Tx, table: Table, values: Mapping[str, Any] | Sequence[Mapping[str, Any]]
) -> int:
    """Insert one row or many; rows whose key exists are left alone. Return how many are new.

    Rows of one call must have the same columns. Sort them by key: two transactions that
    insert the same keys in different orders wait for each other (R21).
    """
    rows = [values] if isinstance(values, Mapping) else list(values)
    if not rows:
        return 0
    first_key = next(iter(table.primary_key.columns))
    if tx.dialect.name == "sqlite":
        new = insert_sqlite(table).on_conflict_do_nothing().returning(first_key)
        return len(tx.execute(new, rows).all())
    made = insert_postgresql(table).on_conflict_do_nothing().returning(first_key)
    return len(tx.execute(made, rows).all())
