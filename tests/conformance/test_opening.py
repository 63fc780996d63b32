"""A build is opened once for its nonce, numbered once, finalized when all of it is there."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from capture_consumer.builds.effects import (
    CommitTold,
    FileSent,
    KeepContent,
    OpenBuild,
    StoredBlob,
)
from capture_consumer.database.transaction import transaction
from capture_consumer.errors import BadInput, NotFound, Refused
from capture_consumer.records import opening
from capture_consumer.records.facts import RowFacts
from capture_consumer.tables import blobs, uploads
from capture_consumer.tables.lanes import lanes
from tests.made import (
    AtOnce,
    build_of,
    ended,
    hooks_of,
    jobs_of,
    opened,
    pending,
    sha,
    written,
)

COMMIT = "c" * 40


def asked(**values):
    return OpenBuild(**({"project": "shop", "nonce": "n", "kind": "storybook"} | values))


def open_one(engine, clock, **values):
    with transaction(engine) as tx:
        return opening.open_build(tx, asked(**values), now=clock.now())


@pytest.mark.slow
def test_fifty_creates_at_once_give_fifty_distinct_numbers(new_engine, clock):
    """BUILD-1."""
    engines = [new_engine() for _ in range(10)]

    def create(place):
        return [open_one(engines[place], clock, nonce=f"{place}-{i}").number for i in range(5)]

    numbers = sorted(number for made in AtOnce(10).run(create) for number in made)

    assert numbers == list(range(1, 51))


def test_a_project_is_made_at_its_first_submit_and_kept(engine, clock):
    """R26."""
    first = open_one(engine, clock, nonce="1", default_branch="trunk")
    second = open_one(engine, clock, nonce="2", default_branch="other")

    assert (first.number, second.number) == (1, 2)
    assert build_of(engine, second.build_id).project.default_branch == "trunk"


@pytest.mark.slow
def test_identical_requests_at_once_make_one_build(new_engine, clock):
    """Q-73, T1."""
    engines = [new_engine() for _ in range(6)]
    open_one(engines[0], clock, nonce="another, so that the project is there")

    made = AtOnce(6).run(lambda place: open_one(engines[place], clock, nonce="same"))

    assert len({one.build_id for one in made}) == 1
    assert sum(one.is_new for one in made) == 1


def test_the_same_nonce_again_is_the_same_build(engine, clock):
    first = open_one(engine, clock, commit=COMMIT)

    again = open_one(engine, clock, commit=COMMIT)

    assert again.build_id == first.build_id
    assert (first.is_new, again.is_new) == (True, False)


@pytest.mark.parametrize("other", [{"commit": "d" * 40}, {"name": "docs"}, {"kind": "images"}])
def test_the_same_nonce_for_something_else_is_refused_and_names_both(engine, clock, other):
    open_one(engine, clock, commit=COMMIT)

    with pytest.raises(Refused, match=r"build 1 .*cccc.*; this is"):
        open_one(engine, clock, **({"commit": COMMIT} | other))


@pytest.mark.parametrize("project", ["Shop", "-shop", "", "a" * 64, "a/b"])
def test_a_project_without_a_slug_is_refused(engine, clock, project):
    """BUILD-1."""
    with pytest.raises(BadInput):
        open_one(engine, clock, project=project)


@pytest.mark.parametrize(
    "values",
    [
        {"commit": "abcdef12"},
        {"commit": "C" * 40},
        {"head": "1234567"},
        {"commits": (CommitTold("abc", None),)},
        {"commits": (CommitTold("a" * 40, ("abc",)),)},
    ],
)
def test_a_short_commit_is_refused(engine, clock, values):
    """BUILD-7."""
    with pytest.raises(BadInput):
        open_one(engine, clock, **values)


@pytest.mark.parametrize(
    ("values", "ref"),
    [
        ({"branch": "topic"}, "topic"),
        ({"branch": "topic", "pull": 12}, "pr/12"),
        ({"branch": None}, "main"),
    ],
)
def test_a_lane_is_a_pull_request_or_a_branch(engine, clock, values, ref):
    build_id = opened(engine, clock, **values)

    assert build_of(engine, build_id).ref == ref


def test_builds_of_one_ref_share_a_lane_and_names_do_not(engine, clock):
    """BUILD-2."""
    first, second = opened(engine, clock, nonce="1"), opened(engine, clock, nonce="2")
    other = opened(engine, clock, nonce="3", name="docs")

    assert build_of(engine, first).lane_id == build_of(engine, second).lane_id
    assert build_of(engine, other).lane_id != build_of(engine, first).lane_id
    with engine.connect() as db:
        assert len(db.execute(select(lanes.c.id)).all()) == 2


def test_what_was_sent_is_listed_and_its_blobs_are_kept(engine, clock):
    files = (FileSent("b.js", sha("b"), 2), FileSent("a.js", sha("a"), 1))

    build_id = opened(engine, clock, files=files)

    found = RowFacts(engine, clock).files(build_id)
    assert [(one.path, one.sha, one.bytes) for one in found] == [
        ("a.js", sha("a"), 1),
        ("b.js", sha("b"), 2),
    ]
    with engine.connect() as db:
        assert blobs.missing(db, {sha("a"), sha("b"), sha("c")}) == [sha("c")]


def test_finalize_makes_the_build_pending_with_its_plan_job_deadline_and_hook(engine, clock):
    """T2, BUILD-17."""
    build_id = pending(engine, clock)

    build = build_of(engine, build_id)
    assert (build.phase, build.rev, build.pending_at) == ("pending", 1, clock.now())
    assert jobs_of(engine, build_id) == {"plan": "queued"}
    assert hooks_of(engine, build_id) == [(1, "supersede_older")]


def test_the_deadline_is_three_hours_after_pending(engine, clock):
    """BUILD-43."""
    from capture_consumer.tables.builds import builds  # noqa: PLC0415

    build_id = pending(engine, clock)

    with engine.connect() as db:
        found = db.execute(select(builds.c.deadline_at).where(builds.c.id == build_id))
        assert found.scalar_one() == clock.now() + timedelta(hours=3)


def test_finalize_with_a_missing_hash_is_refused_with_the_list(engine, clock):
    """B-1, T2."""
    build_id = opened(engine, clock)
    with transaction(engine) as tx:
        uploads.add(tx, build_id, [FileSent("late.js", sha("late"), 1)])

    with pytest.raises(Refused, match=sha("late")), transaction(engine) as tx:
        opening.finalize(tx, build_id, clock.now())

    assert build_of(engine, build_id).phase == "receiving"
    written(engine, clock, KeepContent(blobs=(StoredBlob(sha("late"), 1, "file"),)))
    with transaction(engine) as tx:
        assert opening.finalize(tx, build_id, clock.now())


def test_of_two_finalizes_at_once_one_moves_the_build(new_engine, clock):
    """B-1, BUILD-105."""
    engines = [new_engine(), new_engine()]
    build_id = opened(engines[0], clock)

    def finalize(place):
        with transaction(engines[place]) as tx:
            return opening.finalize(tx, build_id, clock.now())

    assert sorted(AtOnce(2).run(finalize)) == [False, True]
    assert build_of(engines[0], build_id).rev == 1
    assert jobs_of(engines[0], build_id) == {"plan": "queued"}


def test_finalizing_an_ended_build_is_refused_with_its_end(engine, clock):
    build_id = ended(engine, clock, "cancelled")

    with pytest.raises(Refused, match="cancelled"), transaction(engine) as tx:
        opening.finalize(tx, build_id, clock.now())


def test_finalizing_no_build_is_not_found(engine, clock):
    with pytest.raises(NotFound), transaction(engine) as tx:
        opening.finalize(tx, 404, clock.now())
