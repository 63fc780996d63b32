"""When a clerk reaps, and what a claim passes over: with the clocks in the test's hand."""

from datetime import timedelta

import pytest
from sqlalchemy import text

from capture_consumer.consumer.budget import Limits
from capture_consumer.database.offset import measure
from capture_consumer.database.transaction import transaction
from capture_consumer.records.claiming import Claimant
from capture_consumer.settings import load
from capture_consumer.storage import open_store
from capture_consumer.tables import attempts, claims
from capture_consumer.tables.attempts import OpenAttempt
from capture_consumer.wiring.booting import Booted
from capture_consumer.wiring.clerk import Reaps
from tests.queueing import add, outcomes_of, seconds_of, take_one

LEASE_MS = 60_000


@pytest.fixture
def booted(engine, tmp_path):
    clock = measure(engine)
    return Booted(load({}, cwd=tmp_path), engine, clock, open_store(str(tmp_path / "store")))


def test_after_a_jump_of_the_clock_nothing_is_reaped_for_a_whole_lease(engine, clock, booted):
    """JOB-153: holders get the time to touch."""
    add(engine, clock, "j")
    take_one(engine, clock)
    reaps = Reaps(booted, Limits())
    booted.clock.anchor_at -= timedelta(seconds=3)

    reaps.set_clock()

    assert reaps.reap() == 0
    assert outcomes_of(engine, "j") == [None]
    assert Reaps(booted, Limits()).reap() == 1


def test_a_clock_that_was_right_is_no_reason_to_wait(engine, clock, booted):
    """JOB-153: less than 2 s is drift."""
    add(engine, clock, "j")
    take_one(engine, clock)
    reaps = Reaps(booted, Limits())

    reaps.set_clock()

    assert reaps.reap() == 1


@pytest.fixture
def claimant(engine, clock):
    return Claimant(
        engine, clock, claims.Holder("me"), ["noop"], LEASE_MS, elapsed=seconds_of(clock)
    )


def claimed(claimant):
    return [one.job_id for one in claimant.claim(limit=1, alone=True)]


def test_what_lies_below_the_last_hit_is_passed_over_for_five_seconds_at_most(
    engine, clock, claimant
):
    """JOB-155: there the index holds dead entries; a job that turns up there waits a little."""
    clock.advance(ms=60_000)
    add(engine, clock, "first", "second", "third")
    assert claimed(claimant) == ["first"]
    clock.advance(ms=-10_000)
    add(engine, clock, "older")
    clock.advance(ms=10_000)

    assert claimed(claimant) == ["second"]
    clock.advance(ms=5_000)
    assert claimed(claimant) == ["older"]


def test_a_pick_that_finds_nothing_above_looks_everywhere_at_once(engine, clock, claimant):
    """JOB-155."""
    clock.advance(ms=60_000)
    add(engine, clock, "first")
    assert claimed(claimant) == ["first"]
    clock.advance(ms=-10_000)
    add(engine, clock, "older")
    clock.advance(ms=10_000)

    assert claimed(claimant) == ["older"]


def test_a_touch_is_an_update_in_place(engine, clock):
    """JOB-159: no index knows the lease, so none is written to."""
    if engine.dialect.name == "sqlite":
        pytest.skip("SQLite writes a row where it was")
    add(engine, clock, "j")
    take_one(engine, clock)
    mine = OpenAttempt("j", 1, "me")
    count = "SELECT pg_stat_get_xact_tuples_{}('job_attempts'::regclass)"

    with transaction(engine) as tx:
        for _ in range(10):
            assert attempts.touch(tx, mine, lease_until=clock.now(), now=clock.now(), story="a")
        updated, in_place = (
            tx.execute(text(count.format(word))).scalar_one()
            for word in ("updated", "hot_updated")
        )

    assert (updated, in_place) == (10, 10)
