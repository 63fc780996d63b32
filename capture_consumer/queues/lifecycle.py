"""The queue of lifecycle events: hooks of a build's move, each with its own retries.

A flush right after a commit does most of them; the sweep is the guarantee. A hook
is pure: it acts on the build as it is now, and what it returns is written together
with its row's `succeeded`, if the build has not moved meanwhile (LIFE-42, LIFE-44).
"""

import json
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import structlog

from capture_consumer.builds.effects import NOTHING
from capture_consumer.clock import Clock, boot_seconds
from capture_consumer.consumer.job import Backoff
from capture_consumer.consumer.outcome import Done, Failed, Outcome, Released
from capture_consumer.consumer.queue import Claim
from capture_consumer.consumer.retry import half_jittered_ms
from capture_consumer.consumer.work import work
from capture_consumer.database.engine import Engine
from capture_consumer.database.transaction import again, reading
from capture_consumer.errors import LeaseLost, PermanentError, code_of
from capture_consumer.hooks import HOOKS, Hook
from capture_consumer.records.hook_ends import NO_BUILD, Decision, end_event
from capture_consumer.tables import build_views, hook_claims
from capture_consumer.tables.hook_claims import EventRow

__all__ = ["LifecycleQueue"]

log = structlog.get_logger()
BACKOFF = Backoff(base_ms=2_000, max_ms=300_000)
BATCHES_MAX = 20
RUNS_MAX = 3
SLOW_S = 5.0
CHANCE = random.SystemRandom()


class LifecycleQueue:
    """Rows of `lifecycle_events`, claimed in batches.

    Args:
        engine: the database.
        clock: the source of instants.
        hooks: by hook type; ours unless a test gives others (LIFE-24).
        max_attempts: how often a row is tried.
        stale_ms: how long a row may be running before it is put back.
        batch: how many rows are claimed at once.
        retry_unknown_ms: when a hook of an unknown type is looked at again, and for how
            long it is: a newer version may be rolling out (LIFE-26).
        unknown_grace_ms: from the row's creation.
        draw: chance in [0, 1).
        elapsed: seconds, of which only differences mean anything.
    """

    name = "lifecycle"

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock,
        hooks: Mapping[str, Hook] = HOOKS,
        max_attempts: int = 5,
        stale_ms: int = 60_000,
        batch: int = 32,
        retry_unknown_ms: int = 15_000,
        unknown_grace_ms: int = 600_000,
        draw: Callable[[], float] = CHANCE.random,
        elapsed: Callable[[], float] = boot_seconds,
    ) -> None:
        self._engine, self._clock, self._hooks = engine, clock, hooks
        self._max_attempts, self._stale_ms, self._batch = max_attempts, stale_ms, batch
        self._retry_unknown_ms, self._unknown_grace_ms = retry_unknown_ms, unknown_grace_ms
        self._draw, self._elapsed = draw, elapsed
        self._is_stopped = threading.Event()
        self._is_sweeping = threading.Lock()

    def claim(self, *, limit: int) -> Sequence[Claim[EventRow]]:
        """Take up to `limit` due rows; after a stop none (LIFE-21)."""
        if self._is_stopped.is_set():
            return []
        now, most = self._clock.now(), self._max_attempts
        with reading(self._engine) as tx:
            if not hook_claims.is_due(tx, max_attempts=most, now=now):
                return []
        rows = again(
            self._engine,
            lambda tx: hook_claims.claim(tx, limit=limit, max_attempts=most, now=now),
        )
        return [Claim(f"event {row.id} {row.hook_type}", row.claim_no, row) for row in rows]

    def perform(self, claim: Claim[EventRow]) -> Outcome[Decision]:
        """Run the hook on the build as it is now.

        Raises:
            LeaseLost: the row was reclaimed before its turn came (LIFE-22).
        """
        row = claim.work
        if not again(self._engine, lambda tx: hook_claims.touch(tx, row, self._clock.now())):
            raise LeaseLost(queue=self.name, key=claim.key, attempt=claim.attempt)
        hook = self._hooks.get(row.hook_type)
        if hook is None:
            return self._unknown(row)
        payload = payload_of(row)
        if payload is None:
            log.error("life.bad_payload", id=row.id, hook_type=row.hook_type)
            return Failed("bad_payload", "the payload is not a JSON object", permanent=True)
        return self._decide(row, hook, payload)

    def settle(self, claim: Claim[EventRow], outcome: Outcome[Decision]) -> bool:
        """Write what became of a row; False when it is not ours, or could not be written.

        A row that could not be written stays running until it is stale (LIFE-37).
        """
        row = claim.work
        try:
            for _ in range(RUNS_MAX):
                written = self._write(row, outcome)
                if written is not None:
                    return written
                outcome = self.perform(claim)
            moved = Failed("build_moved", "the build moved each time the hook looked")
            return bool(self._write(row, moved))
        except LeaseLost:
            return False
        except Exception as error:
            log.warning("life.not_recorded", id=row.id, error=str(error))
            return False

    def flush(self, limit: int = 32) -> int:
        """Do one batch right after a commit; never raises (LIFE-11, LIFE-12)."""
        try:
            return work(self, limit=limit, stopping=self._is_stopped.is_set)
        except Exception:
            log.exception("life.flush_failed")
            return 0

    def sweep(self) -> int:
        """Do batches while they are full, at most 20; one sweep at a time (LIFE-16)."""
        if not self._is_sweeping.acquire(blocking=False):
            return 0
        try:
            total = 0
            for _ in range(BATCHES_MAX):
                found = work(self, limit=self._batch, stopping=self._is_stopped.is_set)
                total += found
                if found < self._batch:
                    break
            return total
        finally:
            self._is_sweeping.release()

    def reclaim(self) -> int:
        """Put back rows whose holder never said how it ended; return how many (LIFE-17)."""
        now = self._clock.now()
        before = now - timedelta(milliseconds=self._stale_ms)
        most = self._max_attempts
        number = again(
            self._engine,
            lambda tx: hook_claims.reclaim(tx, stale_before=before, max_attempts=most, now=now),
        )
        if number:
            log.info("life.reclaimed", count=number, stale_ms=self._stale_ms)
        return number

    def tick(self) -> int:
        """Reclaim, then sweep; a failure of one does not prevent the other (LIFE-18)."""
        try:
            self.reclaim()
        except Exception:
            log.warning("life.reclaim_failed", exc_info=True)
        try:
            return self.sweep()
        except Exception:
            log.warning("life.sweep_failed", exc_info=True)
            return 0

    def stop(self) -> None:
        """Claim nothing more; rows claimed and not begun go back uncounted (LIFE-20)."""
        self._is_stopped.set()

    def _write(self, row: EventRow, outcome: Outcome[Decision]) -> bool | None:
        next_ms = half_jittered_ms(BACKOFF, row.attempts - 1, draw=self._draw())
        ending = partial(
            end_event,
            row=row,
            outcome=outcome,
            now=self._clock.now(),
            max_attempts=self._max_attempts,
            retry_ms=next_ms,
        )
        return again(self._engine, ending)

    def _unknown(self, row: EventRow) -> Outcome[Decision]:
        grace = timedelta(milliseconds=self._unknown_grace_ms)
        if self._clock.now() < row.created_at + grace:
            return Released(delay_ms=self._retry_unknown_ms, code="no_handler")
        log.error("life.no_handler", hook_type=row.hook_type, id=row.id)
        return Failed("no_handler", f"there is no hook {row.hook_type}", permanent=True)

    def _decide(
        self, row: EventRow, hook: Hook, payload: Mapping[str, Any]
    ) -> Outcome[Decision]:
        with reading(self._engine) as tx:
            build = build_views.get(tx, row.build_id)
        if build is None:
            return Done(Decision(NO_BUILD, NOTHING))
        began_s = self._elapsed()
        try:
            effects: Any = hook(payload, build)
        except PermanentError as error:
            return Failed(error.code, str(error), permanent=True)
        except Exception as error:
            log.exception("life.handler_raised", hook_type=row.hook_type, id=row.id)
            return Failed(code_of(error), str(error) or type(error).__name__)
        took_s = self._elapsed() - began_s
        if took_s > SLOW_S:
            log.warning("life.slow_hook", hook_type=row.hook_type, ms=round(took_s * 1000))
        if not isinstance(effects, tuple):
            log.error("life.handler_raised", hook_type=row.hook_type, id=row.id)
            return Failed("bad_outcome", f"the hook returned {type(effects).__name__}")
        return Done(Decision(build.rev, effects))


def payload_of(row: EventRow) -> Mapping[str, Any] | None:
    """Return the payload, empty when there is none, None when it cannot be read."""
    try:
        payload = json.loads(row.payload or "{}")
    except ValueError:
        return None
    return payload if isinstance(payload, dict) else None
