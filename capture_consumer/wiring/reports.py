"""What a supervisor is told of a consumer's claims, and what the drain asks of them.

Implements `consumer.observer.Observer` over the channel; without a supervisor (started
by hand) nobody is told.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from capture_consumer.consumer.job import ConsumerJob
from capture_consumer.ipc.channel import Channel

__all__ = ["Reports"]


@dataclass
class Reports:
    """Tells the supervisor, in the thread that works."""

    channel: Channel | None
    elapsed: Callable[[], float]
    left: str | None = field(default=None, init=False)
    """Why this process has to leave: its lease was lost, or its end could not be written."""
    _begun_s: float | None = field(default=None, init=False)
    _index: int = field(default=0, init=False)
    _of: int = field(default=0, init=False)

    def claimed(self, job: ConsumerJob) -> None:
        """Say what is held, before its work begins."""
        self._begun_s, self._index, self._of = self.elapsed(), 0, 0
        if self.channel is not None:
            self.channel.claim(
                job.job_id,
                job.attempt,
                kind=job.kind,
                step=job.step,
                build_id=job.build_id,
                shard_id=job.shard_id,
                suspect=job.suspect,
            )

    def story(
        self,
        job: ConsumerJob,  # noqa: ARG002 - the channel knows what is held
        story: str,
        *,
        snapshot_id: int,
        index: int,
        of: int,
        deadline_s: float,
    ) -> None:
        """Say which story begins, before it begins (SUP-23)."""
        self._index, self._of = index, of
        if self.channel is not None:
            self.channel.story(snapshot_id, story, index, of, deadline_s)

    def touched(self, job: ConsumerJob) -> None:  # noqa: ARG002 - as above
        """Say that the work gets on."""
        if self.channel is not None:
            self.channel.touched()

    def settled(self, job: ConsumerJob, end: str) -> None:
        """Say that an end was written."""
        self._begun_s = None
        if self.channel is not None:
            self.channel.settled(job.job_id, job.attempt, end)

    def released(self, job: ConsumerJob) -> None:
        """Say that the job was let go."""
        self._begun_s = None
        if self.channel is not None:
            self.channel.released(job.job_id, job.attempt)

    def lost(self, job: ConsumerJob) -> None:  # noqa: ARG002 - as above
        """Note that this process must leave (R4)."""
        self.left = "lost"

    def remaining_s(self) -> float:
        """Return how long the job in hand will take, by its stories so far; 0 without one."""
        if self._begun_s is None or self._index == 0:
            return 0.0
        a_story_s = (self.elapsed() - self._begun_s) / self._index
        return a_story_s * max(0, self._of - self._index)

    def say_paused(self) -> None:
        """Answer a PAUSE: nothing is held."""
        if self.channel is not None:
            self.channel.paused()

    def ask_alone(self, job_id: str) -> None:
        """Ask for the host."""
        if self.channel is not None:
            self.channel.alone(job_id)
