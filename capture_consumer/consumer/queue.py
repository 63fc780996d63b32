"""The verbs in which one queue differs from another; a claimed row.

Claim and settle are one transaction each; perform has none (decision 2). A queue
that needs another flow than `work` writes its own from the same parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from capture_consumer.consumer.outcome import Outcome

__all__ = ["Claim", "Queue"]

Work = TypeVar("Work")
WorkOut = TypeVar("WorkOut")
Effects = TypeVar("Effects")


@dataclass(frozen=True, slots=True)
class Claim(Generic[Work]):
    """A row in hand. `key` names it to people; `attempt` is the number of the claim."""

    key: str
    attempt: int
    work: Work


class Queue(Protocol[WorkOut, Effects]):
    """What `work` needs of a queue."""

    @property
    def name(self) -> str:
        """Return the queue's name, for the log."""
        ...

    def claim(self, *, limit: int) -> Sequence[Claim[WorkOut]]:
        """Take up to `limit` rows that are due, oldest first; never blocks for work."""
        ...

    def perform(self, claim: Claim[WorkOut]) -> Outcome[Effects]:
        """Do it, with no transaction open.

        Raises:
            LeaseLost: the row is no longer ours; nothing may be settled.
        """
        ...

    def settle(self, claim: Claim[WorkOut], outcome: Outcome[Effects]) -> bool:
        """Write the end and the effects in one transaction, behind the fence.

        False means that the row is not ours any more; nothing was written (COM-7).
        """
        ...
