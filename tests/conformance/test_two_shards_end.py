"""Shards that end together: one of them moves the build, whatever the server's default is."""

import pytest
from sqlalchemy import create_engine, make_url

from capture_consumer.builds.effects import EndShard
from capture_consumer.database.transaction import again
from capture_consumer.records import effects, moving, order
from tests.made import AtOnce, build_of, captured, capturing, hooks_of, jobs_of, shards_of

ROUNDS = 15


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


@pytest.mark.slow
def test_of_two_shards_that_end_at_one_barrier_one_moves_the_build(new_engine, clock):
    """BUILD-71, B-9, JOB-133."""
    engines = [new_engine(), new_engine()]

    for number in range(ROUNDS):
        build_id, shards = made(engines[0], clock, 2, nonce=str(number))
        ends_together(engines, clock, build_id, shards)

        assert build_of(engines[0], build_id).phase == "reducing"
        assert jobs_of(engines[0], build_id)["reduce"] == "queued"


@pytest.mark.slow
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

    for number in range(ROUNDS):
        build_id, shards = made(engines[0], clock, 2, nonce=str(number))
        ends_together(engines, clock, build_id, shards)

        assert build_of(engines[0], build_id).phase == "reducing"


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
    from capture_consumer.database.transaction import transaction  # noqa: PLC0415
    from capture_consumer.tables import builds, shards as table  # noqa: PLC0415

    build_id, shards = made(engine, clock, 1)
    with transaction(engine) as tx:
        table.end(tx, shards[0].id, "done", now=clock.now())

    with transaction(engine) as tx:
        build = builds.lock(tx, build_id)
        assert build
        assert moving.reduce_if_last(tx, build, now=clock.now())

    assert build_of(engine, build_id).phase == "reducing"
