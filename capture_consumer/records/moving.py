"""Every move of a build's phase, with its lifecycle rows, in the caller's transaction.

The build's row is locked before anything is looked at; without that, two
shards that end together each see the other open and the build hangs for ever
(BUILD-71). Whoever ends something for a build comes here: the holder's settle,
the books of a dead consumer, a hook, a sweep and a person (BUILD-73). A late
caller changes nothing and is told so (BUILD-37).
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Literal

from capture_consumer.builds.facts import Phase
from capture_consumer.builds.phases import OPEN, hooks_of, sources_of
from capture_consumer.consumer.safetext import safe_text
from capture_consumer.database.transaction import Tx
from capture_consumer.tables import builds, jobs, lifecycle_events, shards, snapshots
from capture_consumer.tables.builds import BuildRow

__all__ = [
    "end_build",
    "end_shard",
    "end_what_is_open",
    "enqueue_reduce",
    "fail_build",
    "give_up",
    "move",
    "reduce_if_last",
    "write_hooks",
]

EndedShard = Literal["shard-failed", "finalized", "skipped", "shard-done"]


def move(
    tx: Tx,
    build: BuildRow,
    to: Phase,
    *,
    now: datetime,
    values: Mapping[str, Any] | None = None,
    frm: Collection[Phase] | None = None,
) -> int | None:
    """Move a locked build and write the rows of its hooks; None if no such move exists.

    Args:
        tx: the caller's transaction, which holds the build's lock.
        build: the build's row.
        to: the phase it moves to.
        now: the instant of the move.
        values: other columns that the same write sets.
        frm: the phases it may come from; all that the table of moves allows unless given.
    """
    allowed = sources_of(to) if frm is None else frm
    rev = builds.move(tx, build.id, frm=allowed, to=to, now=now, values=values)
    if rev is not None:
        write_hooks(tx, build, rev, to, now=now)
    return rev


def write_hooks(tx: Tx, build: BuildRow, rev: int, to: Phase, *, now: datetime) -> None:
    """Write the lifecycle rows that follow from a move (BUILD-17)."""
    lifecycle_events.insert(
        tx,
        build_id=build.id,
        project_id=build.project_id,
        rev=rev,
        hooks=[(hook, "", None) for hook in hooks_of(to)],
        now=now,
    )


def end_shard(
    tx: Tx,
    *,
    build_id: int,
    shard_id: int,
    state: Literal["done", "failed", "cancelled"],
    code: str | None = None,
    text: str | None = None,
    now: datetime,
) -> EndedShard:
    """End one shard; if it was the last open one, move the build to reducing (T9).

    `failed` makes its planned snapshots `lost`, never removed (BUILD-35). Nothing is
    changed when the build or the shard has ended before (JOB-117, JOB-122).

    Returns:
        `skipped`, or `finalized` when the build moved, else `shard-failed` or `shard-done`.

    Raises:
        AssertionError: `done` was said of a shard with planned snapshots (BUILD-34).
    """
    text = None if text is None else safe_text(text)
    build = builds.lock(tx, build_id)
    if build is None or build.phase not in OPEN:
        return "skipped"
    if shards.lock(tx, shard_id) is None:
        return "skipped"
    if not shards.end(tx, shard_id, state, now=now, code=code, text=text):
        return "skipped"
    if state == "done":
        assert snapshots.count_planned(tx, shard_id) == 0, f"shard {shard_id} is not done"
    else:
        lost = snapshots.lose_planned(tx, shard_id, code=code, message=text)
        shards.count_ended(tx, shard_id, lost)
    if reduce_if_last(tx, build, now=now):
        return "finalized"
    return "shard-done" if state == "done" else "shard-failed"


def reduce_if_last(tx: Tx, build: BuildRow, *, now: datetime) -> bool:
    """Move a locked build to reducing if none of its shards is open; tell whether it moved.

    The reduce job is inserted with the move, under its fixed id (BUILD-17).
    """
    rev = shards.reduce_when_all_ended(tx, build.id)
    if rev is None:
        return False
    enqueue_reduce(tx, build.id, now=now)
    write_hooks(tx, build, rev, "reducing", now=now)
    return True


def enqueue_reduce(tx: Tx, build_id: int, *, now: datetime) -> None:
    """Insert the job that reduces a build; the same again changes nothing."""
    jobs.enqueue(
        tx,
        job_id=f"reduce:{build_id}",
        kind="capture",
        step="reduce",
        build_id=build_id,
        now=now,
    )


def fail_build(
    tx: Tx, *, build_id: int, code: str, text: str, now: datetime
) -> Literal["failed", "skipped"]:
    """Fail a build whose plan or reduce was given up, or whose time is over (T8, T11, T12).

    `skipped` when it has ended, is gone, or has no such move: a build that captures is
    past its plan and goes on by its shards (JOB-117, JOB-118).
    """
    moved = end_build(tx, build_id=build_id, to="failed", code=code, text=text, now=now)
    return "failed" if moved else "skipped"


def end_build(
    tx: Tx,
    *,
    build_id: int,
    to: Literal["failed", "cancelled", "superseded", "expired"],
    code: str | None = None,
    text: str | None = None,
    now: datetime,
    superseded_by: int | None = None,
) -> bool:
    """Move an open build to an end and end its shards and jobs with it (BUILD-16).

    Jobs end `cancelled`, or `failed` with the error where the build does. Returns False,
    having written nothing, when the build is gone or the table has no such move.
    """
    text = None if text is None else safe_text(text)
    build = builds.lock(tx, build_id)
    if build is None:
        return False
    values: dict[str, Any] = {"error_code": code, "error_text": text}
    if superseded_by is not None:
        values["superseded_by"] = superseded_by
    if move(tx, build, to, now=now, values=values) is None:
        return False
    end_what_is_open(tx, build_id, to=to, code=code, text=text, now=now)
    return True


def end_what_is_open(
    tx: Tx, build_id: int, *, to: Phase, code: str | None, text: str | None, now: datetime
) -> None:
    """End open shards and jobs of a locked build that has ended; holders see it within 5 s."""
    shards.cancel_open(tx, build_id, now=now)
    if to == "failed":
        jobs.fail_open_of_build(tx, build_id, now, code or "failed", text or "the build failed")
    else:
        jobs.cancel_of_build(tx, build_id, now)


def give_up(
    tx: Tx, *, build_id: int, shard_id: int | None, code: str, text: str, now: datetime
) -> str:
    """Do what follows when a capture job was given up: fail its shard, or its build (R1).

    Returns:
        `shard-failed`, `finalized`, `failed` or `skipped` (JOB-116).
    """
    if shard_id is None:
        return fail_build(tx, build_id=build_id, code=code, text=text, now=now)
    return end_shard(
        tx,
        build_id=build_id,
        shard_id=shard_id,
        state="failed",
        code=code,
        text=text,
        now=now,
    )
