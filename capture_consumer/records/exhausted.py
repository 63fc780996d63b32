"""A job was given up: the lifecycle row that says so, in the same transaction (JOB-70).

Whoever gives a job up writes it, also the reap, which may take no build's lock. The
row's hook fails the shard or build of a capture job; where that is done already it
finds nothing left to do.
"""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from capture_consumer.consumer.budget import GiveUp
from capture_consumer.consumer.safetext import safe_text
from capture_consumer.database.transaction import Tx
from capture_consumer.tables import attempts, build_views, lifecycle_events
from capture_consumer.tables.jobs import JobRow

__all__ = ["tell_lifecycle"]


def tell_lifecycle(tx: Tx, job: JobRow, up: GiveUp, *, now: datetime) -> None:
    """Write the row `job_exhausted`, with how often the job ended in which way (JOB-64).

    A job without a build, or of one that is gone, has nobody to tell.
    """
    build = None if job.build_id is None else build_views.get(tx, job.build_id)
    if build is None:
        return
    ends = Counter(str(one.outcome) for one in attempts.of_job(tx, job.id) if one.outcome)
    payload: Mapping[str, Any] = {
        "job_id": job.id,
        "kind": job.kind,
        "shard_id": job.shard_id,
        "code": up.code,
        "text": safe_text(up.text),
        "attempts": job.attempt,
        "ends": dict(ends),
    }
    lifecycle_events.insert(
        tx,
        build_id=build.id,
        project_id=build.project.id,
        rev=build.rev,
        hooks=[("job_exhausted", job.id, payload)],
        now=now,
    )
