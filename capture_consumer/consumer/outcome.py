"""How work can end, as the one who did it, or who saw it die, says it.

A holder says `Done`, `Failed`, `Released` or `Cancelled`; whoever buries a dead
process says `Crashed`, `TimedOut`, `Lost` or `Released`. `perform` makes an outcome
of what a handler returns or raises. What an end costs is `budget`'s to say.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar, assert_never

import structlog

from capture_consumer.errors import (
    DatabaseAway,
    Interrupted,
    LeaseLost,
    NotNow,
    PermanentError,
    StoreUnusable,
    code_of,
)

__all__ = [
    "Cancelled",
    "Crashed",
    "Done",
    "End",
    "Failed",
    "Lost",
    "Outcome",
    "Released",
    "TimedOut",
    "Word",
    "let_go",
    "perform",
    "word_of",
]

log = structlog.get_logger()
Effects = TypeVar("Effects")
Word = Literal["done", "failed", "crashed", "timed_out", "lost", "cancelled", "released"]
WAIT_FOR_OTHERS_MS = 60_000


@dataclass(frozen=True, slots=True)
class Done(Generic[Effects]):
    """The work is done; this is what it wants written."""

    effects: Effects


@dataclass(frozen=True, slots=True)
class Failed:
    """The handler raised. `permanent`: no further attempt can help (JOB-91)."""

    code: str
    text: str
    permanent: bool = False


@dataclass(frozen=True, slots=True)
class Released:
    """Let go in good order, or never begun: it costs nothing, 20 times (JOB-113)."""

    delay_ms: int = 0
    code: str | None = None


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A person or a newer build does not want it any more; the job's row says so already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Death:
    """What was seen of a process that died holding a claim (SUP-20).

    `exact` tells that `story` was named by the report pipe or the black box, so that
    the story may be blamed (SUP-46). `peak_rss` is in bytes.
    """

    code: str
    text: str
    signal: int | None = None
    exit_code: int | None = None
    oom: bool = False
    peak_rss: int | None = None
    story: str | None = None
    exact: bool = False
    trace_sha: str | None = None


class Crashed(Death):
    """It died by a signal, or left while it held the claim."""

    __slots__ = ()


class TimedOut(Death):
    """We killed it: hung, over its deadline, or over its memory (code `memory`)."""

    __slots__ = ()


class Lost(Death):
    """Its lease ran out, or it was found dead later, or it left saying so (R4)."""

    __slots__ = ()


Outcome = Done[Effects] | Failed | Released | Cancelled
End = Done[Any] | Failed | Released | Cancelled | Crashed | TimedOut | Lost


def word_of(end: End) -> Word:  # noqa: PLR0911 - one line an end
    """Return the word that the attempt's row gets."""
    match end:
        case Done():
            return "done"
        case Failed():
            return "failed"
        case Released():
            return "released"
        case Cancelled():
            return "cancelled"
        case Crashed():
            return "crashed"
        case TimedOut():
            return "timed_out"
        case Lost():
            return "lost"
        case _:
            assert_never(end)


def perform(run: Callable[[], Effects]) -> Outcome[Effects]:
    """Run a handler; return how that ended.

    Raises:
        LeaseLost: the claim is no longer ours; nothing may be written.
    """
    try:
        return Done(run())
    except LeaseLost:
        raise
    except Exception as error:
        return outcome_of(error)


def let_go(outcome: Outcome[Effects]) -> Outcome[Effects]:
    """Return what an outcome is to whoever asked for the claim back: no failure (SUP-58).

    A hurry kills the browser under the handler; what it then raises is our doing.
    """
    is_ours = isinstance(outcome, Failed) and not outcome.permanent
    return Released() if is_ours else outcome


def outcome_of(error: Exception) -> Failed | Released | Cancelled:
    """Return what a handler said by raising this.

    A database or a store that is away is nobody's failure: the claim is released, and
    due again in a minute.
    """
    match error:
        case Interrupted():
            return Cancelled() if error.why == "cancelled" else Released()
        case NotNow():
            return Released(delay_ms=error.delay_ms, code=error.code)
        case DatabaseAway() | StoreUnusable():
            log.warning("job.waits_for_others", code=error.code, error=str(error))
            return Released(delay_ms=WAIT_FOR_OTHERS_MS, code=error.code)
        case PermanentError():
            return Failed(error.code, str(error), permanent=True)
        case _:
            log.warning("job.handler_raised", exc_info=error)
            return Failed(code_of(error), str(error) or type(error).__name__)
