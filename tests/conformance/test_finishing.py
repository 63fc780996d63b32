"""Superseding, reviewing and the newest build of a lane."""

import pytest
from sqlalchemy import select

from capture_consumer.builds.effects import (
    CommitTold,
    Decided,
    EndBuild,
    FinishBuild,
    KeepContent,
    RecordOutcomes,
    ReviewSnapshots,
    Ruled,
    StoredBlob,
    SupersedeOlder,
)
from capture_consumer.errors import NotFound, Refused
from capture_consumer.tables.audit import audit
from capture_consumer.tables.lanes import lanes
from capture_consumer.tables.reviews import reviews
from tests.made import (
    build_of,
    capturing,
    ended,
    everything,
    finished,
    hooks_of,
    jobs_of,
    opened,
    pending,
    reducing,
    sha,
    shards_of,
    snapshots_of,
    written,
)

A, B = "a" * 40, "b" * 40
GRAPH = (CommitTold(B, (A,)), CommitTold(A, ()))


def phases(engine, *build_ids):
    return [build_of(engine, build_id).phase for build_id in build_ids]


def test_a_newer_build_supersedes_the_older_open_ones_of_its_lane(engine, clock):
    """T14, BUILD-90, BUILD-92, B-15 for what is no default branch."""
    first = capturing(engine, clock, ["a"], nonce="1")
    second = opened(engine, clock, nonce="2")
    newer = pending(engine, clock, nonce="3")

    written(engine, clock, SupersedeOlder(newer))

    assert phases(engine, first, second, newer) == ["superseded", "superseded", "pending"]
    old = build_of(engine, first)
    assert (old.superseded_by, old.error_code) == (newer, "superseded")
    assert set(jobs_of(engine, first).values()) == {"cancelled"}
    assert {one.state for one in shards_of(engine, first)} == {"cancelled"}
    assert hooks_of(engine, first)[-1] == (old.rev, "cancel_jobs")


def test_superseding_leaves_newer_ended_and_foreign_builds_alone(engine, clock):
    """BUILD-91, BUILD-66."""
    others = [
        opened(engine, clock, nonce="1", name="docs"),
        opened(engine, clock, nonce="2", branch="elsewhere"),
        opened(engine, clock, nonce="3", pull=7),
        opened(engine, clock, nonce="4", project="blog"),
        opened(engine, clock, nonce="5", trusted=False),
        finished(engine, clock, nonce="6"),
    ]
    newer = pending(engine, clock, nonce="7")
    latest = opened(engine, clock, nonce="8")
    before = phases(engine, *others)

    written(engine, clock, SupersedeOlder(newer))

    assert phases(engine, *others) == before
    assert phases(engine, latest) == ["receiving"]


def test_a_build_that_is_merely_late_supersedes_nobody(engine, clock):
    """BUILD-91: its commit is an ancestor of the older build's."""
    older = capturing(engine, clock, ["a"], nonce="1", commit=B, commits=GRAPH)
    late = pending(engine, clock, nonce="2", commit=A)

    written(engine, clock, SupersedeOlder(late))

    assert phases(engine, older) == ["capturing"]


def test_superseding_twice_is_superseding_once(engine, clock):
    opened(engine, clock, nonce="1")
    newer = pending(engine, clock, nonce="2")
    written(engine, clock, SupersedeOlder(newer))
    before = everything(engine)

    written(engine, clock, SupersedeOlder(newer), SupersedeOlder(404))

    assert everything(engine) == before


def latest_of(engine, build_id):
    lane_id = build_of(engine, build_id).lane_id
    with engine.connect() as db:
        found = select(lanes.c.latest_build_id).where(lanes.c.id == lane_id)
        return db.execute(found).scalar_one()


def test_a_finished_build_becomes_the_newest_of_its_lane_and_the_old_one_points_to_it(
    engine, clock
):
    """T16."""
    old = finished(engine, clock, nonce="1")
    before = build_of(engine, old)

    new = finished(engine, clock, nonce="2")

    after = build_of(engine, old)
    assert latest_of(engine, new) == new
    assert (after.superseded_by, after.rev, after.phase) == (new, before.rev, "finished")


def test_a_late_build_of_an_older_commit_is_not_the_newest(engine, clock):
    """BUILD-66."""
    newest = finished(engine, clock, nonce="1", commit=B, commits=GRAPH)

    late = finished(engine, clock, nonce="2", commit=A)

    assert latest_of(engine, late) == newest
    assert build_of(engine, newest).superseded_by is None


def test_a_build_that_finishes_after_a_newer_one_is_not_the_newest(engine, clock):
    """BUILD-66, B-18."""
    slow = reducing(engine, clock, nonce="1")
    fast = finished(engine, clock, nonce="2")

    written(engine, clock, FinishBuild(slow, "passed", None, {}))

    assert latest_of(engine, slow) == fast


def in_question(engine, clock, *stories):
    """Return a finished build of which each snapshot is pending."""
    build_id = reducing(engine, clock, list(stories))
    rows = snapshots_of(engine, build_id)
    ruled = tuple(Ruled(row.id, "changed", None, None, "none", "pending") for row in rows)
    written(engine, clock, RecordOutcomes(build_id, ruled))
    written(engine, clock, FinishBuild(build_id, "needs_review", None, {"pending": len(rows)}))
    return build_id


def answers(engine, build_id, *decisions, rev=None, review_no=None, verdict="accepted"):
    rows = snapshots_of(engine, build_id)
    decided = tuple(
        Decided(row.id, word, row.review_no if review_no is None else review_no)
        for row, word in zip(rows, decisions, strict=False)
    )
    seen = build_of(engine, build_id).rev if rev is None else rev
    return (
        KeepContent(blobs=(StoredBlob(sha("map"), 5, "manifest"),)),
        ReviewSnapshots(build_id, seen, decided, "ana", sha("map"), verdict, {"accepted": 2}),
    )


def test_a_review_writes_reviews_snapshots_manifest_verdict_and_audit(engine, clock):
    """BUILD-83, BUILD-88, T15."""
    build_id = in_question(engine, clock, "a", "b")
    before = build_of(engine, build_id)

    written(
        engine,
        clock,
        *answers(engine, build_id, "accepted", "rejected", verdict="rejected"),
    )

    build, rows = build_of(engine, build_id), snapshots_of(engine, build_id)
    assert (build.verdict, build.manifest_sha, build.counts, build.rev) == (
        "rejected",
        sha("map"),
        {"accepted": 2},
        before.rev + 1,
    )
    assert [(row.review, row.review_source, row.review_no) for row in rows] == [
        ("accepted", "person", 1),
        ("rejected", "person", 1),
    ]
    with engine.connect() as db:
        made = db.execute(select(reviews).order_by(reviews.c.id)).all()
        noted = db.execute(select(audit)).one()
    assert [(one.decision, one.to_image, one.scope_ref, one.reviewer) for one in made] == [
        ("accepted", rows[0].image_id, "topic", "ana"),
        ("rejected", rows[1].image_id, "topic", "ana"),
    ]
    assert (noted.who, noted.subject, noted.from_state, noted.to_state) == (
        "ana",
        f"build:{build_id}",
        "needs_review",
        "rejected",
    )


@pytest.mark.parametrize("seen", [{"rev": 0}, {"review_no": 3}])
def test_a_review_of_a_page_that_is_old_is_refused_whole(engine, clock, seen):
    """BUILD-83."""
    build_id = in_question(engine, clock, "a", "b")
    before = everything(engine)

    with pytest.raises(Refused, match="Look again"):
        written(engine, clock, *answers(engine, build_id, "accepted", "accepted", **seen))

    assert everything(engine) == before


def test_a_build_that_is_not_finished_cannot_be_reviewed(engine, clock):
    """BUILD-86."""
    build_id = reducing(engine, clock, ["a"])

    with pytest.raises(Refused, match="reducing"):
        written(engine, clock, *answers(engine, build_id, "accepted"))


def test_an_undone_answer_is_revoked_and_asked_again(engine, clock):
    """BUILD-85."""
    build_id = in_question(engine, clock, "a")
    written(engine, clock, *answers(engine, build_id, "accepted"))

    written(engine, clock, *answers(engine, build_id, "undone", verdict="needs_review"))

    row = snapshots_of(engine, build_id)[0]
    assert (row.review, row.review_no) == ("pending", 2)
    with engine.connect() as db:
        only = db.execute(select(reviews.c.decision, reviews.c.revoked_at)).one()
    assert tuple(only) == ("accepted", clock.now())


@pytest.mark.parametrize("missing", ["build", "snapshot"])
def test_a_review_of_what_is_not_there_is_not_found(engine, clock, missing):
    build_id = in_question(engine, clock, "a")
    one = Decided(404, "accepted", 0)
    build = 404 if missing == "build" else build_id
    rev = build_of(engine, build_id).rev

    with pytest.raises(NotFound):
        written(engine, clock, ReviewSnapshots(build, rev, (one,), "ana", None, "passed", {}))


def test_cancelling_an_ended_build_changes_nothing(engine, clock):
    """BUILD-89, B-14."""
    build_id = ended(engine, clock, "cancelled")
    before = everything(engine)

    written(engine, clock, EndBuild(build_id, "cancelled"))

    assert everything(engine) == before
