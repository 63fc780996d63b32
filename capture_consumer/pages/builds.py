"""What a page about one build holds: headline, why this baseline, groups of stories.

Facts and an album in, plain data for a template out (BUILD-112).
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from capture_consumer.builds.facts import BuildView, ImageFact, SnapshotView, TryFact
from capture_consumer.builds.words import headline, safe
from capture_consumer.pages import reasons
from capture_consumer.pages.album import Album, Shown
from capture_consumer.pages.render import lines

__all__ = ["BuildPage", "Card", "Group", "Panel", "page"]

# Groups whose stories are a line each; the others have a card with pictures.
LISTED: Final = frozenset({"lost", "planned", "skipped", "unchanged"})
LOG_LINES: Final = 30
GONE: Final = Shown(None, gone="There is no picture.")


@dataclass(frozen=True, slots=True)
class Panel:
    """One picture with its caption. `role` is baseline, new, difference or try."""

    role: str
    caption: str
    shown: Shown


@dataclass(frozen=True, slots=True)
class Card:
    """One snapshot. `path` is its title's parts, `box` where the change is."""

    anchor: str
    path: tuple[str, ...]
    name: str
    story_id: str
    mode: str
    outcome: str
    review: str
    answered: str
    figures: tuple[str, ...] = ()
    panels: tuple[Panel, ...] = ()
    message: tuple[str, ...] = ()
    code: str = ""
    log: tuple[str, ...] = ()
    log_more: int = 0
    log_src: str | None = None
    remark: str = ""
    box: tuple[int, int, int, int] | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """All snapshots of one outcome, by story and mode."""

    outcome: str
    title: str
    meaning: str
    cards: tuple[Card, ...]

    @property
    def listed(self) -> bool:
        """Tell whether a line a story is enough."""
        return self.outcome in LISTED


@dataclass(frozen=True, slots=True)
class BuildPage:
    """A build for people."""

    view: BuildView
    headline: str
    state: str
    why: str
    warnings: tuple[str, ...]
    groups: tuple[Group, ...] = field(default=())

    @property
    def pending(self) -> int:
        """Return how many snapshots wait for an answer."""
        return sum(card.review == "pending" for group in self.groups for card in group.cards)

    @property
    def total(self) -> int:
        """Return how many snapshots there are."""
        return sum(len(group.cards) for group in self.groups)


def page(view: BuildView, album: Album) -> BuildPage:
    """Return what the page of a build holds."""
    build = view.build
    by_outcome: dict[str, list[SnapshotView]] = {}
    for snapshot in view.snapshots:
        fact = snapshot.fact
        by_outcome.setdefault(fact.outcome or fact.state, []).append(snapshot)
    groups = [
        Group(outcome, title, meaning, cards(by_outcome[outcome], view, album))
        for outcome, title, meaning in reasons.GROUPS
        if outcome in by_outcome
    ]
    done = sum(snapshot.fact.state != "planned" for snapshot in view.snapshots)
    sources = {one.review_source for one in view.snapshots if one.fact.review == "accepted"}
    return BuildPage(
        view=view,
        headline=headline(
            build,
            progress=(done, len(view.snapshots)) if build.phase == "capturing" else None,
            source=sources.pop() if len(sources) == 1 else None,
        ),
        state=build.verdict or build.phase,
        why=reasons.why_baseline(view),
        warnings=reasons.warnings(view),
        groups=tuple(groups),
    )


def cards(snapshots: Iterable[SnapshotView], view: BuildView, album: Album) -> tuple[Card, ...]:
    """Return the cards of a group, by story and mode."""
    ordered = sorted(
        snapshots,
        key=lambda one: (one.fact.title.casefold(), one.fact.key.story_id, one.mode_name),
    )
    return tuple(card(snapshot, view, album) for snapshot in ordered)


def card(snapshot: SnapshotView, view: BuildView, album: Album) -> Card:
    """Return one snapshot as it is shown."""
    fact, comparison = snapshot.fact, snapshot.comparison
    outcome = fact.outcome or fact.state
    path = tuple(
        part for part in (safe(part.strip()) for part in fact.title.split("/")) if part
    )
    log, more, src = log_of(snapshot.tries, album) if outcome == "errored" else ((), 0, None)
    return Card(
        anchor=f"s{fact.id}",
        path=path[:-1],
        name=path[-1] if path else safe(fact.key.story_id),
        story_id=safe(fact.key.story_id, 200),
        mode=safe(snapshot.mode_name),
        outcome=outcome,
        review=fact.review,
        answered=reasons.review_words(fact.review, snapshot.review_source),
        figures=reasons.figures(comparison) if comparison and outcome != "unchanged" else (),
        panels=() if outcome in LISTED else panels(snapshot, outcome, album),
        message=lines(fact.message or ""),
        code=safe(fact.error_code or ""),
        log=log,
        log_more=more,
        log_src=src,
        remark=remark(snapshot, view),
        box=comparison.box if comparison else None,
    )


def remark(snapshot: SnapshotView, view: BuildView) -> str:
    """Return what is worth a sentence beside the outcome."""
    said = [reasons.why_this(snapshot.baseline_reason, view.baseline_reason)]
    if snapshot.fact.flaky:
        said.append("Not all tries agreed; two of three did.")
    return " ".join(part for part in said if part)


def panels(snapshot: SnapshotView, outcome: str, album: Album) -> tuple[Panel, ...]:
    """Return the pictures that an outcome is understood by."""
    fact, comparison = snapshot.fact, snapshot.comparison
    before = Panel("baseline", "Baseline", picture(fact.baseline, album))
    match outcome:
        case "changed" | "carried":
            diff = comparison.diff_sha if comparison else None
            shown = album.picture(diff) if diff else GONE
            after = Panel("new", "New", picture(fact.image, album))
            return (before, after, Panel("difference", "Difference", shown))
        case "removed":
            return (before,)
        case "errored":
            last = Panel("baseline", "Last accepted picture", before.shown)
            return (last,) if fact.baseline else ()
        case "unstable":
            return (*((before,) if fact.baseline else ()), *tries(snapshot.tries, album))
        case _:
            return (Panel("new", "New", picture(fact.image, album)),)


def tries(taken: Sequence[TryFact], album: Album) -> Iterable[Panel]:
    """Yield the picture of each try, in the order they were taken."""
    for one in taken:
        if one.image or not one.error:
            yield Panel("try", f"Try {one.n}", picture(one.image, album))


def picture(image: ImageFact | None, album: Album) -> Shown:
    """Return a picture, which may be gone."""
    return album.picture(image.blob_sha) if image else GONE


def log_of(taken: Sequence[TryFact], album: Album) -> tuple[tuple[str, ...], int, str | None]:
    """Return the last log's first lines, how many more there are, and its address."""
    for one in reversed(taken):
        if one.log_sha:
            text, src = album.log(one.log_sha)
            shown = lines(text, LOG_LINES)
            return shown, max(0, len(text.splitlines()) - len(shown)), src
        if one.error:
            return lines(told(one.error), LOG_LINES), 0, None
    return (), 0, None


def told(error: Any) -> str:
    """Return what a try recorded of its failure, as text."""
    return json.dumps(dict(error), indent=2, ensure_ascii=False, default=str)
