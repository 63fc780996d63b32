"""How things look: tables for people, JSON for programs, one line for what went wrong.

What a command prints goes to standard output, all else to standard error. Texts that come
from a build are shown as they are, without markup and without control characters.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from capture_consumer.logs import clean

__all__ = [
    "ago",
    "err",
    "fail",
    "is_terminal",
    "pairs",
    "put",
    "say",
    "show",
    "spelt",
    "state",
    "table",
    "tell_json",
]

PIPE_COLUMNS = 4_096
"""A pipe has no edge: whoever reads it gets a row as one line."""
LAST_COLUMNS = 20
"""So much room is left to the last column before any other is folded."""
GAP = 2
STYLES = {
    "passed": "green",
    "accepted": "green",
    "done": "green",
    "ok": "green",
    "captured": "green",
    "carried": "green",
    "unchanged": "dim",
    "skipped": "dim",
    "none": "dim",
    "needs_review": "yellow",
    "changed": "yellow",
    "new": "cyan",
    "pending": "yellow",
    "removed": "magenta",
    "unstable": "yellow",
    "rejected": "red",
    "broken": "red",
    "errored": "red",
    "failed": "red",
    "incomplete": "red",
    "lost": "red",
    "missing": "red",
    "weak": "yellow",
    "cancelled": "dim",
    "superseded": "dim",
    "expired": "dim",
    "running": "cyan",
    "capturing": "cyan",
    "planning": "cyan",
    "reducing": "cyan",
    "receiving": "cyan",
}


def put(*parts: RenderableType) -> None:
    """Print on standard output; in a pipe lines are wide and plain."""
    console = Console(highlight=False)
    if console.is_terminal:
        console.print(*parts, sep="\n")
        return
    wide = Console(highlight=False, width=PIPE_COLUMNS)
    with wide.capture() as told:
        wide.print(*parts, sep="\n")
    click.echo("\n".join(line.rstrip() for line in told.get().splitlines()))


def err() -> Console:
    """Return a console on standard error."""
    return Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str, style: str = "") -> None:
    """Tell a person something beside the command's output."""
    err().print(Text(clean(text), style))


def fail(text: str) -> None:
    """Tell in one line what went wrong and what to do."""
    line = clean(" ".join(text.split()))
    err().print(Text.assemble(("error: ", "bold red"), line))


def tell_json(data: Any) -> None:
    """Print one JSON document, for programs."""
    click.echo(json.dumps(data, default=_plain, indent=2))


def spelt(word: str) -> str:
    """Return a state, verdict or outcome as people write it."""
    return word.replace("_", " ")


def state(word: str | None) -> Text:
    """Return a state, verdict or outcome in its colour."""
    return Text(spelt(word or "-"), STYLES.get(word or "none", ""))


def show(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    *,
    as_json: bool,
    columns: Mapping[str, str] | None = None,
) -> None:
    """Print rows: a table for people, one JSON array for programs.

    Args:
        title: what they are; also what there is none of.
        rows: one mapping a row; all have the same keys.
        as_json: print all of them as JSON.
        columns: for people, the keys to show and their headings; all keys unless given.
    """
    if as_json:
        tell_json(rows)
        return
    if not rows:
        say(f"{title}: none")
        return
    headings = columns or {key: key.replace("_", " ") for key in rows[0]}
    put(Text(title, "bold"), table(rows, headings))


def table(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> Table:
    """Return rows as a table: thin, without frames, numbers to the right.

    Only the last column is wrapped, by words, as long as the others leave room for it: a
    story's id in one piece can be copied.
    """
    made = Table(
        box=SIMPLE_HEAD,
        header_style="dim",
        border_style="dim",
        pad_edge=False,
        show_edge=False,
        padding=(0, 1, 0, 0),
    )
    cells = [[_cell(row[key]) for key in columns] for row in rows]
    widest = [
        max(cell_len(heading), *(one.cell_len for one in column))
        for heading, column in zip(columns.values(), zip(*cells, strict=True), strict=True)
    ]
    whole = sum(width + GAP for width in widest[:-1]) + LAST_COLUMNS <= columns_now()
    for place, (key, heading) in enumerate(columns.items(), 1):
        numbers = all(isinstance(row[key], int | None) for row in rows)
        made.add_column(
            heading,
            justify="right" if numbers else "left",
            overflow="fold",
            no_wrap=whole and place < len(columns),
        )
    for row in cells:
        made.add_row(*row)
    return made


def is_terminal() -> bool:
    """Tell whether standard output is read by a person, and has an edge."""
    return Console().is_terminal


def columns_now() -> int:
    """Return how wide standard output is."""
    return Console().width if is_terminal() else PIPE_COLUMNS


def pairs(rows: Sequence[tuple[str, Any]]) -> None:
    """Print names and values, the names in one column."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    for name, value in rows:
        grid.add_row(name, _cell(value))
    put(grid)


def ago(at: datetime | None, now: datetime) -> str:
    """Return how long ago something was, in the largest unit that says enough."""
    if at is None:
        return "-"
    seconds = max(0, round((now - at) / timedelta(seconds=1)))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"


def _cell(value: Any) -> Text:
    if isinstance(value, Text):
        return value
    if isinstance(value, datetime):
        return Text(f"{value:%Y-%m-%d %H:%M:%S}")
    if value is None:
        return Text("")
    text = clean(str(value))
    return state(text) if text in STYLES else Text(text)


def _plain(value: Any) -> Any:
    """Return what JSON can hold of a value."""
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)
