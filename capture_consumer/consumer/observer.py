"""Who is told what happens to a claim: the supervisor's channel, a host, or nobody."""

from typing import Protocol

from capture_consumer.consumer.job import ConsumerJob

__all__ = ["NoObserver", "Observer"]


class Observer(Protocol):
    """Is told, in the thread that works, after the fact was committed."""

    def claimed(self, job: ConsumerJob) -> None:
        """Hear of a claim, before its work begins."""
        ...

    def story(
        self,
        job: ConsumerJob,
        story: str,
        *,
        snapshot_id: int,
        index: int,
        of: int,
        deadline_s: float,
    ) -> None:
        """Hear of a story before it begins; returns once it is written down (SUP-23)."""
        ...

    def touched(self, job: ConsumerJob) -> None:
        """Hear of progress; an error of this one is told and ignored (JOB-59)."""
        ...

    def settled(self, job: ConsumerJob, end: str) -> None:
        """Hear of an end that was written."""
        ...

    def released(self, job: ConsumerJob) -> None:
        """Hear that the job was let go in good order."""
        ...

    def lost(self, job: ConsumerJob) -> None:
        """Hear that the job is no longer ours, or that its end could not be written."""
        ...


class NoObserver:
    """Listens to nothing."""

    def claimed(self, job: ConsumerJob) -> None:
        """Do nothing."""

    def story(
        self,
        job: ConsumerJob,
        story: str,
        *,
        snapshot_id: int,
        index: int,
        of: int,
        deadline_s: float,
    ) -> None:
        """Do nothing."""

    def touched(self, job: ConsumerJob) -> None:
        """Do nothing."""

    def settled(self, job: ConsumerJob, end: str) -> None:
        """Do nothing."""

    def released(self, job: ConsumerJob) -> None:
        """Do nothing."""

    def lost(self, job: ConsumerJob) -> None:
        """Do nothing."""
