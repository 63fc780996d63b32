"""All tables of the first release. Until then it is made anew when a table changes.

Its statements lie beside it, one file a database, as `database.ddl` wrote them.
"""

from pathlib import Path

from alembic import op

from capture_consumer.database.ddl import statements

__all__ = ["downgrade", "upgrade"]

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make all tables."""
    database = op.get_bind()
    script = Path(__file__).with_name(f"0001_first.{database.dialect.name}.sql")
    for statement in statements(script.read_text(encoding="utf-8")):
        database.exec_driver_sql(statement)


def downgrade() -> None:
    """Refuse: a database is brought back from a copy, not by a program that forgets."""
    raise NotImplementedError("there is no way back; restore a copy of the database")
