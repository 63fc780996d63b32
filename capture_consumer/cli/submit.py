"""`submit`: a folder becomes a build, and CI learns its verdict from the exit code.

In this order: look at the folder, find out what it belongs to, store the files by their
hash, then open and finalize the build in one transaction. So bad input leaves nothing
behind, and Ctrl-C before the end leaves files that nobody misses.
"""

import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import click

from capture_consumer.builds.effects import CommitTold, FileSent, OpenBuild
from capture_consumer.builds.words import plural
from capture_consumer.cli import screen
from capture_consumer.cli.door import Books, Door
from capture_consumer.cli.wait import Ending, finish
from capture_consumer.cli.watch import Bar
from capture_consumer.client import upload
from capture_consumer.client.facts import Given, Known, gather
from capture_consumer.settings.readers import read_slug
from capture_consumer.storage.store import Store

__all__ = ["submit"]

MB = 1_000_000
LOOKED_AT = 20
WHAT = {"storybook": "a Storybook", "images": "a folder of pictures"}
Kind = Literal["auto", "storybook", "images"]


def slug(_ctx: click.Context, _param: click.Parameter, value: str | None) -> str | None:
    """Return a project's slug as it was given, or refuse it."""
    try:
        return read_slug(value, Path()) if value else value
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--project", callback=slug, help="Its project; found from git unless given.")
@click.option("--name", default="default", show_default=True, help="Which line of builds.")
@click.option("--branch", help="Its branch; found from git or the CI unless given.")
@click.option("--commit", help="Its commit; what is checked out unless given.")
@click.option("--base", help="The branch that its pull request goes into.")
@click.option("--pull", type=click.IntRange(min=1), help="The number of its pull request.")
@click.option(
    "--kind",
    type=click.Choice(["auto", "storybook", "images"]),
    default="auto",
    show_default=True,
    help="A built Storybook, or a folder of PNG pictures.",
)
@click.option("--wait/--no-wait", "waits", default=True, help="Wait for the verdict (default).")
@click.option(
    "--timeout", type=click.FloatRange(min=0), metavar="SECONDS", help="Wait at most this long."
)
@click.option("--exit-zero-on-review", is_flag=True, help="Leave with 0 where it would be 1.")
@click.option("--json", "as_json", is_flag=True, help="The build as one JSON object.")
@click.pass_obj
def submit(
    door: Door,
    /,
    folder: Path,
    *,
    name: str,
    kind: Kind,
    waits: bool,
    timeout: float | None,
    exit_zero_on_review: bool,
    as_json: bool,
    **given: str | int | None,
) -> None:
    r"""Submit a built Storybook or a folder of pictures, and wait for its verdict.

    Commit, branch, pull request and history are found from git and from the CI's
    environment; an option wins over both.

    \b
    Example:    capture-consumer submit storybook-static
                capture-consumer submit shots --project shop --no-wait --json
    Exit codes: 0 passed, accepted, skipped; 1 needs review, rejected; 2 wrong usage;
                3 broken; 4 incomplete; 5 failed; 6 cancelled, superseded, expired;
                7 --timeout ran out; 8 no database; 130 Ctrl-C. With --no-wait 0.
    """
    how = Ending(
        waits=waits, timeout_s=timeout, as_json=as_json, zero_on_review=exit_zero_on_review
    )
    found = upload.check((door.cwd / folder).resolve(), kind=kind)
    told = Given(**given)  # type: ignore[arg-type]  # click's options have these types
    known = gather(door.cwd, door.environ, told, project=door.settings.project)
    _say(found, known)
    with door.books(writing=True) as books:
        _warn(books, known, found, name)
        store = door.store(books)
        sent = _store(store, found)
        opened = books.open_build(_request(known, found, sent, name), store)
        verb = "opened" if opened.is_new else "is this very submission already"
        screen.say(f"build {opened.project}/{opened.number} {verb}", "bold")
        finish(books, opened.build_id, how)


def _say(found: upload.Found, known: Known) -> None:
    """Tell what was found, before anything is written (BUILD-22)."""
    left = f", {found.skipped} others left out" if found.skipped else ""
    size = (
        f"{found.bytes / 1e6:,.1f} MB" if found.bytes >= MB else f"{found.bytes / 1e3:,.0f} kB"
    )
    files = plural(len(found.paths), "file")
    screen.say(f"{'folder':<10}{found.folder}: {WHAT[found.kind]} of {files}, {size}{left}")
    for label, value in known.says():
        screen.say(f"{label:<10}{value}")


def _warn(books: Books, known: Known, found: upload.Found, name: str) -> None:
    """Say that a folder of another kind than the last one's replaces all that was there."""
    builds = books.facts.recent(project=known.project, limit=LOOKED_AT)
    last = next((one for one in builds if one.name == name), None)
    if last is not None and last.kind != found.kind:
        screen.say(
            f"build {last.project.slug}/{last.number} was {WHAT[last.kind]}, this is "
            f"{WHAT[found.kind]}: its pictures will count as removed. A --name of its own "
            "keeps the two apart.",
            "yellow",
        )


def _store(store: Store, found: upload.Found) -> Sequence[upload.Sent]:
    """Store the files, those that are there already too: that costs a look."""
    count = 0

    def sent(_file: upload.Sent) -> None:
        nonlocal count
        count += 1
        line.put("storing", count, len(found.paths))

    with Bar("storing") as line:
        return upload.send(found, store.put, sent=sent)


def _request(
    known: Known, found: upload.Found, sent: Sequence[upload.Sent], name: str
) -> OpenBuild:
    """Return what to open: what was found, and the files that are stored."""
    source = upload.digest(sent)
    # The same folder in the same run of the CI is the same build, however often it is sent.
    nonce = f"{known.run}:{source[:16]}" if known.run else uuid.uuid4().hex
    kind: Literal["file", "image"] = "image" if found.kind == "images" else "file"
    return OpenBuild(
        project=known.project,
        nonce=nonce,
        kind=found.kind,
        name=name,
        commit=known.commit,
        head=known.head_sha,
        branch=known.branch,
        pull=known.pull,
        base_branch=known.base_branch,
        commits=tuple(
            CommitTold(one.sha, one.parents, one.tree, one.committed_at)
            for one in known.commits
        ),
        files=tuple(FileSent(one.path, one.sha, one.bytes, kind) for one in sent),
        ci_run=known.run,
        default_branch=known.default_branch,
    )
