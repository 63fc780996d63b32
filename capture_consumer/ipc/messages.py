"""The words of both directions: what a child reports, what it is told (section 4).

A message is a frozen dataclass; its fields are the frame's JSON. A field that the
reader does not know is ignored, one that the writer did not know has a default:
so that supervisor and child may be one release apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

__all__ = [
    "Ack",
    "Alone",
    "Beat",
    "Bye",
    "Claim",
    "Death",
    "Denied",
    "Drain",
    "Dump",
    "Granted",
    "Hello",
    "Hurry",
    "Old",
    "Order",
    "ParentGone",
    "Pause",
    "Paused",
    "Ready",
    "Recycle",
    "Released",
    "Report",
    "Resume",
    "Settled",
    "Story",
    "Suspects",
]

# What a child reports.


@dataclass(frozen=True, slots=True)
class Hello:
    """First thing after exec; `owner` is the name under which it will claim."""

    pid: int
    owner: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ready:
    """Imports done, database reached; nothing is claimed before this."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim has committed; its work has not begun. `seq` orders pipe and black box."""

    job: str
    attempt: int
    kind: str = ""
    step: str | None = None
    build: int | None = None
    shard: int | None = None
    suspect: bool = False
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Story:
    """A story is about to begin, or (None) none is in hand any more."""

    snapshot: int | None
    story: str | None
    index: int = 0
    of: int = 0
    deadline_s: float = 120.0
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Beat:
    """A thread lives; `progress` grows when the work gets on. Sizes are bytes."""

    seq: int
    progress: int = 0
    rss: int = 0
    pss: int = 0
    browser_pids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Settled:
    """The end of an attempt has committed."""

    job: str
    attempt: int
    end: str = "done"
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Released:
    """An attempt was given back, uncounted, and that has committed."""

    job: str
    attempt: int
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Alone:
    """The candidate is a suspect: may I have the host (SUP-41)?"""

    job: str


@dataclass(frozen=True, slots=True)
class Paused:
    """The answer to PAUSE: nothing is held, and nothing will be claimed."""


@dataclass(frozen=True, slots=True)
class Ack:
    """The clerk has booked death n, or (0) what earlier incarnations left open."""

    n: int


@dataclass(frozen=True, slots=True)
class Bye:
    """Last thing; the reasons `lost` and `unsettled` come before exit 75 (R4)."""

    reason: str = ""


# What a child is told.


@dataclass(frozen=True, slots=True)
class Drain:
    """Finish what fits into this many seconds, claim nothing more.

    To the clerk: claim nothing, go on with the books until HURRY (SUP-87).
    """

    soft_deadline_s: float = 21.0


@dataclass(frozen=True, slots=True)
class Hurry:
    """Abandon the story, release, kill the browser, leave. The clerk: flush and leave."""


@dataclass(frozen=True, slots=True)
class Pause:
    """Claim nothing for now; say PAUSED when nothing is held."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Claim again."""


@dataclass(frozen=True, slots=True)
class Suspects:
    """From now on it is you who looks for suspects, or you no longer."""

    on: bool = True


@dataclass(frozen=True, slots=True)
class Granted:
    """The host is yours until this job's end."""


@dataclass(frozen=True, slots=True)
class Denied:
    """Not now; ask again at a later poll."""


@dataclass(frozen=True, slots=True)
class Recycle:
    """Leave after this job."""


@dataclass(frozen=True, slots=True)
class Dump:
    """Write all stacks to the trace file. Done by the channel itself."""


@dataclass(frozen=True, slots=True)
class Old:
    """To the clerk: end what these incarnations left open as lost, then ACK 0 (SUP-33)."""

    incarnations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Death:
    """To the clerk: a death and its facts; ACK n when it is booked (SUP-31)."""

    n: int
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ParentGone:
    """Not sent: made by the channel when the supervisor is gone (SUP-66)."""


Report: TypeAlias = (
    Hello | Ready | Claim | Story | Beat | Settled | Released | Alone | Ack | Bye | Paused
)
Order: TypeAlias = (
    Drain
    | Hurry
    | Pause
    | Resume
    | Suspects
    | Granted
    | Denied
    | Recycle
    | Dump
    | Old
    | Death
    | ParentGone
)
