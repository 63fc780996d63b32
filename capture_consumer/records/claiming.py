"""Claim jobs for one process: three tries, a floor under the pick, lost answers asked after.

The transaction is `look` and `take` of `tables.claims`; here is what goes around it.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from capture_consumer.clock import Clock, boot_seconds
from capture_consumer.database.engine import Engine
from capture_consumer.database.transaction import (
    Collided,
    Tx,
    is_unique_violation,
    reading,
    transaction,
)
from capture_consumer.errors import DatabaseAway
from capture_consumer.tables import attempts, claims
from capture_consumer.tables.attempts import OpenAttempt
from capture_consumer.tables.claims import Candidate, Claimed, Floor, Holder

__all__ = ["Claimant"]

log = structlog.get_logger()
TRIES = 3
BEHIND = timedelta(seconds=2)
UNBOUNDED_EVERY_S = 5.0


@dataclass(slots=True)
class Claimant:
    """One process that claims.

    Args:
        engine: the queue's own; handlers never get it (JOB-166).
        clock: the source of due times and leases.
        holder: who claims.
        kinds: what it can do; other kinds are left alone.
        lease_ms: how long a claim is ours without a touch.
        elapsed: seconds since boot.
    """

    engine: Engine
    clock: Clock
    holder: Holder
    kinds: Collection[str]
    lease_ms: int
    elapsed: Callable[[], float] = boot_seconds
    races_lost: int = 0
    _floor: Floor | None = field(default=None, init=False)
    _unbounded_s: float = field(default=float("-inf"), init=False)
    _is_unsure: bool = field(default=False, init=False)

    def claim(self, *, limit: int, alone: bool, granted: bool = False) -> Sequence[Claimed]:
        """Return up to `limit` jobs that are ours now, oldest first; none when none is due.

        Args:
            limit: how many at most.
            alone: whether suspects are among them.
            granted: whether nothing but suspects is.

        Raises:
            DatabaseAway: the database did not answer. Should a claim have taken effect all
                the same, the next call finds it (JOB-154).
        """
        for _ in range(TRIES):
            if self._is_unsure and (found := self._adopt()):
                return found
            if not self._is_worth_writing(limit, alone=alone, granted=granted):
                return []
            taken = self._try(limit, alone=alone, granted=granted)
            if taken is not None:
                return taken
            self.races_lost += 1
            log.debug("queue.claim_raced")
        return []

    def suspect_waits(self) -> bool:
        """Tell whether a suspect is due, for which this process would need the host alone."""
        with reading(self.engine) as tx:
            return claims.suspect_waits(tx, kinds=self.kinds, now=self.clock.now())

    def _try(self, limit: int, *, alone: bool, granted: bool) -> Sequence[Claimed] | None:
        """Pick, mark and insert in one transaction; None when a rival was in the way."""
        try:
            with transaction(self.engine) as tx:
                seen = self._look(tx, limit, alone=alone, granted=granted)
                now = self.clock.now()
                until = now + timedelta(milliseconds=self.lease_ms)
                each = (
                    claims.take(tx, one, self.holder, now=now, lease_until=until)
                    for one in seen
                )
                taken = [one for one in each if one is not None]
        except Collided:
            return None
        except DatabaseAway:
            self._is_unsure = True
            raise
        except Exception as error:
            if not any(is_unique_violation(error, key) for key in claims.KEYS):
                raise
            return None
        if taken and not granted:
            self._floor = Floor(seen[-1].priority, seen[-1].visible_at - BEHIND)
        return taken if taken or not seen else None

    def _is_worth_writing(self, limit: int, *, alone: bool, granted: bool) -> bool:
        """Look without the write lock first, where there is only one (JOB-163)."""
        if self.engine.dialect.name != "sqlite":
            return True
        with reading(self.engine) as tx:
            return bool(self._look(tx, limit, alone=alone, granted=granted))

    def _look(self, tx: Tx, limit: int, *, alone: bool, granted: bool) -> Sequence[Candidate]:
        """Pick above the floor; without one after a miss and every 5 s (JOB-155).

        The floor is of ordinary work: suspects may lie below it, and never move it.
        """
        now_s = self.elapsed()
        if granted:
            now = self.clock.now()
            return claims.look(
                tx, kinds=self.kinds, now=now, alone=alone, granted=True, limit=limit
            )
        floor = self._floor if now_s < self._unbounded_s + UNBOUNDED_EVERY_S else None
        now = self.clock.now()
        if floor is not None:
            above = claims.look(
                tx, kinds=self.kinds, now=now, alone=alone, limit=limit, floor=floor
            )
            if above:
                return above
        self._floor, self._unbounded_s = None, now_s
        return claims.look(tx, kinds=self.kinds, now=now, alone=alone, limit=limit)

    def _adopt(self) -> Sequence[Claimed]:
        """Take up claims of ours whose answer was lost, with a whole lease (Q-36)."""
        with transaction(self.engine) as tx:
            now = self.clock.now()
            until = now + timedelta(milliseconds=self.lease_ms)
            ours = [
                one
                for one in claims.held_by(tx, self.holder.owner)
                if attempts.touch(
                    tx,
                    OpenAttempt(one.job_id, one.attempt, self.holder.owner),
                    lease_until=until,
                    now=now,
                    story=None,
                )
            ]
        self._is_unsure = False
        for one in ours:
            log.warning("queue.claim_adopted", job=one.job_id, attempt=one.attempt)
        return ours
