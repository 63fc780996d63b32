"""Write what became of a hook: its effects with its row's end, in one transaction (LIFE-42)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from capture_consumer.builds.effects import Effects
from capture_consumer.consumer.outcome import Cancelled, Done, Failed, Outcome, Released
from capture_consumer.database.transaction import Tx
from capture_consumer.records import effects as records_effects, order
from capture_consumer.tables import builds, hook_claims
from capture_consumer.tables.hook_claims import EventRow

__all__ = ["NO_BUILD", "Decision", "end_event"]

NO_BUILD = -1
"""The `rev` of a build that is gone."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a hook wants written, and the `rev` of the build that it looked at."""

    rev: int
    effects: Effects


def end_event(
    tx: Tx,
    *,
    row: EventRow,
    outcome: Outcome[Decision],
    now: datetime,
    max_attempts: int,
    retry_ms: int,
) -> bool | None:
    """Write one outcome; False when the row is not ours, None when the build has moved.

    None means that nothing was written and the hook has to look again (LIFE-44).
    """
    match outcome:
        case Done(effects=decision):
            return succeed(tx, row, decision, now=now)
        case Failed():
            return fail(tx, row, outcome, now=now, max_attempts=max_attempts, retry_ms=retry_ms)
        case Released(delay_ms=delay_ms):
            next_at = now + timedelta(milliseconds=delay_ms) if delay_ms else None
            return hook_claims.give_back(tx, row, now=now, next_at=next_at)
        case Cancelled():
            return hook_claims.give_back(tx, row, now=now)


def succeed(tx: Tx, row: EventRow, decision: Decision, *, now: datetime) -> bool | None:
    """Lock in order, compare the build's rev, write the effects, then the row (LIFE-31)."""
    order.lock(tx, build_id=row.build_id, shard_id=None, effects=decision.effects)
    build = builds.lock(tx, row.build_id)
    if (NO_BUILD if build is None else build.rev) != decision.rev:
        return None
    records_effects.write(tx, decision.effects, now=now)
    if hook_claims.settle(tx, row, status="succeeded", now=now):
        return True
    tx.rollback()
    return False


def fail(
    tx: Tx, row: EventRow, failed: Failed, *, now: datetime, max_attempts: int, retry_ms: int
) -> bool:
    """Put the row back with a wait, or end it when it is hopeless or at its cap (LIFE-33)."""
    if failed.permanent or row.attempts >= max_attempts:
        made = f"{row.attempts} of {max_attempts} attempts made; the last one: {failed.text}"
        reason = failed.text if failed.permanent else made
        return hook_claims.settle(
            tx, row, status="failed", now=now, code=failed.code, reason=reason
        )
    return hook_claims.settle(
        tx,
        row,
        status="pending",
        now=now,
        next_at=now + timedelta(milliseconds=retry_ms),
        code=failed.code,
        reason=failed.text,
    )
