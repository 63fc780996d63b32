"""Time and chance stand still: the script that is set before a page's own (CAP-16)."""

import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

__all__ = ["BINDING", "Frozen", "script"]

# By this name a page tells which step it is at; the script hides it from the page's code.
BINDING = "__capture_step__"
FRAGMENTS = ("real.js", "freeze.js", "traffic.js", "story.js", "settle.js")


@dataclass(frozen=True, slots=True)
class Frozen:
    """What stands still, and at what.

    `date_ms` is the instant that the page reads, in milliseconds since 1970 (UTC).
    One-shot timers of at most `short_timer_ms` are waited for. A preview that knows no
    `storyFinished` is given `finish_grace_ms` after `storyRendered`.
    """

    date_ms: int = 1_735_732_800_000
    seed: int = 1
    short_timer_ms: int = 1_000
    finish_grace_ms: int = 150


def script(frozen: Frozen) -> str:
    """Return the script that every page and frame runs first."""
    settings = json.dumps(asdict(frozen) | {"binding": BINDING})
    return f"(() => {{\nconst settings = {settings};\n{_fragments()}\n}})();"


@cache
def _fragments() -> str:
    folder = Path(__file__).parent / "scripts"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in FRAGMENTS)
