"""Who holds which row of `lifecycle_events`: claim, touch, settle, give back, reclaim.

Every write of a holder names the row's `claim_no` (LIFE-22): one that was
reclaimed meanwhile changes nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import and_, literal, or_, select, update

from capture_consumer.consumer.safetext import safe_text
from capture_consumer.database.transaction import Tx
from capture_consumer.tables.lifecycle_events import lifecycle_events

__all__ = [
    "EventRow",
    "claim",
    "exhausted",
    "give_back",
    "is_due",
    "reclaim",
    "retry",
    "settle",
    "touch",
]

PENDING = literal("pending", literal_execute=True)
RUNNING = literal("running", literal_execute=True)
FAILED = literal("failed", literal_execute=True)
IS_PENDING = lifecycle_events.c.status == PENDING
IS_RUNNING = lifecycle_events.c.status == RUNNING
COLUMNS = (
    lifecycle_events.c.id,
    lifecycle_events.c.project_id,
    lifecycle_events.c.build_id,
    lifecycle_events.c.build_rev,
    lifecycle_events.c.hook_type,
    lifecycle_events.c.key,
    lifecycle_events.c.payload,
    lifecycle_events.c.attempts,
    lifecycle_events.c.claim_no,
    lifecycle_events.c.created_at,
)


@dataclass(frozen=True, slots=True)
class EventRow:
    """A claimed row: one hook of one move."""

    id: int
    project_id: int | None
    build_id: int
    build_rev: int
    hook_type: str
    key: str
    payload: str | None
    attempts: int
    claim_no: int
    created_at: datetime


def claim(tx: Tx, *, limit: int, max_attempts: int, now: datetime) -> Sequence[EventRow]:
    """Set up to `limit` due rows running, oldest first, and return them (LIFE-9).

    A row waits for an earlier open one of its build and hook type (LIFE-10).
    """
    earlier = lifecycle_events.alias("earlier")
    stands_before = select(earlier.c.id).where(
        earlier.c.build_id == lifecycle_events.c.build_id,
        earlier.c.hook_type == lifecycle_events.c.hook_type,
        earlier.c.id < lifecycle_events.c.id,
        earlier.c.status.in_([PENDING, RUNNING]),
    )
    pick = (
        select(lifecycle_events.c.id)
        .where(*due(max_attempts, now))
        .where(~stands_before.exists())
        .order_by(lifecycle_events.c.id)
        .limit(limit)
        .with_for_update(key_share=True, skip_locked=True)
    )
    picked = tx.execute(pick).scalars().all()
    if not picked:
        return []
    taken = (
        update(lifecycle_events)
        .where(lifecycle_events.c.id.in_(picked), IS_PENDING)
        .values(
            status="running",
            attempts=lifecycle_events.c.attempts + 1,
            claim_no=lifecycle_events.c.claim_no + 1,
            changed_at=now,
        )
        .returning(*COLUMNS)
    )
    return sorted((EventRow(**row) for row in tx.execute(taken).mappings()), key=by_id)


def due(max_attempts: int, now: datetime) -> tuple[Any, ...]:
    """Return the conditions of a row that may be claimed."""
    is_time = or_(lifecycle_events.c.next_at.is_(None), lifecycle_events.c.next_at <= now)
    return (IS_PENDING, is_time, lifecycle_events.c.attempts < max_attempts)


def is_due(tx: Tx, *, max_attempts: int, now: datetime) -> bool:
    """Tell whether some row may be claimed: a look that takes no write lock."""
    some = select(lifecycle_events.c.id).where(*due(max_attempts, now)).limit(1)
    return tx.execute(some).first() is not None


def by_id(row: EventRow) -> int:
    """Return what rows are ordered by."""
    return row.id


def fence(row: EventRow) -> Any:
    """Return the condition that lets only the present holder write."""
    return and_(
        lifecycle_events.c.id == row.id, IS_RUNNING, lifecycle_events.c.claim_no == row.claim_no
    )


def touch(tx: Tx, row: EventRow, now: datetime) -> bool:
    """Start a row's own clock as its turn begins; False when it is no longer ours."""
    touched = update(lifecycle_events).where(fence(row)).values(changed_at=now)
    return tx.execute(touched).rowcount == 1


def settle(
    tx: Tx,
    row: EventRow,
    *,
    status: Literal["succeeded", "failed", "pending"],
    now: datetime,
    next_at: datetime | None = None,
    code: str | None = None,
    reason: str | None = None,
) -> bool:
    """Write what became of a claimed row; False, nothing written, when it isn't ours."""
    told = {"code": code, "reason": None if reason is None else safe_text(reason)}
    values = {"status": status, "next_at": next_at, "changed_at": now} | told
    return tx.execute(update(lifecycle_events).where(fence(row)).values(values)).rowcount == 1


def give_back(tx: Tx, row: EventRow, *, now: datetime, next_at: datetime | None = None) -> bool:
    """Put a claimed row back as if it had not been claimed: uncounted (LIFE-21, COM-11)."""
    values = {"status": "pending", "next_at": next_at, "changed_at": now}
    back = update(lifecycle_events).where(fence(row))
    uncounted = back.values(attempts=lifecycle_events.c.attempts - 1, **values)
    return tx.execute(uncounted).rowcount == 1


def reclaim(tx: Tx, *, stale_before: datetime, max_attempts: int, now: datetime) -> int:
    """End stale rows at their cap, put the others back; return how many there were (LIFE-17).

    Attempts are not reduced. A row at its cap fails with `stale_exhausted` (LIFE-40).
    """
    stale = (IS_RUNNING, lifecycle_events.c.changed_at < stale_before)
    at_cap = lifecycle_events.c.attempts >= max_attempts
    reason = f"no attempt left after {max_attempts}: the last one never said how it ended"
    failed = update(lifecycle_events).where(*stale, at_cap)
    told = {"status": "failed", "code": "stale_exhausted", "reason": reason, "changed_at": now}
    back = update(lifecycle_events).where(*stale)
    ended = tx.execute(failed.values(told)).rowcount
    return ended + tx.execute(back.values(status="pending", changed_at=now)).rowcount


def exhausted(tx: Tx, *, max_attempts: int, limit: int = 100) -> Sequence[EventRow]:
    """Return the rows that were given up, for a person to see (LIFE-39, LIFE-40)."""
    capped = and_(IS_PENDING, lifecycle_events.c.attempts >= max_attempts)
    given_up = select(*COLUMNS).where(or_(lifecycle_events.c.status == FAILED, capped))
    rows = tx.execute(given_up.order_by(lifecycle_events.c.id).limit(limit)).mappings()
    return [EventRow(**row) for row in rows]


def retry(tx: Tx, event_id: int, now: datetime) -> bool:
    """Queue a failed row again, due now, its attempts forgotten (LIFE-41)."""
    failed = (lifecycle_events.c.id == event_id, lifecycle_events.c.status == FAILED)
    values = {"status": "pending", "attempts": 0, "next_at": None, "changed_at": now}
    return tx.execute(update(lifecycle_events).where(*failed).values(values)).rowcount == 1
