"""`show`: one build, what changed in it, and with `--why` how each answer came about."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

import click
from rich.text import Text

from capture_consumer.builds.facts import BuildView, SnapshotView
from capture_consumer.builds.words import safe
from capture_consumer.cli import screen, tell
from capture_consumer.cli.door import Books, Door
from capture_consumer.errors import NotFound
from capture_consumer.pages.reasons import (
    figures,
    held_against,
    review_words,
    warnings,
    why_baseline,
)

__all__ = ["print_build", "show"]

TABLE = {
    "outcome": "outcome",
    "story": "story",
    "mode": "mode",
    "review": "review",
    "detail": "detail",
}
RESULTS = {"still": "held still", "moving": "did not hold still", "errored": "failed"}


@click.command()
@click.argument("build")
@click.option("--story", metavar="PATTERN", help="Only stories like this, e.g. 'button--*'.")
@click.option("--all", "every", is_flag=True, help="List unchanged snapshots too.")
@click.option("--why", is_flag=True, help="Say for each snapshot why, and how it was captured.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object, for programs.")
@click.pass_obj
def show(
    door: Door, build: str, *, story: str | None, every: bool, why: bool, as_json: bool
) -> None:
    r"""Show a build: what changed, and what it was compared with.

    BUILD is its number, or project/number.

    \b
    Example:    capture-consumer show 12 --why --story 'button--*'
                capture-consumer show shop/12 --json | jq .verdict
    Exit codes: 0 shown, 2 no such build, 8 no database.
    """
    with door.books(writing=False) as books:
        fact = door.find(books, build)
        view = books.facts.view(fact.id)
        if story is not None:
            view = _only(view, story)
        if as_json:
            screen.tell_json(tell.as_object(view))
            return
        print_build(view, books, every=every or story is not None)
        if why:
            _print_why(view, every=every or story is not None)


def print_build(
    view: BuildView, books: Books, *, every: bool = False, most: int | None = None
) -> None:
    """Print a build for people: its line, its state in words, what is worth a look.

    Args:
        view: the build.
        books: where its progress is read, and what time it is.
        every: list snapshots that are as expected, too.
        most: list so many at most; all unless given.
    """
    build = view.build
    open_now = build.finished_at is None
    done = books.facts.progress(build.id) if open_now else None
    screen.put(tell.heading(view, books.clock.now()))
    screen.put(Text(tell.summary(view, (done[0], done[1]) if done else None)))
    if build.counts:
        screen.put(tell.counted(view))
    if build.phase == "finished":
        screen.put(Text(why_baseline(view), "dim"))
    for line in warnings(view):
        screen.put(Text(line, "yellow"))
    worth = list(tell.rows(view, every=every))
    listed = worth[:most]
    if listed:
        screen.put("", screen.table(listed, _used(view, listed)), "")
    ref = f"{build.project.slug}/{build.number}"
    if len(listed) < len(worth):
        more = f"{len(worth) - len(listed):,} more like these: capture-consumer show {ref}"
        screen.put(Text(more, "dim"))
    if len(worth) < len(view.snapshots):
        screen.put(Text(f"{tell.left_out(view)} (show {ref} --all lists all)", "dim"))


def _used(view: BuildView, listed: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the columns that say something: a build's only mode does not."""
    modes = {one.mode_name for one in view.snapshots}
    return {
        key: heading
        for key, heading in TABLE.items()
        if any(row[key] is not None for row in listed) and (key != "mode" or len(modes) > 1)
    }


def _print_why(view: BuildView, *, every: bool) -> None:
    """Print for each snapshot its baseline, its reason and every picture that was taken."""
    for one in view.snapshots:
        if not every and one.fact.outcome == "unchanged":
            continue
        title = Text.assemble("\n", (safe(one.fact.key.story_id), "bold"), f"  {one.mode_name}")
        screen.put(title)
        screen.pairs(_why(one))


def _why(one: SnapshotView) -> list[tuple[str, object]]:
    fact = one.fact
    said: list[tuple[str, object]] = [
        ("outcome", screen.state(fact.outcome or fact.state)),
        ("compared with", held_against(one)),
    ]
    if fact.message:
        said.append(("message", safe(fact.message, 400)))
    if one.comparison:
        equal = fact.outcome == "unchanged"
        how = "within tolerance" if equal else ", ".join(figures(one.comparison))
        said.append(("difference", how))
    if fact.review != "none":
        said.append(("review", review_words(fact.review, one.review_source)))
    for made in one.tries:
        took = (made.ended_at - made.started_at).total_seconds()
        again = f", in attempt {made.attempt} of the job" if made.attempt > 1 else ""
        what = RESULTS.get(made.result or "", made.result)
        said.append((f"try {made.n}", f"{what} after {took:.1f} s{again}"))
    return said


def _only(view: BuildView, pattern: str) -> BuildView:
    """Return the view with only those stories that a pattern meets."""
    met = tuple(one for one in view.snapshots if fnmatchcase(one.fact.key.story_id, pattern))
    if not met:
        raise NotFound(f"no story of build {view.build.number} is like {pattern!r}")
    return replace(view, snapshots=met)
