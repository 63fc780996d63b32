"""A build's verdict: reduce finishes it, people change it, a newer build supersedes it."""

from datetime import datetime

from capture_consumer.builds.effects import (
    CancelJobs,
    Decided,
    FinishBuild,
    ReviewSnapshots,
    SupersedeOlder,
)
from capture_consumer.builds.facts import BuildFact
from capture_consumer.builds.phases import OPEN
from capture_consumer.database.transaction import Tx
from capture_consumer.errors import NotFound, Refused
from capture_consumer.records import moving
from capture_consumer.tables import (
    audit,
    blobs,
    build_views,
    builds,
    commits,
    lanes,
    reviews,
    snapshots,
)
from capture_consumer.tables.builds import BuildRow
from capture_consumer.tables.snapshots import Answerable

__all__ = ["cancel_jobs", "finish", "review", "supersede_older"]


def finish(tx: Tx, effect: FinishBuild, *, now: datetime) -> None:
    """Give a reducing build its verdict, manifest and counts (T10); another is left alone."""
    build = builds.lock(tx, effect.build_id)
    if build is None:
        return
    values = {
        "verdict": effect.verdict,
        "manifest_sha": effect.manifest_sha,
        "counts": dict(effect.counts),
        "waits_for": None,
    }
    if moving.move(tx, build, "finished", now=now, values=values) is None:
        return
    if effect.manifest_sha:
        blobs.touch(tx, {effect.manifest_sha}, now=now)
    point_lane(tx, build)


def point_lane(tx: Tx, build: BuildRow) -> None:
    """Make a finished build the lane's newest unless it is merely late (BUILD-66, T16)."""
    latest_id = lanes.lock(tx, build.lane_id)
    latest = None if latest_id is None else builds.lock(tx, latest_id)
    if latest is not None and latest.id != build.id:
        if latest.number > build.number or is_late(tx, build, latest):
            return
        builds.point_to_newer(tx, latest.id, build.id)
    lanes.point_to(tx, build.lane_id, build.id)


def is_late(tx: Tx, newer: BuildRow, older: BuildRow) -> bool:
    """Tell whether the build of the higher number is of an ancestor of the other's commit."""
    if newer.commit_sha is None or older.commit_sha is None:
        return False
    return commits.is_ancestor(tx, newer.project_id, newer.commit_sha, of=older.commit_sha)


def supersede_older(tx: Tx, effect: SupersedeOlder, *, now: datetime) -> None:
    """End the older open builds of the lane (T14), but for what BUILD-91 spares.

    Whether it applies to project and branch at all was decided by the hook.
    """
    build = build_views.get(tx, effect.build_id)
    newer = builds.lock(tx, effect.build_id)
    if build is None or newer is None:
        return
    for older in builds.older_open(tx, build.lane_id, build.number):
        if older.trusted != newer.trusted or is_late(tx, newer, older):
            continue
        moving.end_build(
            tx,
            build_id=older.id,
            to="superseded",
            code="superseded",
            text=f"superseded by build {build.number}",
            superseded_by=build.id,
            now=now,
        )


def cancel_jobs(tx: Tx, effect: CancelJobs, *, now: datetime) -> None:
    """End what is still open of a build that has ended before its verdict (BUILD-16)."""
    build = builds.lock(tx, effect.build_id)
    if build is None or build.phase in OPEN or build.phase == "finished":
        return
    moving.end_what_is_open(
        tx, build.id, to=build.phase, code=None, text="the build has ended", now=now
    )


def review(tx: Tx, effect: ReviewSnapshots, *, now: datetime) -> None:
    """Write a person's answers and what follows from them (BUILD-83).

    Raises:
        NotFound: there is no such build, or a snapshot is not the build's.
        Refused: the build or a snapshot has changed since the page was shown; nothing
            is written once the caller has rolled back.
    """
    seen = build_views.get(tx, effect.build_id)
    if seen is None:
        raise NotFound(f"there is no build with the id {effect.build_id}")
    build = builds.lock(tx, effect.build_id)
    assert build is not None, "a build that was locked is still there"
    if build.phase != "finished" or build.rev != effect.rev:
        raise Refused(changed_since(seen, build))
    facts = snapshots.answerable(tx, build.id, {one.snapshot_id for one in effect.decided})
    for decided in sorted(effect.decided, key=lambda one: one.snapshot_id):
        answer(tx, decided, facts, build)
    write_reviews(tx, effect, seen, facts, now=now)
    rewrite(tx, effect, build, now=now)


def changed_since(seen: BuildFact, build: BuildRow) -> str:
    """Return one line about what is there instead of what was on the page."""
    what = build.verdict or build.phase
    return f"Build {seen.number} has changed since you looked: it is {what} now. Look again."


def answer(tx: Tx, decided: Decided, facts: dict[int, Answerable], build: BuildRow) -> None:
    """Write one answer on its snapshot, if nobody else answered since."""
    fact = facts.get(decided.snapshot_id)
    if fact is None:
        raise NotFound(f"build {build.number} has no snapshot {decided.snapshot_id}")
    word = "pending" if decided.decision == "undone" else decided.decision
    if not snapshots.answer(
        tx, fact.id, review_no=decided.review_no, review=word, source="person"
    ):
        raise Refused(
            f"A snapshot of build {build.number} was answered since you looked: "
            f"it is {fact.review} now. Look again."
        )


def write_reviews(
    tx: Tx,
    effect: ReviewSnapshots,
    build: BuildFact,
    facts: dict[int, Answerable],
    *,
    now: datetime,
) -> None:
    """Insert the decisions; undone ones are revoked. Nothing is overwritten (BUILD-88).

    Passing an unstable story decides about no picture, so it is no approval and stands
    in the audit alone.
    """
    rows = [
        {
            "project_id": build.project.id,
            "name": build.name,
            "key_id": facts[one.snapshot_id].key_id,
            "scope_ref": build.ref,
            "from_image": facts[one.snapshot_id].baseline_image_id,
            "to_image": facts[one.snapshot_id].image_id,
            "decision": one.decision,
            "reviewer": effect.reviewer,
            "reviewed_at": now,
            "build_id": build.id,
        }
        for one in effect.decided
        if one.decision != "undone" and facts[one.snapshot_id].outcome != "unstable"
    ]
    reviews.add(tx, rows)
    undone = {
        facts[one.snapshot_id].key_id for one in effect.decided if one.decision == "undone"
    }
    if undone:
        reviews.revoke(tx, key_ids=undone, scope_ref=build.ref, build_id=build.id, now=now)


def rewrite(tx: Tx, effect: ReviewSnapshots, build: BuildRow, *, now: datetime) -> None:
    """Switch manifest, verdict and counts, and write down who asked for it (T15)."""
    values = {
        "verdict": effect.verdict,
        "manifest_sha": effect.manifest_sha,
        "counts": dict(effect.counts),
    }
    rev = builds.rewrite(tx, build.id, rev=effect.rev, values=values)
    assert rev is not None, "its lock is held and its rev was compared"
    if effect.manifest_sha:
        blobs.touch(tx, {effect.manifest_sha}, now=now)
    audit.add(
        tx,
        who=effect.reviewer,
        action="review",
        subject=f"build:{build.id}",
        from_state=build.verdict,
        to_state=effect.verdict,
        details={str(one.snapshot_id): one.decision for one in effect.decided},
        now=now,
    )
