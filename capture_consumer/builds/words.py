"""A build in words: one line for a status, a table, a page's title (BUILD-116).

The text is made from the build's present state, never from the event that
asked for it.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence

from capture_consumer.builds.facts import BuildFact

__all__ = ["headline", "markdown", "plural", "safe"]

NAME_MAX = 80
LINE_MAX = 200
MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+!|~<>&@:-])")
CONTROLS = {"Cc", "Cs", "Zl", "Zp"}
DIRECTIONS = frozenset(
    "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
)


def headline(
    build: BuildFact,
    *,
    progress: tuple[int, int] | None = None,
    people: Sequence[str] = (),
    source: str | None = None,
    lost_because: str | None = None,
    superseded_by: int | None = None,
) -> str:
    """Return the build's state in one line without markup.

    Args:
        build: its row; the numbers come from its counts.
        progress: snapshots done and planned, while it is open.
        people: who accepted or rejected.
        source: where acceptances came from, when not from people: `first_build`,
            `auto_branch`, `policy` or `carried`.
        lost_because: why snapshots are lost, as the shard says it.
        superseded_by: the number of the newer build.
    """
    match build.phase:
        case "finished":
            text = _finished(build, people, source, lost_because)
        case "failed":
            text = safe(build.error_text or "Failed", LINE_MAX)
        case "cancelled":
            text = safe(build.error_text or f"Cancelled{_by(people)}", LINE_MAX)
        case "superseded":
            text = "Superseded" + (f" by build {superseded_by}" if superseded_by else "")
        case "expired":
            text = "Upload was never finished"
        case _:
            text = _open(build, progress)
    return text


def _open(build: BuildFact, progress: tuple[int, int] | None) -> str:
    if build.phase == "capturing" and progress:
        return f"Capturing {progress[0]}/{progress[1]}"
    return {
        "receiving": "Receiving files",
        "pending": "Waiting for a consumer",
        "planning": "Planning",
        "capturing": "Capturing",
    }.get(build.phase, "Comparing")


def _finished(
    build: BuildFact, people: Sequence[str], source: str | None, lost_because: str | None
) -> str:
    counts = build.counts
    match build.verdict:
        case "passed":
            text = f"No changes in {plural(counts.get('total', 0), 'snapshot')}"
        case "needs_review":
            text = _need_review(counts)
        case "accepted":
            text = _accepted(build, people, source)
        case "rejected":
            text = f"{plural(counts.get('rejected', 0), 'change')} rejected{_by(people)}"
        case "broken":
            text = _broken(counts)
        case "incomplete":
            because = f": {safe(lost_because, LINE_MAX)}" if lost_because else ""
            text = f"{counts.get('lost', 0)} of {counts.get('total', 0)} not captured{because}"
        case _:
            text = "Skipped"
    return text


def _need_review(counts: Mapping[str, int]) -> str:
    said = [
        f"{counts[word]} {word}"
        for word in ("changed", "new", "removed", "unstable")
        if counts.get(word)
    ]
    alone = sum(counts.get(word, 0) for word in ("changed", "new", "removed", "unstable")) == 1
    return f"{', '.join(said)} {'needs' if alone else 'need'} review"


def _accepted(build: BuildFact, people: Sequence[str], source: str | None) -> str:
    changes = plural(build.counts.get("accepted", 0), "change")
    if people:
        return f"{changes} accepted{_by(people)}"
    match source:
        case "first_build":
            return (
                f"First build: {plural(build.counts.get('accepted', 0), 'snapshot')} accepted"
            )
        case "auto_branch":
            return f"{changes} accepted on {safe(build.branch or 'this branch')}"
        case "carried":
            return f"{changes} carried from an accepted build"
        case _:
            return f"{changes} accepted"


def _broken(counts: Mapping[str, int]) -> str:
    if counts.get("errored"):
        stories = plural(counts["errored"], "story", "stories")
        return f"{stories} failed to render"
    if counts.get("unstable"):
        stories = plural(counts["unstable"], "story does", "stories do")
        return f"{stories} not hold still"
    return "Nothing was compared"


def _by(people: Sequence[str]) -> str:
    return f" by {', '.join(safe(name) for name in people)}" if people else ""


def plural(count: int, one: str, many: str | None = None) -> str:
    """Return the count with its noun."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def safe(name: str, limit: int = NAME_MAX) -> str:
    """Return a name cut to `limit` characters, without control and direction signs.

    BUILD-120.
    """
    seen = "".join(
        letter
        for letter in re.sub(r"[\t\n\r]", " ", name)
        if unicodedata.category(letter) not in CONTROLS and letter not in DIRECTIONS
    )
    return seen if len(seen) <= limit else seen[: limit - 1] + "…"


def markdown(name: str, limit: int = NAME_MAX) -> str:
    """Return a name that makes no link, mention, table or HTML in Markdown (BUILD-120)."""
    return MARKDOWN.sub(lambda found: f"&#{ord(found[1])};", safe(name, limit))
