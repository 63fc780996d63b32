"""What the holder of a job writes: touches, saves, the end; all of it behind the fence."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

import structlog

from capture_consumer.builds.effects import NOTHING, Effects
from capture_consumer.clock import Clock
from capture_consumer.consumer.budget import Limits
from capture_consumer.consumer.job import Backoff, ConsumerJob
from capture_consumer.consumer.outcome import Done, Failed, Outcome, word_of
from capture_consumer.database.engine import Engine
from capture_consumer.database.transaction import Tx, again, reading, transaction
from capture_consumer.errors import DatabaseAway, Unsettled, code_of
from capture_consumer.records import effects as records_effects, order
from capture_consumer.records.ending import Ended, end_attempt, tell
from capture_consumer.tables import attempts, jobs
from capture_consumer.tables.attempts import OpenAttempt

__all__ = ["HeldJob"]

log = structlog.get_logger()
WAITS_S = (0.0, 0.2, 1.0)


@dataclass(frozen=True, slots=True)
class HeldJob:
    """One job in hand, for as long as it is.

    Args:
        engine: the queue's own.
        clock: the source of instants.
        job: the job and the attempt that is ours.
        limits: the budgets.
        wait: waits that many seconds, between tries to settle.
    """

    engine: Engine
    clock: Clock
    job: ConsumerJob
    limits: Limits
    wait: Callable[[float], object]

    @property
    def held(self) -> OpenAttempt:
        """Return who we are to the fence."""
        return OpenAttempt(self.job.job_id, self.job.attempt, self.job.owner)

    def touch(self, story: str | None) -> bool:
        """Prolong the lease by its whole length; False when it is not ours any more."""
        with transaction(self.engine) as tx:
            return self._touch(tx, story)

    def check(self) -> Literal["lost", "cancelled"] | None:
        """Tell whether we have to let go, from our own rows (JOB-54)."""
        with reading(self.engine) as tx:
            return attempts.check(tx, self.held)

    def save(self, effects: Effects, story: str | None = None) -> bool:
        """Write effects while the attempt goes on; also a touch (JOB-168).

        Locks the shard, not the build, unless an effect moves the build. False means that
        the fence did not hold and nothing was written.
        """
        return again(self.engine, lambda tx: self._save(tx, effects, story))

    def settle(self, outcome: Outcome[Effects], *, backoff: Backoff) -> str | None:
        """Write the end and its effects; return the end's word, None if it was not ours.

        Tried three times within the lease, each time after asking whether the last try
        took effect (JOB-75, JOB-154). Effects that cannot be written are a failure of the
        job, not of the database.

        Raises:
            Unsettled: the database could not be reached.
        """
        is_unsure = False
        for pause_s in WAITS_S:
            if pause_s:
                self.wait(pause_s)
            try:
                if is_unsure and (word := self._word_written()):
                    return word if word == word_of(outcome) else None
                ended = self._settle(outcome, backoff)
            except DatabaseAway as error:
                log.error("job.settle_failed", error=str(error))  # noqa: TRY400 - tried again
                is_unsure = True
                continue
            if ended is None and is_unsure:
                return word_of(outcome) if self._word_written() == word_of(outcome) else None
            return None if ended is None else ended.word
        raise Unsettled(f"{self.job.receipt} could not be settled in {len(WAITS_S)} tries")

    def _settle(self, outcome: Outcome[Effects], backoff: Backoff) -> Ended | None:
        try:
            ended = self._end(outcome, backoff)
        except DatabaseAway:
            raise
        except Exception as error:
            if not isinstance(outcome, Done):
                raise
            log.exception("job.settle_failed")
            text = f"what the handler returned could not be written: {error}"
            ended = self._end(Failed(code_of(error), text), backoff)
        if ended is not None:
            tell(ended)
        return ended

    def _end(self, outcome: Outcome[Effects], backoff: Backoff) -> Ended | None:
        """Lock, end the attempt behind the fence, write: one transaction (JOB-85)."""
        effects = outcome.effects if isinstance(outcome, Done) else NOTHING
        now = self.clock.now()
        build_id = self.job.build_id if self.job.kind == "capture" else None
        with transaction(self.engine) as tx:
            order.lock(tx, build_id=build_id, shard_id=self.job.shard_id, effects=effects)
            ended = end_attempt(
                tx,
                job_id=self.job.job_id,
                attempt=self.job.attempt,
                owner=self.job.owner,
                end=outcome,
                now=now,
                limits=self.limits,
                backoff=backoff,
            )
            if ended is not None and ended.outcome == "done":
                records_effects.write(tx, effects, now=now)
            return ended

    def _save(self, tx: Tx, effects: Effects, story: str | None) -> bool:
        order.lock(tx, build_id=None, shard_id=self.job.shard_id, effects=effects)
        row = jobs.lock(tx, self.job.job_id)
        if row is None or row.status != "running" or row.attempt != self.job.attempt:
            return False
        if not self._touch(tx, story):
            return False
        records_effects.write(tx, effects, now=self.clock.now())
        return True

    def _touch(self, tx: Tx, story: str | None) -> bool:
        now = self.clock.now()
        until = now + timedelta(milliseconds=self.job.lease_ms)
        return attempts.touch(tx, self.held, lease_until=until, now=now, story=story)

    def _word_written(self) -> str | None:
        """Return how our attempt has ended, None while it is open or gone."""
        with reading(self.engine) as tx:
            row = attempts.get(tx, self.job.job_id, self.job.attempt)
        return row.outcome if row is not None and row.owner == self.job.owner else None
