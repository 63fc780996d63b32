"""The kind capture: plan, shard, reduce, told apart by the job's step (JOB-146).

Each step is one function that gets facts and returns effects; what it needs beside
them is in `tools.Tools`. None of them writes a row.
"""

from collections.abc import Callable

from capture_consumer.builds.effects import Effects
from capture_consumer.builds.facts import Facts
from capture_consumer.clock import Clock, boot_seconds
from capture_consumer.consumer.job import ConsumerJob, Hold
from capture_consumer.errors import PermanentError
from capture_consumer.handlers.capture import plan, reduce, shard
from capture_consumer.handlers.capture.tools import Blobs, Camera, Tools

__all__ = ["CaptureHandler"]

STEPS: dict[str, Callable[[Tools, ConsumerJob, Hold[Effects]], Effects]] = {
    "plan": plan.run,
    "shard": shard.run,
    "reduce": reduce.run,
}


class CaptureHandler:
    """What does the jobs of the kind capture.

    Args:
        facts: what can be asked of the rows.
        store: where bytes are kept by their hash.
        camera: called when a job needs one; None in a consumer without a browser. Whoever
            gives it keeps the camera from job to job, and ends it.
        clock: the instants of tries.
        elapsed: seconds since whenever, for the pace of saves.
    """

    def __init__(
        self,
        facts: Facts,
        store: Blobs,
        camera: Callable[[], Camera] | None,
        *,
        clock: Clock,
        elapsed: Callable[[], float] = boot_seconds,
    ) -> None:
        self.tools = Tools(facts, store, camera, clock, elapsed)

    def accepts(self, job: ConsumerJob) -> bool:
        """Tell whether a job is well formed (JOB-79)."""
        whole = job.build_id is not None and (job.step != "shard" or job.shard_id is not None)
        return whole and job.step in STEPS

    def run(self, job: ConsumerJob, hold: Hold[Effects]) -> Effects:
        """Do the job's step; return what is to be written."""
        if job.step is None:
            raise PermanentError("malformed", "A capture job has no step.")
        return STEPS[job.step](self.tools, job, hold)
