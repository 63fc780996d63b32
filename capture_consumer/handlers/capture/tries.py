"""Whether the pictures of one story agree (BUILD-45, BUILD-47, CAP-21).

Each time a picture is taken is a try, and what a try says is a vote. This decides
what the votes say together, or that one more is needed.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Decision", "Vote", "decide"]

TRIES_MAX = 3
QUORUM = 2


@dataclass(frozen=True, slots=True)
class Vote:
    """What one try says. Only a `still` one names a picture that can be agreed on."""

    result: Literal["still", "moving", "errored"]
    pixel_sha: str | None = None
    code: str | None = None
    message: str | None = None

    @property
    def ran_out_of_time(self) -> bool:
        """Tell whether a cap of the story's own was passed: worth one more try (BUILD-47)."""
        return self.code is not None and self.code.endswith("_timeout")


@dataclass(frozen=True, slots=True)
class Decision:
    """What is recorded of a snapshot."""

    state: Literal["captured", "errored", "unstable"]
    vote: Vote
    flaky: bool = False


def decide(votes: Sequence[Vote], baseline_pixel_sha: str | None) -> Decision | None:
    """Return what the votes say, or None when one more try is needed.

    A first picture equal to the baseline is enough. Else two of three must agree; a
    picture that moved agrees with none.

    Args:
        votes: at least one, in their order.
        baseline_pixel_sha: of the tentative baseline.
    """
    last = votes[-1]
    if len(votes) == 1 and last.result == "still" and last.pixel_sha == baseline_pixel_sha:
        return Decision("captured", last)
    errors = [vote for vote in votes if vote.result == "errored"]
    if len(errors) == QUORUM or (len(votes) == 1 and errors and not last.ran_out_of_time):
        return Decision("errored", errors[-1])
    still = Counter(vote.pixel_sha for vote in votes if vote.result == "still")
    if still and max(still.values()) == QUORUM:
        return Decision("captured", last, flaky=len(votes) > QUORUM)
    hopeless = max(still.values(), default=0) + TRIES_MAX - len(votes) < QUORUM
    may_err = len(errors) + TRIES_MAX - len(votes) >= QUORUM
    if hopeless and not may_err:
        return Decision("unstable", last)
    return None
