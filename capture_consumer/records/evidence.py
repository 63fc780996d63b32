"""What an end leaves on its row, and what earlier rows say of a job: to be counted."""

from collections.abc import Mapping, Sequence
from typing import Any

from capture_consumer.consumer.budget import Counted, Past
from capture_consumer.consumer.outcome import Crashed, End, Failed, Lost, Released, TimedOut
from capture_consumer.consumer.safetext import safe_text
from capture_consumer.tables.attempts import AttemptRow

__all__ = ["Death", "evidence_of", "past_of", "story_of"]

LEASE_EXPIRED = "lease_expired"
Death = Crashed | TimedOut | Lost


def evidence_of(end: End) -> Mapping[str, Any]:
    """Return the columns that say what was seen."""
    match end:
        case Failed():
            return {"code": end.code, "error": safe_text(end.text)}
        case Released():
            return {"code": end.code}
        case Crashed() | TimedOut() | Lost():
            return {
                "code": end.code,
                "error": safe_text(end.text),
                "signal": end.signal,
                "exit_code": end.exit_code,
                "oom": end.oom,
                "peak_rss": end.peak_rss,
                "trace_sha": end.trace_sha,
            }
        case _:
            return {}


def story_of(end: Counted, rows: Sequence[AttemptRow], attempt: int) -> str | None:
    """Return the story in hand at this death, when it is known exactly (SUP-46).

    A job that crashed or was lost before has saved before each story, so its row is
    exact too; every other row is as old as its last touch.
    """
    if not isinstance(end, Death):
        return None
    if end.exact:
        return end.story
    had_died = any(row.outcome in {"crashed", "lost"} for row in rows)
    return (
        next((row.story for row in rows if row.attempt == attempt), None) if had_died else None
    )


def past_of(rows: Sequence[AttemptRow]) -> Sequence[Past]:
    """Return the ended attempts. The reap knows no story exactly, so it blames none."""
    return [
        Past(
            row.attempt,
            row.outcome,
            row.ended_at,
            row.explained,
            None if row.code == LEASE_EXPIRED else row.story,
        )
        for row in rows
        if row.outcome is not None and row.ended_at is not None
    ]
