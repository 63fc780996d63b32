"""The audit of a storm must be able to find something."""

import pytest
from sqlalchemy import text, update

from capture_consumer.database.transaction import reading, transaction
from capture_consumer.tables.jobs import jobs
from tests.queueing import add
from tests.whole import audit


@pytest.fixture
def rows(engine):
    """Return the way to ask the database."""

    def ask(statement):
        with reading(engine) as tx:
            return list(tx.execute(text(statement)))

    return ask


def test_an_empty_database_is_sound(rows):
    """S1 to S8: every statement runs on both databases."""
    assert audit.faults(rows) == []


def test_what_breaks_a_promise_is_found_and_named(engine, clock, rows):
    """S2, S3."""
    add(engine, clock, "waits", "torn")
    with transaction(engine) as tx:
        torn = update(jobs).where(jobs.c.id == "torn")
        tx.execute(torn.values(status="running", visible_at=None, attempt=1))

    told = audit.faults(rows)

    assert [one.split(":")[0] for one in told] == ["S2", "S3", "a job left open"]
    assert "torn" in told[0]
    assert "waits" in told[2]
