"""Content rows: each once, in one order, and never collected while somebody refers to them."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from capture_consumer.builds.effects import Compared, KeepContent, StoredBlob
from capture_consumer.database.slices import sliced
from capture_consumer.database.transaction import transaction
from capture_consumer.records import content
from capture_consumer.tables import blobs
from capture_consumer.tables.comparisons import comparisons
from capture_consumer.tables.images import images
from tests.made import AtOnce, image, kept, sha, written


def blob_of(engine, name):
    with engine.connect() as db:
        return db.execute(select(blobs.blobs).where(blobs.blobs.c.sha == name)).one()


def count(engine, table):
    with engine.connect() as db:
        return db.execute(select(func.count()).select_from(table)).scalar_one()


def between(one, other, verdict="changed"):
    shas = (one.pixel_sha, other.pixel_sha, sha("rule"))
    return Compared(*shas, verdict, changed_px=1, ratio=0.1, densest_block=1, box=None)


def test_content_that_is_there_already_is_left_alone(engine, clock):
    """R21, BUILD-77."""
    one, other = image(1), image(2)
    first = KeepContent(kept(one, other).blobs, (one, other), (between(one, other),))
    again = KeepContent((), (), (between(one, other, verdict="equal"),))

    written(engine, clock, first, first)
    written(engine, clock, again, kept(one))

    assert (count(engine, images), count(engine, comparisons)) == (2, 1)


def test_one_picture_in_two_files_is_one_image(engine, clock):
    """Decision 12."""
    one = image("same")
    other = type(one)(one.pixel_sha, sha("another file"), 4, 3, 99)

    written(engine, clock, kept(one), kept(other))

    assert count(engine, images) == 1


@pytest.mark.slow
def test_writers_of_the_same_content_in_other_orders_never_meet_in_a_deadlock(
    new_engine, clock
):
    """R21: sorted by key, "do nothing on conflict"."""
    engines = [new_engine() for _ in range(4)]
    pictures = [image(number) for number in range(150)]

    def keep(place):
        mine = pictures if place % 2 else pictures[::-1]
        with transaction(engines[place]) as tx:
            content.keep(tx, [kept(one) for one in mine], now=clock.now())

    AtOnce(4).run(keep)

    assert count(engines[0], images) == 150


def test_a_reference_takes_the_tombstone_away(engine, clock):
    """BUILD-100."""
    one = StoredBlob(sha("a"), 1, "file")
    written(engine, clock, KeepContent((one,)))
    with transaction(engine) as tx:
        tx.execute(update(blobs.blobs).values(tombstoned_at=clock.now()))

    written(engine, clock, KeepContent((one,)))

    assert blob_of(engine, one.sha).tombstoned_at is None


def test_a_reference_is_noted_again_after_an_hour(engine, clock):
    """BUILD-100, BUILD-101."""
    one = StoredBlob(sha("a"), 1, "file")
    written(engine, clock, KeepContent((one,)))
    first = clock.now()

    clock.advance(ms=3_600_000)
    written(engine, clock, KeepContent((one,)))
    assert blob_of(engine, one.sha).last_ref_at == first
    clock.advance(ms=1)
    written(engine, clock, KeepContent((one,)))

    assert blob_of(engine, one.sha).last_ref_at == first + timedelta(hours=1, milliseconds=1)


def test_the_store_is_recorded_once(engine, clock):
    """R25."""
    with transaction(engine) as tx:
        assert blobs.store_url(tx) is None
        assert blobs.record_store(tx, "file:///a", now=clock.now()) == "file:///a"
        assert blobs.record_store(tx, "file:///b", now=clock.now()) == "file:///a"


def test_more_blobs_than_a_statement_binds_are_asked_for(engine):
    wanted = [sha(number) for number in range(1_201)]

    with engine.connect() as db:
        assert blobs.missing(db, wanted) == sorted(wanted)


def test_slices_are_sorted_each_key_once():
    assert list(sliced([3, 1, 2, 3, 1], 2)) == [[1, 2], [3]]
    assert list(sliced([])) == []
