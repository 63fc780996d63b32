"""Waking early never costs what the queue needs: no connection, no lock, no process."""

from threading import Event

import pytest
from sqlalchemy import text

from capture_consumer.clock import boot_seconds
from capture_consumer.database.engine import open_engine
from capture_consumer.database.hints import JOBS, Hints, announce
from capture_consumer.database.transaction import reading, transaction
from tests.queueing import add

SHORT_S = 0.01
MANY = 400


def test_waiting_holds_one_connection_and_gives_none_back_that_listens(engine):
    """JOB-162, JOB-166."""
    with Hints(engine) as hints:
        for _ in range(5):
            hints.wait(SHORT_S, Event())
        assert engine.pool.checkedout() == 1

    assert engine.pool.checkedout() == 0
    with reading(engine) as tx:
        if engine.dialect.name == "postgresql":
            assert tx.execute(text("SELECT pg_listening_channels()")).all() == []


def test_a_pool_without_a_free_connection_means_waiting_by_the_clock(url):
    """JOB-162: whoever waits here is a loop that must not end."""
    engine = open_engine(url)
    vars(engine.pool)["_timeout"] = SHORT_S  # five seconds would be a slow test
    held = [engine.connect() for _ in range(8)]

    with Hints(engine) as hints:
        assert hints.wait(SHORT_S, Event()) is False

    for one in held:
        one.close()
    engine.dispose()


def test_a_broken_connection_is_replaced_and_hears_again(engine, new_engine, clock):
    """JOB-162: as after a restart of PostgreSQL."""
    if engine.dialect.name == "sqlite":
        pytest.skip("a file does not restart")
    other = new_engine()
    with Hints(engine) as hints:
        hints.wait(SHORT_S, Event())
        with transaction(other) as tx:
            tx.execute(
                text(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            )

        begun_s = boot_seconds()
        assert hints.wait(0.3, Event()) is False
        assert boot_seconds() - begun_s >= 0.3
        hints.wait(SHORT_S, Event())
        announce(other, JOBS)
        assert hints.wait(5, Event()) is True


def test_a_server_that_is_not_there_means_waiting_by_the_clock():
    """JOB-162."""
    engine = open_engine("postgresql://nobody@127.0.0.1:1/none")

    with Hints(engine) as hints:
        assert hints.wait(SHORT_S, Event()) is False


def test_looking_holds_no_read_transaction_so_the_log_can_be_checkpointed(
    engine, new_engine, clock
):
    """JOB-162: one reader that stays would let SQLite's log grow without end."""
    if engine.dialect.name == "postgresql":
        pytest.skip("there is no write-ahead log of ours")
    writer = new_engine()
    with Hints(engine) as hints:
        hints.wait(SHORT_S, Event())
        hints.wait(SHORT_S, Event())
        add(writer, clock, *(f"job {number}" for number in range(MANY)))
        assert hints.wait(5, Event()) is True

        with writer.connect() as db:
            raw = db.connection.driver_connection
            busy, left, _moved = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    assert (busy, left) == (0, 0)


def test_a_waiting_process_is_idle_for_the_server(engine, new_engine):
    """JOB-156: no transaction stays open, which would hold back the vacuum."""
    if engine.dialect.name == "sqlite":
        pytest.skip("seen by the checkpoint instead")
    with Hints(engine) as hints:
        hints.wait(SHORT_S, Event())
        with reading(new_engine()) as tx:
            states = tx.execute(
                text(
                    "SELECT state, backend_xmin FROM pg_stat_activity"
                    " WHERE query LIKE 'LISTEN%' AND datname = current_database()"
                )
            ).all()

    assert states == [("idle", None)]
