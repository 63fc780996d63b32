"""A build for people and for programs: the one object of `--json`, and the rows of a table.

Both are made of the same `BuildView`, so they cannot say different things.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from rich.text import Text

from capture_consumer.builds.facts import (
    BuildFact,
    BuildView,
    ImageFact,
    SnapshotView,
    TryFact,
)
from capture_consumer.builds.words import headline, safe
from capture_consumer.cli import screen

__all__ = ["as_object", "counted", "heading", "left_out", "listed", "rows", "summary"]

SHORT = 7
QUIET = frozenset({"unchanged", "skipped", "captured", "planned"})
ORDER = ("errored", "unstable", "changed", "new", "removed", "lost", "carried")


def as_object(view: BuildView) -> dict[str, Any]:
    """Return the build as the one object that `show --json` prints."""
    build = view.build
    return {
        **listed(build),
        "error": {"code": build.error_code, "text": build.error_text}
        if build.error_code or build.error_text
        else None,
        "environment": build.environment,
        "baseline": _baseline(view),
        "shards": [{"idx": one.idx, "state": one.state} for one in view.shards],
        "snapshots": [_snapshot(one) for one in view.snapshots],
    }


def listed(build: BuildFact) -> dict[str, Any]:
    """Return what a list of builds says of one."""
    return {
        "project": build.project.slug,
        "number": build.number,
        "name": build.name,
        "phase": build.phase,
        "verdict": build.verdict,
        "counts": dict(build.counts),
        "headline": headline(build),
        "kind": build.kind,
        "commit": build.commit_sha,
        "branch": build.branch,
        "pull": build.pull,
        "created_at": _at(build.created_at),
        "finished_at": _at(build.finished_at),
    }


def heading(view: BuildView, now: datetime) -> Text:
    """Return the line above a build: its name, its state, where it stands."""
    build = view.build
    name = f"{build.project.slug}/{build.number}"
    if build.name != "default":
        name += f" ({safe(build.name)})"
    at = [safe(build.branch)] if build.branch else []
    at += [build.commit_sha[:SHORT]] if build.commit_sha else []
    at.append(screen.ago(build.finished_at or build.created_at, now))
    return Text.assemble(
        (name, "bold"),
        "  ",
        screen.state(build.verdict or build.phase),
        "  ",
        (", ".join(at), "dim"),
    )


def summary(view: BuildView, progress: tuple[int, int] | None = None) -> str:
    """Return the build's state in one line."""
    accepted = [one for one in view.snapshots if one.fact.review == "accepted"]
    sources = {one.review_source for one in accepted}
    return headline(
        view.build,
        progress=progress,
        source=sources.pop() if len(sources) == 1 else None,
        lost_because=view.build.error_text,
    )


def counted(view: BuildView) -> Text:
    """Return how many snapshots have each outcome, the worst first, each in its colour."""
    counts = view.build.counts
    words = [word for word in (*ORDER, "unchanged", "skipped") if counts.get(word)]
    parts = [Text.assemble(f"{counts[word]} ", screen.state(word)) for word in words]
    return Text(", ").join(parts)


def rows(view: BuildView, *, every: bool) -> Iterator[Mapping[str, Any]]:
    """Return a row for each snapshot worth a look, the worst first; all when `every`."""
    shown = [one for one in view.snapshots if every or not _quiet(one)]
    for one in sorted(shown, key=_weight):
        fact = one.fact
        yield {
            "outcome": screen.state(fact.outcome or fact.state),
            "story": Text(safe(fact.key.story_id)),
            "mode": one.mode_name or None,
            "review": screen.state(fact.review) if fact.review != "none" else None,
            "detail": _detail(one),
        }


def left_out(view: BuildView) -> str:
    """Return how many snapshots `rows` leaves out, and of what state."""
    quiet = [one.fact.outcome or one.fact.state for one in view.snapshots if _quiet(one)]
    if view.build.finished_at is None:
        done = quiet.count("captured")
        return f"{done:,} captured, {quiet.count('planned'):,} to come"
    return f"{len(quiet):,} {'more ' if len(quiet) < len(view.snapshots) else ''}as expected"


def _quiet(one: SnapshotView) -> bool:
    """Tell whether a snapshot is as expected: equal, or accepted as the first of its kind."""
    word = one.fact.outcome or one.fact.state
    return word in QUIET or (word == "new" and one.review_source == "first_build")


def _weight(one: SnapshotView) -> tuple[int, str]:
    word = one.fact.outcome or one.fact.state
    return (ORDER.index(word) if word in ORDER else len(ORDER), one.fact.key.story_id)


def _detail(one: SnapshotView) -> str | None:
    """Return what differs or what went wrong; without it the outcome says all."""
    message = safe(" ".join(one.fact.message.split()), 160) if one.fact.message else None
    return "; ".join(part for part in (_difference(one), message) if part) or None


def _difference(one: SnapshotView) -> str | None:
    """Return how much differs, in the words that fit: share, pixels, size."""
    compared, fact = one.comparison, one.fact
    if compared is None or fact.outcome not in {"changed", "carried"}:
        return None
    parts = [f"{compared.ratio:.2%}"] if compared.ratio >= 0.0001 else []  # noqa: PLR2004
    parts.append(f"{compared.changed_px:,} px")
    if fact.baseline and fact.image and _size(fact.baseline) != _size(fact.image):
        parts.append(f"{_size(fact.baseline)} → {_size(fact.image)}")
    return ", ".join(parts)


def _size(image: ImageFact) -> str:
    return f"{image.width}\N{MULTIPLICATION SIGN}{image.height}"


def _baseline(view: BuildView) -> dict[str, Any] | None:
    built = view.baseline
    if built is None and view.baseline_reason is None:
        return None
    return {
        "build": built.number if built else None,
        "commit": built.commit_sha if built else None,
        "branch": built.branch if built else None,
        "environment": built.environment if built else None,
        "reason": view.baseline_reason,
    }


def _snapshot(one: SnapshotView) -> dict[str, Any]:
    fact, compared = one.fact, one.comparison
    return {
        "story_id": fact.key.story_id,
        "title": fact.title,
        "mode": one.mode_name,
        "browser": fact.key.browser,
        "state": fact.state,
        "flaky": fact.flaky,
        "outcome": fact.outcome,
        "review": fact.review,
        "review_source": one.review_source,
        "error_code": fact.error_code,
        "message": fact.message,
        "baseline_build": one.baseline_build,
        "baseline_reason": one.baseline_reason,
        "image": _image(fact.image),
        "baseline_image": _image(fact.baseline),
        "changed_px": compared.changed_px if compared else None,
        "ratio": compared.ratio if compared else None,
        "tries": [_try(made) for made in one.tries],
    }


def _image(image: ImageFact | None) -> dict[str, Any] | None:
    if image is None:
        return None
    size = {"width": image.width, "height": image.height}
    return {"pixels": image.pixel_sha, "blob": image.blob_sha, **size}


def _try(made: TryFact) -> dict[str, Any]:
    return {
        "n": made.n,
        "attempt": made.attempt,
        "result": made.result,
        "started_at": _at(made.started_at),
        "ended_at": _at(made.ended_at),
        "error": made.error,
    }


def _at(instant: datetime | None) -> str | None:
    return instant.isoformat() if instant else None
