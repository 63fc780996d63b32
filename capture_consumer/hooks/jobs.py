"""The hooks about jobs: `cancel_jobs` finds stragglers, `job_exhausted` tells the build.

Both are conditional and may come late or twice: what is over is left alone.
"""

from collections.abc import Mapping
from typing import Any

from capture_consumer.builds.effects import NOTHING, CancelJobs, Effects, GiveUp
from capture_consumer.builds.facts import BuildFact
from capture_consumer.builds.phases import OPEN

__all__ = ["cancel_jobs", "job_exhausted"]


def cancel_jobs(_payload: Mapping[str, Any], build: BuildFact) -> Effects:
    """End what is still open of a build that ended without a verdict (BUILD-16)."""
    if build.phase in OPEN or build.phase == "finished":
        return NOTHING
    return (CancelJobs(build.id),)


def job_exhausted(payload: Mapping[str, Any], build: BuildFact) -> Effects:
    """Fail the shard or the build of a capture job that was given up (JOB-118, JOB-119).

    A job of another kind fails alone (R1).

    Args:
        payload: `kind`, `shard_id` (or none), `code` and `text` of the job.
        build: the job's build as it is now.
    """
    if payload.get("kind") != "capture" or build.phase not in OPEN:
        return NOTHING
    code = str(payload.get("code") or "lost")
    text = str(payload.get("text") or "a job of this build was given up")
    return (GiveUp(build.id, payload.get("shard_id"), code, text),)
