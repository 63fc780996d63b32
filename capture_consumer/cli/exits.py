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
    "OF_BUILDS",
    "RAN_OUT",
    "USAGE",
    "of_build",
    "of_error",
]

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
    "needs_review": 1,
    "rejected": 1,
    "broken": 3,
    "incomplete": 4,
}
OF_ENDS: dict[Phase, int] = {"failed": FAILED, "cancelled": 6, "superseded": 6, "expired": 6}

OF_BUILDS: Final = (
    "0 passed, accepted, skipped; 1 needs review, rejected; 2 wrong usage; 3 broken; "
    "4 incomplete; 5 failed; 6 cancelled, superseded, expired; 7 time ran out; "
    "8 no database; 130 Ctrl-C."
)


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
