"""A handler's view of its claim: touch, begin, save, and whether to stop.

The handler has no other way to write (JOB-168), and no connection (JOB-166).
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Generic, TypeVar

import structlog

from capture_consumer.consumer.job import ConsumerJob, StopSignal
from capture_consumer.consumer.lease import LeaseKeeper, Stop
from capture_consumer.consumer.observer import Observer
from capture_consumer.errors import Interrupted, LeaseLost

__all__ = ["JobContext"]

log = structlog.get_logger()
EffectsIn_contra = TypeVar("EffectsIn_contra", contravariant=True)


class JobContext(Generic[EffectsIn_contra]):
    """What a handler is given; implements `consumer.job.Hold`.

    Args:
        job: the job in hand.
        keeper: looks after its lease.
        stop: says when to let go.
        observer: is told of each story before it begins.
        write: writes effects behind the fence, names the story in hand, and prolongs
            the lease; False when the fence did not hold.
    """

    def __init__(
        self,
        job: ConsumerJob,
        *,
        keeper: LeaseKeeper,
        stop: Stop,
        observer: Observer,
        write: Callable[[EffectsIn_contra, str | None], bool],
    ) -> None:
        self._job, self._keeper, self._stop = job, keeper, stop
        self._observer, self._write = observer, write
        self._story: str | None = None

    @property
    def stop_soon(self) -> StopSignal:
        """Return the signal that says: stop at the next safe place."""
        return self._stop

    def touch(self) -> None:
        """Say that the work is getting on."""
        self._keeper.touch(self._story)
        self._tell_progress()

    def begin(
        self, story: str, *, snapshot_id: int, index: int, of: int, deadline_s: float
    ) -> None:
        """Write down, before it begins, which story is in hand.

        Raises:
            LeaseLost: the claim is no longer ours.
            Interrupted: the claim has to be let go; save what is left and let it pass.
        """
        self._refuse_when_lost()
        if self._stop.why is not None:
            raise Interrupted(self._stop.why)
        self._story = story
        self._observer.story(
            self._job,
            story,
            snapshot_id=snapshot_id,
            index=index,
            of=of,
            deadline_s=deadline_s,
        )
        self._keeper.touch(story)

    def save(self, effects: EffectsIn_contra) -> None:
        """Have results written now. A drain does not forbid it; a cancel and a loss do.

        Raises:
            LeaseLost: the claim is no longer ours; nothing was written.
            Interrupted: the job was cancelled; nothing was written.
        """
        self._refuse_when_lost()
        if self._stop.why == "cancelled":
            raise Interrupted("cancelled")
        sent_s = self._keeper.elapsed()
        if self._write(effects, self._story):
            self._keeper.written(sent_s)
            self._tell_progress()
            return
        if self._keeper.row.check() == "cancelled":
            self._stop.set("cancelled")
            raise Interrupted("cancelled")
        self._stop.set("lost")
        self._refuse_when_lost()

    def keep_alive(self, *, at_most_ms: int) -> AbstractContextManager[None]:
        """Touch by itself around a step known to be silent, for at most this long."""
        return self._keeper.silent(at_most_ms=at_most_ms)

    def _refuse_when_lost(self) -> None:
        if self._stop.why == "lost":
            raise LeaseLost(queue="jobs", key=self._job.job_id, attempt=self._job.attempt)

    def _tell_progress(self) -> None:
        try:
            self._observer.touched(self._job)
        except Exception:
            log.warning("job.on_progress_failed", exc_info=True)
