"""The exit codes of all commands (builds.md, section 17; supervisor.md, section 15)."""

from typing import Final

from capture_consumer.builds.facts import BuildFact, Phase, Verdict
from capture_consumer.errors import (
    BrowserUnusable,
    CaptureConsumerError,
    DatabaseAway,
    PermanentError,
    SchemaMismatch,
    StoreUnusable,
)

__all__ = [
    "AWAY",
    "INTERRUPTED",
    "MISCONFIGURED",
    "OF_ENDS",
    "OF_VERDICTS",
    "RAN_OUT",
    "REVIEW",
    "USAGE",
    "of_build",
    "of_error",
]

REVIEW: Final = 1
USAGE: Final = 2
FAILED: Final = 5
RAN_OUT: Final = 7
AWAY: Final = 8
MISCONFIGURED: Final = 78
INTERRUPTED: Final = 130

OF_VERDICTS: dict[Verdict, int] = {
    "passed": 0,
    "accepted": 0,
    "skipped": 0,
    "needs_review": REVIEW,
    "rejected": REVIEW,
    "broken": 3,
    "incomplete": 4,
}
OF_ENDS: dict[Phase, int] = {"failed": FAILED, "cancelled": 6, "superseded": 6, "expired": 6}


def of_build(build: BuildFact) -> int:
    """Return the exit code that an ended build gives; an open one has run out of time."""
    if build.phase == "finished":
        assert build.verdict is not None, "a finished build has a verdict"
        return OF_VERDICTS[build.verdict]
    return OF_ENDS.get(build.phase, RAN_OUT)


def of_error(error: CaptureConsumerError) -> int:
    """Return the exit code that an error of ours gives."""
    match error:
        case DatabaseAway() | SchemaMismatch() | StoreUnusable():
            return AWAY
        case PermanentError():
            return FAILED
        case BrowserUnusable():
            return MISCONFIGURED
        case _:
            return USAGE
