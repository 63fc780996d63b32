"""Shards that end together: one of them moves the build, whatever the server's default is."""

from threading import Barrier

import pytest
from sqlalchemy import create_engine, make_url, select

from capture_consumer.builds.effects import (
    BeginPlanning,
    DealShards,
    EndShard,
    OpenBuild,
    PlannedShard,
)
from capture_consumer.database.transaction import again, reading, transaction
from capture_consumer.records import effects, moving, opening, order
from capture_consumer.tables import shards as table
from capture_consumer.tables.builds import builds as builds_table
from capture_consumer.tables.jobs import jobs as jobs_table
from tests.made import AtOnce, build_of, captured, capturing, hooks_of, jobs_of, shards_of


def ends_together(engines, clock, build_id, shards):
    """End each shard by an engine of its own, at one barrier; return what each was told."""

    def end(place):
        shard = shards[place]

        def settle(tx):
            asked = (EndShard(build_id, shard.id),)
            order.lock(tx, build_id=build_id, shard_id=shard.id, effects=asked)
            effects.write(tx, asked, now=clock.now())

        again(engines[place % len(engines)], settle)

    AtOnce(len(shards)).run(end)


def made(engine, clock, number, **values):
    build_id = capturing(engine, clock, *([f"s{i}"] for i in range(number)), **values)
    for shard in shards_of(engine, build_id):
        captured(engine, clock, build_id, shard.id)
    return build_id, shards_of(engine, build_id)


def many_capturing(engine, clock, count):
    """Return builds that capture, each with two shards of which everything is captured."""
    made_so_far = []
    with transaction(engine) as tx:
        for number in range(count):
            asked = OpenBuild(
                f"shop-{number % 7}", str(number), "storybook", branch=f"b{number}"
            )
            build_id = opening.open_build(tx, asked, now=clock.now()).build_id
            opening.finalize(tx, build_id, clock.now())
            two = (PlannedShard(0, 1), PlannedShard(1, 1))
            dealt = (BeginPlanning(build_id), DealShards(build_id, "env", (), two))
            effects.write(tx, dealt, now=clock.now())
            made_so_far.append((build_id, [one.id for one in table.of_build(tx, build_id)]))
    return made_so_far


def ends_each_together(engines, clock, builds, places):
    """End the shards of each build in threads that meet at a barrier before each end.

    `places` names, for each thread, the place of the shard that it ends.
    """
    together = Barrier(len(places))

    def end_all(thread):
        for build_id, shard_ids in builds:
            shard_id = shard_ids[places[thread]]

            def settle(tx, build_id=build_id, shard_id=shard_id):
                asked = (EndShard(build_id, shard_id),)
                order.lock(tx, build_id=build_id, shard_id=shard_id, effects=asked)
                effects.write(tx, asked, now=clock.now())

            together.wait(60)
            again(engines[thread], settle)

    AtOnce(len(places)).run(end_all)


def reduces(engine):
    """Return how many builds reduce, how often they moved, how many reduce jobs wait."""
    with reading(engine) as tx:
        moved = tx.execute(select(builds_table.c.rev, builds_table.c.phase)).all()
        jobs = tx.execute(select(jobs_table.c.id).where(jobs_table.c.step == "reduce")).all()
    return (
        sum(phase == "reducing" for _, phase in moved),
        {rev for rev, _ in moved},
        len(jobs),
    )


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_of_two_shards_that_end_at_one_barrier_one_moves_each_of_300_builds(new_engine, clock):
    """BUILD-71, B-9, JOB-133: 182 of 300 hung where the build was not locked first."""
    engines = [new_engine(), new_engine()]
    builds = many_capturing(engines[0], clock, 300)

    ends_each_together(engines, clock, builds, places=(0, 1))

    assert reduces(engines[0]) == (300, {4}, 300)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_two_shards_end_well_also_on_a_server_whose_default_is_repeatable_read(
    new_engine, url, request, clock
):
    """BUILD-71, B-9. PostgreSQL only has such a default; on SQLite it is the same test."""
    if url.startswith("postgresql"):
        root = create_engine(request.getfixturevalue("postgres"), isolation_level="AUTOCOMMIT")
        with root.connect() as db:
            name = make_url(url).database
            db.exec_driver_sql(
                f'ALTER DATABASE "{name}" '
                "SET default_transaction_isolation = 'repeatable read'"
            )
        root.dispose()
    engines = [new_engine(), new_engine()]
    builds = many_capturing(engines[0], clock, 100)

    ends_each_together(engines, clock, builds, places=(0, 1))

    assert reduces(engines[0]) == (100, {4}, 100)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_150_builds_whose_shards_are_each_delivered_twice_are_reduced_150_times(
    new_engine, clock
):
    """B-10, BUILD-72: 1,047 reduces where the count stood outside of the write."""
    engines = [new_engine() for _ in range(4)]
    builds = many_capturing(engines[0], clock, 150)

    ends_each_together(engines, clock, builds, places=(0, 0, 1, 1))

    assert reduces(engines[0]) == (150, {4}, 150)


@pytest.mark.slow
def test_fifty_shards_that_end_together_give_one_reduce(new_engine, clock):
    """Q-72."""
    engines = [new_engine() for _ in range(10)]
    build_id, shards = made(engines[0], clock, 50)

    ends_together(engines, clock, build_id, shards)

    build = build_of(engines[0], build_id)
    assert build.phase == "reducing"
    assert list(jobs_of(engines[0], build_id)).count("reduce") == 1
    assert [hook for hook in hooks_of(engines[0], build_id) if hook[0] == build.rev] == []


def test_a_shard_that_is_delivered_twice_is_counted_once(engine, clock):
    """B-10, BUILD-72."""
    build_id, shards = made(engine, clock, 2)

    for shard in (shards[0], shards[0], shards[1], shards[1]):
        ends_together([engine], clock, build_id, [shard])

    build = build_of(engine, build_id)
    assert (build.phase, build.rev) == ("reducing", 4)


def test_an_open_build_without_an_open_shard_moves_by_the_same_function(engine, clock):
    """BUILD-74: nothing is found in a healthy system, and the sweep mends what is."""
    from capture_consumer.tables import builds  # noqa: PLC0415

    build_id, shards = made(engine, clock, 1)
    with transaction(engine) as tx:
        table.end(tx, shards[0].id, "done", now=clock.now())

    with transaction(engine) as tx:
        build = builds.lock(tx, build_id)
        assert build
        assert moving.reduce_if_last(tx, build, now=clock.now())

    assert build_of(engine, build_id).phase == "reducing"
