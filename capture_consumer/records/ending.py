"""The one way to end an attempt, whoever saw the end: locks, fence, budget, what follows.

It serves the holder's settle and release, the clerk's books, and repairs by hand.
Only the reap ends attempts otherwise, set-wise, see `records.reaping`. All is the
caller's transaction; None means that somebody else was first: roll back and say
nothing (COM-7).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from capture_consumer.builds.facts import ShardFact
from capture_consumer.builds.phases import OPEN
from capture_consumer.consumer.budget import (
    BACKOFF,
    LIMITS,
    Again,
    Blame,
    Counted,
    GiveUp,
    Limits,
    after,
)
from capture_consumer.consumer.job import Backoff
from capture_consumer.consumer.outcome import (
    Cancelled,
    Done,
    End,
    Released,
    TimedOut,
    Word,
    word_of,
)
from capture_consumer.consumer.safetext import safe_text
from capture_consumer.database.transaction import Tx
from capture_consumer.records.ended import CameTo, Ended, tell
from capture_consumer.records.evidence import Death, evidence_of, past_of, story_of
from capture_consumer.records.exhausted import tell_lifecycle
from capture_consumer.records.moving import give_up
from capture_consumer.tables import attempts, builds, jobs, shards, snapshots
from capture_consumer.tables.attempts import AttemptRow, OpenAttempt
from capture_consumer.tables.builds import BuildRow
from capture_consumer.tables.jobs import JobRow

__all__ = ["Ended", "end_attempt", "tell"]

SHARD_OPEN = {"pending", "running"}


@dataclass(frozen=True, slots=True)
class Locked:
    """An attempt's job, with the build and the shard of a capture job; all rows are locked."""

    held: OpenAttempt
    job: JobRow
    build: BuildRow | None
    shard: ShardFact | None
    now: datetime

    def came_to(self, outcome: CameTo, word: Word, **told: Any) -> Ended:
        """Return what the end came to; `word` is what its row got."""
        return Ended(outcome, word, self.job, self.held.attempt, **told)


def end_attempt(
    tx: Tx,
    *,
    job_id: str,
    attempt: int,
    owner: str | None,
    end: End,
    now: datetime,
    limits: Limits = LIMITS,
    backoff: Backoff = BACKOFF,
) -> Ended | None:
    """End an open attempt and write what follows from it (SUP-27), or return None.

    Locks the build (kind capture), the shard and the job, in this order, before it looks
    at anything. `owner` None ends anybody's attempt.
    """
    at = lock(tx, OpenAttempt(job_id, attempt, owner), now)
    if at is None or not attempts.still_open(tx, at.held):
        return None
    if at.job.status != "running" or at.job.attempt != attempt:
        return moot(tx, at, end)
    if over := what_is_over(at):
        return skip(tx, at, end, over)
    match end:
        case Done() | Cancelled():
            word: Literal["done", "cancelled"] = (
                "done" if isinstance(end, Done) else "cancelled"
            )
            attempts.end(tx, at.held, outcome=word, now=now)
            jobs.end(tx, job_id, status=word, now=now)
            return at.came_to(word, word)
        case _:
            return count(tx, at, end, limits=limits, backoff=backoff)


def lock(tx: Tx, held: OpenAttempt, now: datetime) -> Locked | None:
    """Lock build, shard and job; a capture job's build comes first, always (R10)."""
    seen = jobs.get(tx, held.job_id)
    if seen is None:
        return None
    is_capture = seen.kind == "capture"
    build = shard = None
    if is_capture and seen.build_id is not None:
        build = builds.lock(tx, seen.build_id)
    if is_capture and seen.shard_id is not None:
        shard = shards.lock(tx, seen.shard_id)
    job = jobs.lock(tx, held.job_id)
    return None if job is None else Locked(held, job, build, shard, now)


def moot(tx: Tx, at: Locked, end: End) -> Ended:
    """End an attempt whose job has ended or moved on; nothing else changes (S9).

    Of a cancelled job every end is `cancelled`; work that nobody may publish is not `done`.
    """
    was_cancelled = at.job.status == "cancelled"
    is_moot = was_cancelled or isinstance(end, Done | Released)
    word: Word = "cancelled" if is_moot else word_of(end)
    attempts.end(tx, at.held, outcome=word, now=at.now, evidence=evidence_of(end))
    return at.came_to("cancelled" if was_cancelled else "skipped", word)


def what_is_over(at: Locked) -> str | None:
    """Return what has ended already of a capture job's build and shard."""
    if at.job.kind != "capture" or at.job.build_id is None:
        return None
    if at.build is None:
        return "the build is gone"
    if at.build.phase not in OPEN:
        return f"the build is {at.build.phase}"
    if at.job.shard_id is not None and (at.shard is None or at.shard.state not in SHARD_OPEN):
        return "the shard has ended"
    return None


def skip(tx: Tx, at: Locked, end: End, over: str) -> Ended:
    """End an attempt and its job, whose build is over; build and shard stay (SUP-29)."""
    attempts.end(tx, at.held, outcome=word_of(end), now=at.now, evidence=evidence_of(end))
    status: Literal["done", "cancelled"] = "done" if isinstance(end, Done) else "cancelled"
    jobs.end(tx, at.job.id, status=status, now=at.now, why=("build_ended", over))
    return at.came_to("skipped", word_of(end), text=over)


def count(tx: Tx, at: Locked, end: Counted, *, limits: Limits, backoff: Backoff) -> Ended:
    """Write an end that has a budget, and what its budget says."""
    rows = attempts.of_job(tx, at.job.id)
    story = story_of(end, rows, at.held.attempt)
    evidence = {**evidence_of(end), **({"story": story} if isinstance(end, Death) else {})}
    attempts.end(tx, at.held, outcome=word_of(end), now=at.now, evidence=evidence)
    known: dict[str, Any] = {
        "now": at.now,
        "was_suspect": at.job.suspect,
        "limits": limits,
        "backoff": backoff,
    }
    follows = after(end, past_of(rows), story=story, **known)
    if isinstance(follows, Blame):
        blamed = blame(tx, at, end, follows, rows)
        if blamed is not None:
            return blamed
        follows = after(end, past_of(rows), story=None, **known)
    if isinstance(follows, GiveUp):
        return exhaust(tx, at, end, follows)
    assert isinstance(follows, Again), "without a story nothing is blamed"
    return put_back(tx, at, end, follows)


def put_back(tx: Tx, at: Locked, end: Counted, again: Again) -> Ended:
    """Queue the job again, with what its last end said."""
    text = None if isinstance(end, Released) else end.text
    due_at = at.now + timedelta(milliseconds=again.delay_ms)
    jobs.put_back(tx, at.job.id, due_at=due_at, suspect=again.suspect, why=(end.code, text))
    return at.came_to(
        "requeued", word_of(end), code=end.code, text=text, delay_ms=again.delay_ms
    )


def blame(
    tx: Tx, at: Locked, end: Counted, blamed: Blame, rows: Sequence[AttemptRow]
) -> Ended | None:
    """Record the story as errored and let the job go on without it (JOB-126, BUILD-78).

    None when the story has nothing left to record: then the death counts for the job.
    """
    assert isinstance(end, Death)
    code, text = "hung" if isinstance(end, TimedOut) else "crashed", safe_text(end.text)
    if at.job.step == "reduce":
        # Its attempts say so: the next one leaves out what it cannot compare, once.
        if any(row.explained and row.story == blamed.story for row in rows):
            return None
        code = "compare_crashed"
    elif not blame_in_shard(tx, at, blamed.story, code=code, text=text):
        return None
    attempts.explain(tx, at.job.id, [*blamed.attempts, at.held.attempt])
    jobs.put_back(tx, at.job.id, due_at=at.now, suspect=False, why=(code, text))
    return at.came_to("story-failed", word_of(end), code=code, text=text, story=blamed.story)


def blame_in_shard(tx: Tx, at: Locked, story: str, *, code: str, text: str) -> int:
    """Make a story's planned snapshots of the shard errored; return how many (BUILD-36)."""
    if at.job.shard_id is None:
        return 0
    number = snapshots.blame(tx, at.job.shard_id, story, code=code, message=text)
    shards.count_ended(tx, at.job.shard_id, number)
    return number


def exhaust(tx: Tx, at: Locked, end: Counted, up: GiveUp) -> Ended:
    """Fail the job for good, tell the lifecycle, and fail what a capture job stood for (R1)."""
    job, text = at.job, safe_text(up.text)
    jobs.end(tx, job.id, status="failed", now=at.now, why=(up.code, text))
    tell_lifecycle(tx, job, up, now=at.now)
    if job.kind != "capture" or job.build_id is None:
        return at.came_to("failed", word_of(end), code=up.code, text=text)
    outcome: Any = give_up(
        tx, build_id=job.build_id, shard_id=job.shard_id, code=up.code, text=text, now=at.now
    )
    return at.came_to(outcome, word_of(end), code=up.code, text=text)
