"""`report`: a build as a folder of HTML that needs no server and no network."""

from pathlib import Path

import click

from capture_consumer.cli import screen
from capture_consumer.cli.door import Door
from capture_consumer.errors import BadInput

__all__ = ["report"]


@click.command()
@click.argument("build")
@click.option(
    "--html",
    "folder",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder to write; made if it is not there.",
)
@click.option("--json", "as_json", is_flag=True, help="Its path as one JSON object.")
@click.pass_obj
def report(door: Door, build: str, *, folder: Path, as_json: bool) -> None:
    r"""Write a build as a folder of HTML: baseline, new and difference side by side.

    BUILD is its number, or project/number.

    \b
    Example:    capture-consumer report 12 --html report && xdg-open report/index.html
    Exit codes: 0 written, 2 no such build or a folder that cannot be written, 8 no database.
    """
    from capture_consumer.pages.report import write  # noqa: PLC0415 - loads Jinja2

    with door.books(writing=False) as books:
        found = door.find(books, build)
        view = books.facts.view(found.id)
        store = door.store(books, reading=True)
    try:
        page = write(view, store.get, door.cwd / folder)
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror}") from error
    if as_json:
        screen.tell_json({"report": str(page.resolve())})
    else:
        click.echo(page.resolve())
