"""Write schema.sql and the first migration anew, after a table has changed.

Once a release is out the first migration stays as it is and a change is a file of its own.
"""

from pathlib import Path

from capture_consumer.database.ddl import ddl

ROOT = Path(__file__).parents[2]
FIRST = ROOT / "capture_consumer/database/migrations/versions/0001_first"


def main() -> None:
    """Write the three files."""
    (ROOT / "schema.sql").write_text(ddl(), encoding="utf-8")
    FIRST.with_suffix(".postgresql.sql").write_text(ddl("postgresql"), encoding="utf-8")
    FIRST.with_suffix(".sqlite.sql").write_text(ddl("sqlite"), encoding="utf-8")


if __name__ == "__main__":
    main()
