"""Plug-ins of lifecycle: what follows from a build's state (pure).

A hook gets the payload of its row and the build as it is now, and returns
effects; the queue writes them with the row's `succeeded`. Raising
`PermanentError` fails the row, anything else tries it again (LIFE-29 to LIFE-34).
"""

from collections.abc import Callable, Mapping
from typing import Any

from capture_consumer.builds.effects import Effects
from capture_consumer.builds.facts import BuildFact
from capture_consumer.hooks.jobs import cancel_jobs, job_exhausted
from capture_consumer.hooks.supersede import supersede_older

__all__ = ["HOOKS", "Hook"]

Hook = Callable[[Mapping[str, Any], BuildFact], Effects]

HOOKS: Mapping[str, Hook] = {
    "cancel_jobs": cancel_jobs,
    "job_exhausted": job_exhausted,
    "supersede_older": supersede_older,
}
