"""Claim, perform, settle: the whole flow on one screen."""

from collections.abc import Callable
from typing import TypeVar

import structlog

from capture_consumer.consumer.outcome import Released, word_of
from capture_consumer.consumer.queue import Claim, Queue
from capture_consumer.errors import LeaseLost

__all__ = ["work", "work_one"]

log = structlog.get_logger()
Work = TypeVar("Work")
Effects = TypeVar("Effects")


def never() -> bool:
    """Return False: nobody asks for a stop."""
    return False


def work(
    queue: Queue[Work, Effects], *, limit: int = 1, stopping: Callable[[], bool] = never
) -> int:
    """Claim up to `limit` rows, do them one at a time, return how many there were.

    What was claimed and is not begun when a stop is asked for is released (JOB-112).
    """
    claims = queue.claim(limit=limit)
    for claim in claims:
        if stopping():
            queue.settle(claim, Released())
        else:
            work_one(queue, claim)
    return len(claims)


def work_one(queue: Queue[Work, Effects], claim: Claim[Work]) -> None:
    """Do one claimed row and settle it."""
    with structlog.contextvars.bound_contextvars(
        queue=queue.name, key=claim.key, attempt=claim.attempt
    ):
        try:
            outcome = queue.perform(claim)
        except LeaseLost:
            log.warning("lease_lost")
            return
        if queue.settle(claim, outcome):
            log.info("settled", outcome=word_of(outcome))
        else:
            log.warning("settle_refused", outcome=word_of(outcome))
