"""What the database room promises on PostgreSQL and on SQLite alike."""

import threading
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import IntegrityError

from capture_consumer.database.columns import canonical_json
from capture_consumer.database.engine import file_system_of, open_engine, refuse_shared
from capture_consumer.database.hints import JOBS, Hints, announce
from capture_consumer.database.offset import discipline, measure
from capture_consumer.database.transaction import (
    Collided,
    again,
    is_unique_violation,
    reading,
    transaction,
)
from capture_consumer.errors import BadInput, DatabaseAway
from capture_consumer.tables import chores, supervisors
from tests.made import AtOnce
from tests.queueing import add, job_of, queue_of


def test_an_instant_comes_back_aware_in_utc_and_to_the_millisecond(engine, clock):
    """COM-1, JOB-9."""
    there = datetime(2026, 3, 29, 2, 30, 0, 123_000, timezone(timedelta(hours=2)))
    with transaction(engine) as tx:
        tx.execute(insert(chores.chores).values(name="x", next_at=there))
        [back] = tx.execute(select(chores.chores.c.next_at)).scalars()

    assert back == there
    assert back.tzinfo is UTC


def test_canonical_json_is_one_text_and_refuses_what_json_cannot_say():
    assert canonical_json({"b": "ä\0", "a": 1}) == '{"a":1,"b":"\\u00e4\\u0000"}'
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(float("nan"))


def test_what_raises_inside_a_transaction_leaves_nothing(engine, clock):
    def breaks_off():
        with transaction(engine) as tx:
            chores.take(tx, "x", every_ms=1, now=clock.now())
            raise KeyError

    with pytest.raises(KeyError):
        breaks_off()

    with reading(engine) as tx:
        assert tx.execute(select(chores.chores)).all() == []


def test_a_caller_may_roll_back_and_leave(engine, clock):
    with transaction(engine) as tx:
        chores.take(tx, "x", every_ms=1, now=clock.now())
        tx.rollback()

    with reading(engine) as tx:
        assert tx.execute(select(chores.chores)).all() == []


def test_all_statements_of_a_reading_see_the_same_state(new_engine, clock):
    reader, writer = new_engine(), new_engine()
    with reading(reader) as tx:
        before = tx.execute(select(chores.chores)).all()
        with transaction(writer) as other:
            chores.take(other, "x", every_ms=1, now=clock.now())

        assert tx.execute(select(chores.chores)).all() == before


def test_a_key_that_was_taken_is_told_by_its_name(engine, clock):
    """JOB-38."""
    row = insert(chores.chores).values(name="x", next_at=clock.now())
    with transaction(engine) as tx:
        tx.execute(row)
    with pytest.raises(IntegrityError) as refused, transaction(engine) as tx:
        tx.execute(row)

    assert is_unique_violation(refused.value, "chores_pkey")
    assert not is_unique_violation(refused.value, "jobs_pkey")
    assert not is_unique_violation(KeyError(), "chores_pkey")


def test_a_transaction_that_gave_way_is_tried_again_as_a_whole(engine):
    """JOB-29."""
    tries: list[int] = []
    waits: list[float] = []

    def do(tx):
        tries.append(1)
        if len(tries) < 3:
            raise Collided("gave way")
        return "done"

    assert again(engine, do, wait=waits.append) == "done"
    assert (len(tries), len(waits)) == (3, 2)


def test_after_the_last_try_the_error_is_told(engine):
    def do(tx):
        raise DatabaseAway("gone")

    with pytest.raises(DatabaseAway):
        again(engine, do, tries=2, wait=lambda _s: None)


def test_a_chore_is_done_by_one_of_all_that_come_at_once(new_engine, clock):
    """JOB-151, R14."""
    engines = [new_engine() for _ in range(4)]

    def take(place):
        return again(
            engines[place],
            lambda tx: chores.take(tx, "sweep", every_ms=60_000, now=clock.now()),
        )

    first = AtOnce(4).run(take)
    clock.advance(ms=60_000)
    second = AtOnce(4).run(take)

    assert (sum(first), sum(second)) == (1, 1)


def test_a_clock_that_steps_back_makes_no_chore_due_twice(engine, clock):
    """Q-56."""
    came = []
    for ms in (0, -90_000, 60_000, 7_200_000, 1):
        clock.advance(ms=ms)
        with transaction(engine) as tx:
            came.append(chores.take(tx, "x", every_ms=60_000, now=clock.now()))

    assert came == [True, False, False, True, False]


def test_supervisors_are_known_for_ten_minutes_and_counted_while_they_beat(engine, clock):
    """SUP-36, BUILD-32."""

    def beat(name, slots, *, draining=False):
        with transaction(engine) as tx:
            supervisors.beat(
                tx,
                incarnation=name,
                host="h",
                version="1",
                slots=slots,
                draining=draining,
                started_at=clock.now(),
                now=clock.now(),
            )

    beat("a", 2), beat("a", 3), beat("b", 4), beat("c", 9, draining=True)
    with reading(engine) as tx:
        up = supervisors.consumers_up(tx, clock.now())
    clock.advance(ms=600_001)
    beat("a", 1)

    with reading(engine) as tx:
        assert up == 7
        assert supervisors.consumers_up(tx, clock.now()) == 1
        assert [one.incarnation for one in supervisors.listing(tx)] == ["a"]


def test_the_clock_is_the_databases_and_is_disciplined_again(engine):
    """COM-2, Q-54: a process whose clock is ten minutes off behaves the same."""
    clock = measure(engine)
    wrong = measure(engine)
    wrong.anchor_at += timedelta(minutes=10)

    moved = discipline(engine, wrong)

    assert -601 < moved.total_seconds() < -599
    assert abs((wrong.now() - clock.now()).total_seconds()) < 1


def test_a_commit_of_somebody_else_cuts_a_wait_short(new_engine, clock):
    """JOB-162."""
    waiting, other = new_engine(), new_engine()
    stop = threading.Event()
    with Hints(waiting) as hints:
        hints.wait(0.3, stop)
        add(other, clock, "j")
        announce(other, JOBS)

        assert hints.wait(10, stop) is True


def test_a_wait_ends_by_the_clock_and_by_a_stop(engine):
    """JOB-162: wake-ups only shorten a wait."""
    stop = threading.Event()
    with Hints(engine) as hints:
        assert hints.wait(0.05, stop) is False
        stop.set()
        assert hints.wait(60, stop) is False


def test_work_goes_on_when_every_connection_was_cut(engine, clock):
    """Q-34, L5, JOB-164: the next transaction opens another; on PostgreSQL."""
    if engine.dialect.name == "sqlite":
        pytest.skip("an SQLite database has no connections that others can cut")
    add(engine, clock, "j")
    with engine.connect() as db:
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> %(me)s"
        me = db.connection.driver_connection.info.backend_pid
        queue_of(engine, clock).claim()
        db.exec_driver_sql(cut + " AND datname = current_database()", {"me": me})

    assert job_of(engine, "j").status == "running"
    add(engine, clock, "k")
    assert len(queue_of(engine, clock).claim()) == 1


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("not a url", "not a URL"),
        ("mysql://x/y", "only sqlite and postgresql"),
        ("sqlite://", "must be a file"),
        ("sqlite:////proc/version/x/db", "/proc/version/x"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_in_one_line(url, says):
    with pytest.raises(BadInput, match=says):
        open_engine(url)


def test_a_server_that_is_not_there_is_away(tmp_path):
    engine = open_engine(f"postgresql://nobody@/x?host={tmp_path}", hasty=True)

    with pytest.raises(DatabaseAway), transaction(engine) as tx:
        tx.execute(text("SELECT 1"))


def a_small_database(path):
    """Make a file with one table in it."""
    engine = open_engine(f"sqlite:///{path}")
    with transaction(engine) as tx:
        tx.execute(text("CREATE TABLE t (x)"))
    return engine


def test_a_file_that_was_deleted_is_away_and_is_not_made_anew(tmp_path):
    """L5: nobody works on in a file without a name, which others do not see."""
    path = tmp_path / "gone.sqlite"
    engine = a_small_database(path)
    for file in tmp_path.iterdir():
        file.unlink()

    with pytest.raises(DatabaseAway, match="gone"), reading(engine) as tx:
        tx.execute(text("SELECT * FROM t"))

    assert list(tmp_path.iterdir()) == []
    engine.dispose()


def test_a_file_that_was_replaced_is_read_from_the_new_one(tmp_path):
    """L5: without a restart."""
    path, other = tmp_path / "one.sqlite", tmp_path / "other.sqlite"
    engine, others = a_small_database(path), a_small_database(other)
    with transaction(others) as tx:
        tx.execute(text("INSERT INTO t VALUES (7)"))
    others.dispose()
    for name in ("one.sqlite-wal", "one.sqlite-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    other.rename(path)

    with reading(engine) as tx:
        assert list(tx.scalars(text("SELECT x FROM t"))) == [7]
    engine.dispose()


def test_a_file_that_is_no_database_is_away(tmp_path):
    (tmp_path / "x.db").write_text("no database" * 100)
    engine = open_engine(f"sqlite:///{tmp_path}/x.db")

    with pytest.raises(DatabaseAway), transaction(engine) as tx:
        tx.execute(text("SELECT 1"))
    engine.dispose()


@pytest.mark.parametrize("kind", ["nfs4", "9p", "fuse.sshfs", "cifs"])
def test_sqlite_on_a_shared_file_system_is_refused(tmp_path, kind):
    """Q-68, JOB-163."""
    mounts = tmp_path / "mounts"
    mounts.write_text(f"dev / ext4 rw 0 0\nserver:/x {tmp_path}/on\\040net {kind} rw 0 0\n")
    path = tmp_path / "on net" / "sub" / "x.db"
    (tmp_path / "on net").mkdir()

    assert file_system_of(path, mounts) == kind
    assert file_system_of(tmp_path / "x.db", mounts) == "ext4"
    with pytest.raises(BadInput, match=kind):
        refuse_shared(path, mounts)
