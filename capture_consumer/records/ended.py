"""What an end came to, as data and in the log."""

from dataclasses import dataclass
from typing import Literal

import structlog

from capture_consumer.consumer.outcome import Word
from capture_consumer.tables.jobs import JobRow

__all__ = ["CameTo", "Ended", "tell"]

log = structlog.get_logger()
CameTo = Literal[
    "done",
    "cancelled",
    "requeued",
    "story-failed",
    "shard-failed",
    "finalized",
    "failed",
    "skipped",
]


@dataclass(frozen=True, slots=True)
class Ended:
    """What an end came to (JOB-116). `delay_ms` is the wait of a job that goes again."""

    outcome: CameTo
    word: Word
    job: JobRow
    attempt: int
    code: str | None = None
    text: str | None = None
    story: str | None = None
    delay_ms: int = 0


def tell(ended: Ended) -> None:
    """Log what an end came to, after its commit (SUP-28, JOB-86, JOB-88)."""
    job = ended.job
    facts = {
        "job": job.id,
        "kind": job.kind,
        "build": job.build_id,
        "shard": job.shard_id,
        "attempts": ended.attempt,
        "outcome": ended.outcome,
        "code": ended.code,
        "text": ended.text,
    }
    if ended.outcome == "story-failed":
        log.error("crash.story_failed", story=ended.story, **facts)
    elif ended.outcome in {"shard-failed", "finalized", "failed"}:
        log.error("job.failed_for_good", **facts)
    elif ended.outcome == "requeued":
        log.warning("job.retried", delay_ms=ended.delay_ms, **facts)
