"""The queue of jobs: claims by inserting the attempt, performs by the kind's handler.

One job at a time, held under a lease that a thread looks after beside the handler.
A holder that lost its lease, or could not write an end, is not fit to go on:
`leaving` says so, and its process leaves (R4).
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any, Literal

import structlog

from capture_consumer.builds.effects import Effects
from capture_consumer.clock import Clock, boot_seconds
from capture_consumer.consumer.budget import BACKOFF, Limits
from capture_consumer.consumer.context import JobContext
from capture_consumer.consumer.job import Backoff, ConsumerJob, KindHandler
from capture_consumer.consumer.kinds import JobHandlers, resolved
from capture_consumer.consumer.lease import LeaseKeeper, Pace, Stop
from capture_consumer.consumer.observer import NoObserver, Observer
from capture_consumer.consumer.outcome import Cancelled, Failed, Outcome, let_go, perform
from capture_consumer.consumer.payload import decode
from capture_consumer.consumer.queue import Claim
from capture_consumer.database.engine import Engine
from capture_consumer.errors import LeaseLost, Unsettled
from capture_consumer.metrics import Metrics, NoMetrics
from capture_consumer.records.claiming import Claimant
from capture_consumer.records.holding import HeldJob
from capture_consumer.tables.claims import Claimed, Holder

__all__ = ["JobsQueue"]

log = structlog.get_logger()
NEVER_SET = threading.Event()


class JobsQueue:
    """Jobs of the kinds that have a handler, claimed for one process.

    Args:
        engine: this queue's own; handlers never get it (JOB-166).
        clock: the source of instants (COM-1).
        handlers: by kind; a function, a `KindHandler`, or "package.module:name".
        owner: the UUID of this process's life; host, slot, pid and incarnation are for
            people and for the clerk.
        max_attempts: how many failures a job has (JOB-16).
        observer: is told of claims, stories and ends.
        overdue: called when a handler does not end after a loss or a cancel; the process
            has to go (JOB-98).
        elapsed, wait, draw: seconds since boot; a pause; chance in [0, 1).

    Raises:
        ValueError: a handler's name leads nowhere, or the numbers keep no lease.
    """

    name = "jobs"

    def __init__(
        self,
        engine: Engine,
        *,
        clock: Clock,
        handlers: JobHandlers,
        owner: str,
        host: str | None = None,
        slot: int | None = None,
        pid: int | None = None,
        incarnation: str | None = None,
        lease_ms: int = 60_000,
        touch_every_ms: int = 15_000,
        check_ms: int = 5_000,
        margin_ms: int = 5_000,
        cancel_grace_ms: int = 10_000,
        max_attempts: int = 3,
        backoff: Backoff = BACKOFF,
        observer: Observer | None = None,
        overdue: Callable[[], None] | None = None,
        metrics: Metrics | None = None,
        elapsed: Callable[[], float] = boot_seconds,
        wait: Callable[[float], object] = NEVER_SET.wait,
    ) -> None:
        self.alone = True
        """Whether suspects may be claimed: the supervisor's GRANTED, else alone anyway."""
        self.granted = False
        """Whether others stand back for us: then nothing but a suspect is claimed."""
        self.leaving: Literal["lost", "unsettled"] | None = None
        """Why this process must leave, if it must."""
        self._engine, self._clock, self._elapsed, self._wait = engine, clock, elapsed, wait
        self._handlers, self._backoff = resolved(handlers), backoff
        self._observer, self._metrics = observer or NoObserver(), metrics or NoMetrics()
        self._overdue, self._limits = overdue, Limits(failures=max_attempts)
        self._pace = Pace(lease_ms, touch_every_ms, check_ms, margin_ms, cancel_grace_ms)
        kinds, holder = list(self._handlers), Holder(owner, host, slot, pid, incarnation)
        self._claimant = Claimant(engine, clock, holder, kinds, lease_ms, elapsed=elapsed)
        self._sent_s, self._is_letting_go = elapsed(), False
        self._stop: Stop | None = None

    def claim(self, *, limit: int = 1) -> Sequence[Claim[ConsumerJob]]:
        """Take the oldest job that is due; the observer hears of it before its work begins."""
        self._sent_s = self._elapsed()
        claimed = self._claimant.claim(limit=limit, alone=self.alone, granted=self.granted)
        jobs = [self._job_of(one) for one in claimed]
        for job in jobs:
            self._observer.claimed(job)
            log.debug("queue.claimed", job=job.job_id, attempt=job.attempt)
        self._metrics.add("claims_total", len(jobs), queue=self.name)
        return [Claim(f"job {job.job_id}", job.attempt, job) for job in jobs]

    def perform(self, claim: Claim[ConsumerJob]) -> Outcome[Effects]:
        """Run the kind's handler beside a keeper of the lease.

        Raises:
            LeaseLost: the lease is lost, or can no longer be proven; nothing may be written.
        """
        job, handler = claim.work, self._handlers[claim.work.kind]
        if not self._is_accepted(job, handler):
            log.warning("job.malformed", attempts=job.attempts)
            return Failed("malformed", "malformed job", permanent=True)
        stop, held = Stop(), self._held(job)
        keeper = LeaseKeeper(
            held,
            stop,
            sent_s=self._sent_s,
            pace=self._pace,
            elapsed=self._elapsed,
            overdue=self._overdue,
        )
        context: JobContext[Effects] = JobContext(
            job, keeper=keeper, stop=stop, observer=self._observer, write=held.save
        )
        self._stop = stop
        if self._is_letting_go:
            stop.set("released")
        log.info("job.picked_up", kind=job.kind, build_id=job.build_id, step=job.step)
        keeper.start()
        try:
            outcome: Outcome[Effects] = perform(lambda: handler.run(job, context))
        except LeaseLost:
            self._abandon(job, handler, stop)
            raise
        finally:
            self._stop = None
            keeper.close()
        return self._unless_abandoned(job, handler, stop, outcome)

    def settle(self, claim: Claim[ConsumerJob], outcome: Outcome[Effects]) -> bool:
        """Write the end and the effects behind the fence; False when the job isn't ours.

        Never raises for a database that is away: the process then has to leave, and the
        attempt ends `lost` (JOB-75).
        """
        job = claim.work
        backoff = self._handlers[job.kind].backoff or self._backoff
        try:
            word = self._held(job).settle(outcome, backoff=backoff)
        except Unsettled as error:
            log.error("job.unsettled", job=job.job_id, error=str(error))  # noqa: TRY400
            self.leaving = "unsettled"
            self._observer.lost(job)
            return False
        if word is None:
            self._leave_lost(job)
            return False
        if word == "released":
            self._observer.released(job)
        else:
            self._observer.settled(job, word)
        self._metrics.add("settled_total", queue=self.name, end=word)
        return True

    def let_go(self) -> None:
        """Ask for the job in hand, and any later one, to be released (JOB-100, JOB-113)."""
        self._is_letting_go = True
        stop = self._stop
        if stop is not None:
            stop.set("released")

    def suspect_waits(self) -> bool:
        """Tell whether a suspect is due; whoever finds one asks for the host (SUP-43)."""
        return self._claimant.suspect_waits()

    def _job_of(self, claimed: Claimed) -> ConsumerJob:
        payload = decode(claimed.payload)
        return ConsumerJob(
            job_id=claimed.job_id,
            kind=claimed.kind,
            attempt=claimed.attempt,
            owner=self._claimant.holder.owner,
            step=claimed.step,
            build_id=claimed.build_id,
            shard_id=claimed.shard_id,
            failures=claimed.failures,
            max_attempts=self._limits.failures,
            suspect=claimed.suspect,
            lease_ms=self._pace.lease_ms,
            data=payload.data,
            request_id=payload.request_id,
            traceparent=payload.traceparent,
        )

    def _held(self, job: ConsumerJob) -> HeldJob:
        return HeldJob(self._engine, self._clock, job, self._limits, self._wait)

    def _is_accepted(self, job: ConsumerJob, handler: KindHandler[Any]) -> bool:
        """Ask the handler; an explicit False refuses, and so does raising (JOB-79, JOB-80)."""
        try:
            return handler.accepts is None or handler.accepts(job) is not False
        except Exception:
            log.warning("job.accepts_raised", exc_info=True)
            return False

    def _unless_abandoned(
        self,
        job: ConsumerJob,
        handler: KindHandler[Any],
        stop: Stop,
        outcome: Outcome[Effects],
    ) -> Outcome[Effects]:
        """Return the outcome, unless a loss or a cancel came first (JOB-83)."""
        if stop.why == "lost":
            self._abandon(job, handler, stop)
            raise LeaseLost(queue=self.name, key=job.job_id, attempt=job.attempt)
        if stop.why == "cancelled":
            self._abandon(job, handler, stop)
            return Cancelled()
        return let_go(outcome) if stop.why == "released" else outcome

    def _abandon(self, job: ConsumerJob, handler: KindHandler[Any], stop: Stop) -> None:
        """Tell the handler and whoever listens that the job was taken away (JOB-95)."""
        if handler.cancel is not None:
            try:
                handler.cancel(job)
            except Exception:
                log.warning("job.cancel_failed", exc_info=True)
        if stop.why == "cancelled":
            log.info("job.cancelled")
        else:
            self._leave_lost(job)

    def _leave_lost(self, job: ConsumerJob) -> None:
        log.warning("job.lost", job=job.job_id, attempt=job.attempt)
        self._metrics.add("lease_lost_total", queue=self.name)
        self.leaving = self.leaving or "lost"
        self._observer.lost(job)
