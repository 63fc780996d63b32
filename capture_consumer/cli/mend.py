"""`cancel` and `retry`: what a person does to a build by hand."""

import click

from capture_consumer.builds.effects import FileSent, OpenBuild, OpenedBuild
from capture_consumer.builds.facts import BuildFact
from capture_consumer.builds.phases import ENDS
from capture_consumer.cli import screen, tell
from capture_consumer.cli.door import Books, Door
from capture_consumer.cli.wait import Ending, finish
from capture_consumer.database.transaction import Tx, again
from capture_consumer.errors import Refused

__all__ = ["cancel", "retry"]


@click.command()
@click.argument("build")
@click.option("--json", "as_json", is_flag=True, help="The build as one JSON object.")
@click.pass_obj
def cancel(door: Door, build: str, *, as_json: bool) -> None:
    r"""Cancel an open build: its jobs end, consumers let go of it within 5 s.

    \b
    Example:    capture-consumer cancel shop/12
    Exit codes: 0 cancelled, now or before; 2 no such build, or it has another end;
                8 no database.
    """
    from capture_consumer.records import by_hand  # noqa: PLC0415 - loads every table

    with door.books(writing=True) as books:
        found = door.find(books, build)
        who = door.who()

        def do(tx: Tx) -> bool:
            return by_hand.cancel(tx, found.id, who=who, now=books.clock.now())

        ended = again(books.engine, do)
        view = books.facts.view(found.id)
        name = f"{found.project.slug}/{found.number}"
        if view.build.phase != "cancelled":
            end = view.build.verdict or view.build.phase
            raise Refused(f"build {name} has ended already: it is {screen.spelt(end)}")
        if as_json:
            screen.tell_json(tell.as_object(view))
        else:
            screen.say(f"build {name} {'is cancelled' if ended else 'was cancelled before'}")


@click.command()
@click.argument("build")
@click.option("--wait/--no-wait", "waits", default=True, help="Wait for the verdict (default).")
@click.option(
    "--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Wait at most this long."
)
@click.option("--json", "as_json", is_flag=True, help="The new build as one JSON object.")
@click.pass_obj
def retry(door: Door, build: str, *, waits: bool, timeout: float | None, as_json: bool) -> None:
    r"""Capture the files of an ended build again, as a new build; nothing is sent anew.

    Two retries of one build at once are one new build.

    \b
    Example:    capture-consumer retry 12
    Exit codes: as submit: 0 passed, accepted, skipped; 1 needs review, rejected; 2 no such
                build, or it is open; 3 broken; 4 incomplete; 5 failed; 6 cancelled,
                superseded, expired; 7 --timeout ran out; 8 no database; 130 Ctrl-C.
    """
    with door.books(writing=True) as books:
        found = door.find(books, build)
        if found.phase not in ENDS:
            name = f"{found.project.slug}/{found.number}"
            raise Refused(f"build {name} is still {found.phase}: wait for it, or cancel it")
        opened = _open_again(door, books, found)
        verb = "opened" if opened.is_new else "is the retry that was asked for already"
        screen.say(f"build {opened.project}/{opened.number} {verb}", "bold")
        finish(books, opened.build_id, Ending(waits=waits, timeout_s=timeout, as_json=as_json))


def _open_again(door: Door, books: Books, old: BuildFact) -> OpenedBuild:
    """Open a build of the same files and the same commit (BUILD-93, BUILD-95)."""
    kind = "image" if old.kind == "images" else "file"
    files = books.facts.files(old.id)
    if not files:
        raise Refused(
            f"build {old.project.slug}/{old.number} was never uploaded whole: submit it again"
        )
    request = OpenBuild(
        project=old.project.slug,
        nonce=f"retry:{old.id}:{old.rev}",
        kind=old.kind,
        name=old.name,
        commit=old.commit_sha,
        head=old.head_sha,
        branch=old.branch,
        pull=old.pull,
        base_branch=old.base_branch,
        pinned_base=old.pinned_base,
        files=tuple(FileSent(one.path, one.sha, one.bytes, kind) for one in files),  # type: ignore[arg-type]
        subset=old.subset,
        trusted=old.trusted,
        retry_of=old.id,
    )

    return books.open_build(request, door.store(books), by=door.who())
