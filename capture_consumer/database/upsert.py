"""Insert rows, many in few statements; rows whose key is there may be left alone.

Thousands of rows as thousands of bound values cost seconds on PostgreSQL: the driver and
the server each read every placeholder. There a column is one array, and the statement is
as short for 20,000 rows as for one. SQLite binds a row at a time, in C.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ARRAY, Insert, Table, bindparam, func, select
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite

from capture_consumer.database.transaction import Tx

__all__ = ["insert_many", "insert_or_leave"]

Row = Mapping[str, Any]


def insert_or_leave(tx: Tx, table: Table, values: Row | Sequence[Row]) -> int:
    """Insert one row or many; rows whose key exists are left alone. Return how many are new.

    Rows of one call must have the same columns. Sort them by key: two transactions that
    insert the same keys in different orders wait for each other (R21).
    """
    rows = [values] if isinstance(values, Mapping) else list(values)
    if not rows:
        return 0
    if tx.dialect.name == "sqlite":
        new = insert_sqlite(table).on_conflict_do_nothing()
        before = changes(tx)
        tx.execute(new, rows)
        return changes(tx) - before
    first_key = next(iter(table.primary_key.columns))
    made = from_arrays(table, rows).on_conflict_do_nothing().returning(first_key)
    return len(tx.execute(made).all())


def insert_many(tx: Tx, table: Table, rows: Sequence[Row]) -> None:
    """Insert rows that are known to be new, in their order; all have the same columns."""
    if not rows:
        return
    if tx.dialect.name == "sqlite":
        tx.execute(insert_sqlite(table), rows)
    else:
        tx.execute(from_arrays(table, rows))


def from_arrays(table: Table, rows: Sequence[Row]) -> Any:
    """Return an insert of these rows in which each column is one array."""
    names = list(rows[0])
    arrays = [
        bindparam(
            None, [row[name] for row in rows], type_=ARRAY(table.c[name].type, dimensions=1)
        )
        for name in names
    ]
    columns = func.unnest(*arrays).table_valued(*names).render_derived(name="sent")
    new: Insert = insert_postgresql(table)
    return new.from_select(names, select(*(columns.c[name] for name in names)))


def changes(tx: Tx) -> int:
    """Return how many rows this connection has written so far; on SQLite."""
    count: int = tx.connection.driver_connection.total_changes  # type: ignore[union-attr]
    return count
