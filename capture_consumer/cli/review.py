"""`review`: a person's answers to what changed."""

from collections.abc import Mapping

import click

from capture_consumer.builds import manifest
from capture_consumer.builds.facts import BuildFact
from capture_consumer.builds.reviewing import Reviewed, review as decide
from capture_consumer.builds.words import plural
from capture_consumer.cli import exits, screen, tell
from capture_consumer.cli.door import Books, Door
from capture_consumer.cli.show import print_build
from capture_consumer.database.transaction import Tx, again
from capture_consumer.errors import Refused
from capture_consumer.storage.store import Store

__all__ = ["review"]

NAMED = 3


@click.command()
@click.argument("build")
@click.option("--accept", multiple=True, metavar="PATTERN", help="Accept stories like this.")
@click.option("--reject", multiple=True, metavar="PATTERN", help="Reject stories like this.")
@click.option("--undo", multiple=True, metavar="PATTERN", help="Take answers back.")
@click.option("--by", metavar="NAME", help="Who answers; your name in git unless given.")
@click.option("--json", "as_json", is_flag=True, help="The build as one JSON object.")
@click.pass_obj
def review(
    door: Door,
    build: str,
    *,
    accept: tuple[str, ...],
    reject: tuple[str, ...],
    undo: tuple[str, ...],
    by: str | None,
    as_json: bool,
) -> None:
    r"""Accept or reject what changed in a finished build.

    BUILD is its number, or project/number. A PATTERN is a story's id, with * for
    anything. What was accepted is what later builds are compared with. A rejection goes
    before an acceptance.

    \b
    Example:    capture-consumer review 12 --accept 'button--*' --reject button--danger
                capture-consumer review 12 --accept '*'
    Exit codes: as submit: 0 accepted; 1 needs review, rejected; 2 wrong usage, or the
                build changed meanwhile; 3 broken; 4 incomplete; 8 no database.
    """
    if not (accept or reject or undo):
        raise click.UsageError(
            "Say what: --accept PATTERN, --reject PATTERN or --undo PATTERN."
        )
    said = {"accept": accept, "reject": reject, "undo": undo}
    who = by or door.who()
    with door.books(writing=True) as books:
        found = door.find(books, build)
        _answer(door, books, found, said, who)
        view = books.facts.view(found.id)
        if as_json:
            screen.tell_json(tell.as_object(view))
        else:
            print_build(view, books)
        raise SystemExit(exits.of_build(view.build))


def _answer(
    door: Door, books: Books, build: BuildFact, said: Mapping[str, tuple[str, ...]], who: str
) -> None:
    """Work out what follows from the answers, write it, say it.

    Raises:
        Refused: somebody else answered meanwhile, and otherwise (BUILD-83, BUILD-88).
    """
    store = door.store(books)

    def work_out() -> Reviewed:
        view = books.facts.view(build.id)
        present = _manifest(view.build, store)
        return decide(view, reviewer=who, manifest=present, **said)

    answer = work_out()
    try:
        _write(books, store, answer)
    except Refused:
        answer = work_out()
        if answer.effects:
            raise
    _say(answer)


def _manifest(build: BuildFact, store: Store) -> Mapping[int, int]:
    """Return the build's present map of accepted pictures."""
    return manifest.decode(store.get(build.manifest_sha)) if build.manifest_sha else {}


def _write(books: Books, store: Store, answer: Reviewed) -> None:
    """Store the new manifest, then write the answers that point to it (BUILD-70)."""
    if not answer.effects:
        return
    from capture_consumer.records import effects, order  # noqa: PLC0415 - loads every table

    store.put(answer.manifest)

    def do(tx: Tx) -> None:
        order.lock(tx, build_id=None, shard_id=None, effects=answer.effects)
        effects.write(tx, answer.effects, now=books.clock.now())

    again(books.engine, do)


def _say(answer: Reviewed) -> None:
    count = plural(len(answer.decided), "snapshot")
    screen.say(f"{count} answered" if answer.decided else "answered so already")
    by_outcome: dict[str, list[str]] = {}
    for one in answer.left:
        by_outcome.setdefault(one.outcome or one.state, []).append(one.key.story_id)
    for outcome, stories in by_outcome.items():
        named = ", ".join(stories[:NAMED]) + (", …" if len(stories) > NAMED else "")
        many = plural(len(stories), "story is", "stories are")
        screen.say(f"{many} {outcome} and cannot be answered: {named}", "yellow")
