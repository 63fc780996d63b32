"""`wait`, and how every command that waits for a build ends: its verdict as exit code."""

from dataclasses import dataclass

import click

from capture_consumer.builds.facts import BuildView
from capture_consumer.cli import exits, screen, tell
from capture_consumer.cli.door import Books, Door
from capture_consumer.cli.show import print_build
from capture_consumer.cli.watch import watch

__all__ = ["Ending", "finish", "wait"]

LISTED = 30


@click.command()
@click.argument("build")
@click.option(
    "--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Wait at most this long."
)
@click.option("--exit-zero-on-review", is_flag=True, help="Leave with 0 where it would be 1.")
@click.option("--json", "as_json", is_flag=True, help="The build as one JSON object.")
@click.pass_obj
def wait(
    door: Door, build: str, *, timeout: float | None, exit_zero_on_review: bool, as_json: bool
) -> None:
    r"""Wait until a build has ended; its verdict is the exit code.

    BUILD is its number, or project/number.

    \b
    Example:    capture-consumer wait 12 --timeout 600
    Exit codes: 0 passed, accepted, skipped; 1 needs review, rejected; 2 wrong usage;
                3 broken; 4 incomplete; 5 failed; 6 cancelled, superseded, expired;
                7 --timeout ran out; 8 no database; 130 Ctrl-C.
    """
    with door.books(writing=False) as books:
        found = door.find(books, build)
        how = Ending(timeout_s=timeout, as_json=as_json, zero_on_review=exit_zero_on_review)
        finish(books, found.id, how)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a command that has a build at hand is to end."""

    waits: bool = True
    timeout_s: float | None = None
    as_json: bool = False
    zero_on_review: bool = False


def finish(books: Books, build_id: int, how: Ending) -> None:
    """Wait if asked to, print the build, and leave with the exit code of its state.

    Ctrl-C leaves the build alone and says how to come back to it (BUILD-122).
    """
    ref = _ref(books, build_id)
    try:
        if how.waits:
            watch(books, build_id, timeout_s=how.timeout_s)
    except KeyboardInterrupt:
        screen.say(f"Build {ref} goes on: `capture-consumer wait {ref}` waits for it,")
        screen.say(f"`capture-consumer cancel {ref}` stops it.")
        raise SystemExit(exits.INTERRUPTED) from None
    view = books.facts.view(build_id)
    code = exits.of_build(view.build)
    if how.as_json:
        screen.tell_json(tell.as_object(view))
    elif how.waits:
        screen.say("")
        print_build(view, books, most=LISTED)
        _say_next(view, ref)
    if code == exits.REVIEW and how.zero_on_review:
        code = 0
    raise SystemExit(code if how.waits else 0)


def _say_next(view: BuildView, ref: str) -> None:
    """Say what a person can do next."""
    code = exits.of_build(view.build)
    if code == exits.RAN_OUT:
        screen.say(f"\nThe build goes on: `capture-consumer wait {ref}` waits for it.")
    elif code and view.snapshots and view.build.phase == "finished":
        screen.say(f"\nLook:    capture-consumer report {ref} --html report", "dim")
        if any(one.fact.review == "pending" for one in view.snapshots):
            screen.say(f"Answer:  capture-consumer review {ref} --accept '*'", "dim")


def _ref(books: Books, build_id: int) -> str:
    build = books.facts.build(build_id)
    assert build is not None, "it was found a moment ago"
    return f"{build.project.slug}/{build.number}"
