"""Jobs, claims and the promises of their queue, for tests that need a database."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Engine, text

from capture_consumer.database.transaction import transaction
from capture_consumer.queues.jobs import JobsQueue
from capture_consumer.records.ending import end_attempt
from capture_consumer.tables import attempts, claims, jobs
from tests import made
from tests.conftest import START

if TYPE_CHECKING:
    from capture_consumer.consumer.job import ConsumerJob
    from capture_consumer.consumer.outcome import End
    from capture_consumer.tables.attempts import AttemptRow
    from tests.conftest import HandClock

LEASE_MS = 60_000

PROMISES = {
    "S1 two open attempts of a job": """
        SELECT job_id FROM job_attempts WHERE ended_at IS NULL
         GROUP BY job_id HAVING count(*) > 1
    """,
    "S2 a running job without its open attempt": """
        SELECT j.id FROM jobs j WHERE j.status = 'running' AND NOT EXISTS (
            SELECT 1 FROM job_attempts a
             WHERE a.job_id = j.id AND a.attempt = j.attempt AND a.ended_at IS NULL)
    """,
    "S2 an open attempt of a job that is neither running nor cancelled": """
        SELECT j.id FROM jobs j JOIN job_attempts a ON a.job_id = j.id
         WHERE a.ended_at IS NULL AND j.status NOT IN ('running', 'cancelled')
    """,
    "S3 a gap in the numbers": """
        SELECT j.id FROM jobs j WHERE j.attempt <> (
            SELECT count(*) FROM job_attempts a
             WHERE a.job_id = j.id AND a.attempt <= j.attempt)
    """,
    "S4 two done attempts, or one of a job that is not done": """
        SELECT j.id FROM jobs j JOIN job_attempts a ON a.job_id = j.id AND a.outcome = 'done'
         GROUP BY j.id, j.status HAVING count(*) > 1 OR j.status <> 'done'
    """,
}


@dataclass
class Told:
    """An observer that keeps what it hears."""

    heard: list[tuple[Any, ...]] = field(default_factory=list)

    def claimed(self, job: ConsumerJob) -> None:
        self.heard.append(("claimed", job.job_id, job.attempt))

    def story(self, job: ConsumerJob, story: str, **where: Any) -> None:
        self.heard.append(("story", story))

    def touched(self, job: ConsumerJob) -> None:
        self.heard.append(("touched", job.job_id))

    def settled(self, job: ConsumerJob, end: str) -> None:
        self.heard.append(("settled", job.job_id, end))

    def released(self, job: ConsumerJob) -> None:
        self.heard.append(("released", job.job_id))

    def lost(self, job: ConsumerJob) -> None:
        self.heard.append(("lost", job.job_id))


def nothing(job: ConsumerJob, hold: Any) -> tuple[()]:
    """Do nothing: the handler of jobs of kind noop."""
    return ()


def broken_promises(engine: Engine) -> list[str]:
    """Return what does not hold, by SQL alone; nothing in a healthy database."""
    with engine.connect() as db:
        return [
            f"{what}: {row[0]}"
            for what, sql in PROMISES.items()
            for row in db.execute(text(sql))
        ]


def seconds_of(clock: HandClock) -> Any:
    """Return the time since boot that goes with a clock in the test's hand."""

    def elapsed() -> float:
        return (clock.now() - START).total_seconds()

    return elapsed


def queue_of(
    engine: Engine, clock: HandClock, *, owner: str = "me", handler: Any = nothing, **given: Any
) -> JobsQueue:
    """Return a queue for the kinds noop and capture."""
    handlers = given.pop("handlers", {"noop": handler, "capture": handler})
    given.setdefault("wait", lambda _s: None)
    return JobsQueue(
        engine,
        clock=clock,
        handlers=handlers,
        owner=owner,
        elapsed=seconds_of(clock),
        **given,
    )


def add(engine: Engine, clock: HandClock, *ids: str, kind: str = "noop", **given: Any) -> None:
    """Enqueue jobs."""
    with transaction(engine) as tx:
        for job_id in ids:
            jobs.enqueue(tx, job_id=job_id, kind=kind, now=clock.now(), **given)


def capturing(engine: Engine, clock: HandClock, *stories_of: list[str]) -> int:
    """Return a build that captures, whose plan's job is done."""
    build_id = made.capturing(engine, clock, *stories_of)
    with transaction(engine) as tx:
        jobs.end(tx, f"plan:{build_id}", status="done", now=clock.now())
    return build_id


def take_one(engine: Engine, clock: HandClock, *, owner: str = "me") -> Any:
    """Claim the oldest job, by look and take in one transaction."""
    with transaction(engine) as tx:
        now = clock.now()
        seen = claims.look(tx, kinds=["noop", "capture"], now=now, alone=True)
        until = now + timedelta(milliseconds=LEASE_MS)
        holder = claims.Holder(owner)
        return claims.take(tx, seen[0], holder, now=now, lease_until=until) if seen else None


def end(
    engine: Engine,
    clock: HandClock,
    job_id: str,
    attempt: int,
    how: End,
    *,
    owner: str | None = None,
) -> Any:
    """End an attempt, as the clerk or a holder does."""
    with transaction(engine) as tx:
        return end_attempt(
            tx, job_id=job_id, attempt=attempt, owner=owner, end=how, now=clock.now()
        )


def job_of(engine: Engine, job_id: str) -> Any:
    """Return a job."""
    with engine.connect() as db:
        found = jobs.get(db, job_id)
    assert found
    return found


def attempts_of(engine: Engine, job_id: str) -> list[AttemptRow]:
    """Return a job's attempts."""
    with engine.connect() as db:
        return list(attempts.of_job(db, job_id))


def outcomes_of(engine: Engine, job_id: str) -> list[str | None]:
    """Return how a job's attempts ended, None for an open one."""
    return [one.outcome for one in attempts_of(engine, job_id)]
