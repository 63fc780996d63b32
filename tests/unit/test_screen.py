"""What a terminal or a pipe is given."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console
from rich.text import Text

from capture_consumer.cli import screen

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def test_what_went_wrong_is_one_line_on_standard_error(capsys):
    """Decision 15."""
    screen.fail("it broke\nin two lines\r\n and three")

    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "error: it broke in two lines and three\n"


@pytest.mark.parametrize("bad", ["\x1b[2J", "\0", "\x07", "\ud800", "\u202e"])
def test_a_story_s_name_cannot_move_the_cursor_or_ring_the_bell(capsys, bad):
    """BUILD-120."""
    screen.show("Stories", [{"story": f"a{bad}b"}], as_json=False)
    screen.fail(f"a{bad}b")

    told = capsys.readouterr()
    assert bad not in told.out + told.err


def test_a_story_s_name_is_no_markup(capsys):
    screen.show("Stories", [{"story": "[red]a[/red]"}], as_json=False)

    assert "[red]a[/red]" in capsys.readouterr().out


def test_json_is_on_standard_output_and_nothing_else(capsys):
    screen.show("Builds", [{"number": 1, "at": NOW}], as_json=True)

    told = capsys.readouterr()
    assert json.loads(told.out) == [{"number": 1, "at": NOW.isoformat()}]
    assert told.err == ""


def test_no_rows_are_said_beside_the_output(capsys):
    screen.show("Builds", [], as_json=False)

    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "Builds: none\n")


def test_no_rows_as_json_are_an_empty_array(capsys):
    screen.show("Builds", [], as_json=True)

    assert json.loads(capsys.readouterr().out) == []


def test_in_a_pipe_there_is_no_colour_and_no_blank_at_a_line_s_end(capsys):
    screen.show(
        "Builds", [{"state": "passed", "what": "x"}, {"state": "a", "what": ""}], as_json=False
    )

    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert [line for line in out.splitlines() if line != line.rstrip()] == []


def test_in_a_pipe_a_row_is_one_line_however_long(capsys):
    screen.show("Stories", [{"story": "a" * 300, "detail": "b c " * 300}], as_json=False)

    assert len(capsys.readouterr().out.splitlines()) == 4


@pytest.mark.parametrize("columns", [80, 120])
def test_on_a_terminal_only_the_last_column_is_wrapped(monkeypatch, columns):
    monkeypatch.setattr(screen, "columns_now", lambda: columns)
    story, detail = "foundations-typography--monospace", "this one does not hold still " * 4
    made = screen.table([{"story": story, "detail": detail}], {"story": "s", "detail": "d"})

    console = Console(width=columns, force_terminal=True)
    with console.capture() as told:
        console.print(made)

    lines = Text.from_ansi(told.get()).plain.splitlines()
    assert story in lines[2]
    assert max(map(len, lines)) <= columns
    assert len(lines) > 3


def test_on_a_narrow_terminal_everything_is_folded_and_nothing_is_cut(monkeypatch):
    monkeypatch.setattr(screen, "columns_now", lambda: 30)
    made = screen.table([{"story": "s" * 33, "detail": "d" * 40}], {"story": "", "detail": ""})

    console = Console(width=30)
    with console.capture() as told:
        console.print(made)

    assert (told.get().count("s"), told.get().count("d")) == (33, 40)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s ago"),
        (59, "59 s ago"),
        (60, "1 min ago"),
        (7_300, "2 h ago"),
        (200_000, "2 d ago"),
    ],
)
def test_how_long_ago_is_said_in_one_unit(seconds, words):
    assert screen.ago(NOW - timedelta(seconds=seconds), NOW) == words


def test_an_instant_that_is_not_known_or_not_yet_is_no_fault():
    assert screen.ago(None, NOW) == "-"
    assert screen.ago(NOW + timedelta(seconds=5), NOW) == "0 s ago"
