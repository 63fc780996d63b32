"""What is declared, what is written in schema.sql and what migrations make are one."""

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, create_engine, inspect, make_url

from capture_consumer.database.columns import METADATA
from capture_consumer.database.ddl import ddl, statements
from capture_consumer.database.engine import open_engine
from capture_consumer.database.upgrade import check, declare_tables, upgrade

ROOT = Path(__file__).parents[2]
declare_tables()
TABLES = sorted(METADATA.tables)
AGAIN = "run: python -m tests.architecture.write_schema"


@pytest.fixture
def empty(url, request, tmp_path):
    """Return an engine on a database without any table, of the kind that `url` is."""
    address = f"sqlite:///{tmp_path}/empty.sqlite"
    if not url.startswith("sqlite"):
        name = f"empty_{tmp_path.name}".lower().replace("-", "_")[:60]
        root = create_engine(request.getfixturevalue("postgres"), isolation_level="AUTOCOMMIT")
        with root.connect() as db:
            db.exec_driver_sql(f'DROP DATABASE IF EXISTS "{name}"')
            db.exec_driver_sql(f'CREATE DATABASE "{name}"')
        root.dispose()
        address = make_url(url).set(database=name).render_as_string(hide_password=False)
    engine = open_engine(address)
    yield engine
    engine.dispose()


def where_of(index, options):
    """Return the condition of a partial index as text."""
    return str(index.get("dialect_options", {}).get(options))


def described(engine: Engine) -> dict[str, object]:
    """Return tables, columns, checks, keys and indexes as the database tells them."""
    looked = inspect(engine)
    options = "postgresql_where" if engine.dialect.name == "postgresql" else "sqlite_where"
    return {
        name: {
            "columns": [
                (c["name"], str(c["type"]), c["nullable"], c["default"])
                for c in looked.get_columns(name)
            ],
            "checks": sorted(
                (c["name"], c["sqltext"]) for c in looked.get_check_constraints(name)
            ),
            "unique": sorted(str(one) for one in looked.get_unique_constraints(name)),
            "foreign": sorted(str(one) for one in looked.get_foreign_keys(name)),
            "primary": str(looked.get_pk_constraint(name)),
            "indexes": sorted(
                (one["name"], one["column_names"], one["unique"], where_of(one, options))
                for one in looked.get_indexes(name)
            ),
        }
        for name in looked.get_table_names()
        if name != "alembic_version"
    }


def test_schema_sql_is_what_the_tables_declare():
    written = (ROOT / "schema.sql").read_text(encoding="utf-8")

    assert written == ddl(), AGAIN


def test_the_head_of_the_migrations_is_what_the_tables_declare(empty):
    upgrade(empty)

    with empty.connect() as db:
        different = compare_metadata(MigrationContext.configure(db), METADATA)
    assert different == [], AGAIN


def test_migrations_make_the_same_checks_keys_and_indexes_as_the_declaration(empty, engine):
    """`compare_metadata` looks at no check and no default."""
    upgrade(empty)

    migrated, declared = described(empty), described(engine)

    assert migrated == declared, AGAIN


def test_a_database_that_was_upgraded_passes_the_check(empty):
    upgrade(empty)
    upgrade(empty)

    assert check(empty) is None


def test_the_ddl_is_cut_into_its_statements():
    whole = ddl()

    parts = statements(whole)

    assert sum(part.startswith("CREATE TABLE") for part in parts) == len(METADATA.tables)
    assert all(";\n" not in part for part in parts)


@pytest.mark.parametrize("table", TABLES)
def test_constraints_and_indexes_are_named_for_their_purpose(table):
    declared = METADATA.tables[table]

    assert all(index.name for index in declared.indexes)
    assert all(key.name for key in declared.constraints)
    assert declared.comment


def test_every_partial_index_has_the_same_rows_on_both_databases():
    """JOB-152."""
    indexes = [index for table in TABLES for index in METADATA.tables[table].indexes]

    where = [
        (
            str(one.dialect_options["postgresql"]["where"]),
            str(one.dialect_options["sqlite"]["where"]),
        )
        for one in indexes
    ]

    assert all(here == there and "%" not in here and ":" not in here for here, there in where)
