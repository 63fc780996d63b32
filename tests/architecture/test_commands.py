"""Every command says what it does, shows an example and its exit codes."""

import click
import pytest
from click.testing import CliRunner

from capture_consumer.cli import COMMANDS, main
from capture_consumer.cli.door import Door

PRINTS_NO_DATA = {"start", "health", "db", "db upgrade", "db schema"}
IN_DESIGN = {
    "submit", "wait", "builds", "show", "review", "report", "cancel", "retry", "jobs", "status",
    "start", "health", "doctor", "db",
}  # fmt: skip


def commands() -> dict[str, click.Command]:
    """Return every command by the words that call it."""
    found = {}
    for name in COMMANDS:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        found[name] = command
        inner = command.commands if isinstance(command, click.Group) else {}
        found |= {f"{name} {word}": one for word, one in inner.items()}
    return found


ALL = commands()


@pytest.mark.parametrize("name", ALL)
def test_every_command_says_what_it_does_shows_an_example_and_its_exit_codes(name):
    command = ALL[name]

    assert command.help
    assert "Example:" in command.help
    assert "Exit codes:" in command.help
    assert "\\b" not in command.help


@pytest.mark.parametrize("name", ALL)
def test_every_command_s_help_is_printed_as_it_was_written(name):
    told = CliRunner().invoke(main, [*name.split(), "--help"], env={"COLUMNS": "120"})

    assert told.exit_code == 0
    assert f"Example:    {first_example(ALL[name])}" in told.output


def first_example(command: click.Command) -> str:
    """Return the first line of a command's example."""
    return (command.help or "").partition("Example:")[2].strip().splitlines()[0]


@pytest.mark.parametrize("name", [name for name in ALL if name not in PRINTS_NO_DATA])
def test_every_command_that_prints_data_prints_it_as_json_too(name):
    options = {word for option in ALL[name].params for word in option.opts}

    assert "--json" in options


@pytest.mark.parametrize("name", ALL)
def test_every_option_says_what_it_does(name):
    for option in ALL[name].params:
        if isinstance(option, click.Option):
            assert option.help or option.show_default, option.opts


def test_the_commands_are_those_of_the_design():
    """R23."""
    assert set(COMMANDS) == IN_DESIGN


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_the_command_says(name):
    told = (ALL[name].help or "").partition("\n")[0]

    assert COMMANDS[name].does.split()[0] == told.split()[0]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["sumbit"], "error: There is no command 'sumbit': did you mean 'submit'?"),
        (["zzz"], "error: There is no command 'zzz': choose from the list."),
        (["submit"], "error: Missing argument 'DIR'."),
        (["show", "1", "--strory", "x"], "error: No such option '--strory'."),
        (["db", "chekc"], "error: No such command 'chekc'."),
        (["start", "--consumers", "0"], "error: Invalid value for '--consumers': 0"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else None,
)
def test_a_slip_is_one_line_that_says_where_to_read_on(words, says):
    """Decision 15, BUILD-122."""
    told = CliRunner().invoke(main, words)

    assert told.exit_code == 2
    assert told.output.startswith(says)
    assert told.output.endswith("--help` says how.\n")
    assert told.output.count("\n") == 1


def test_wrong_settings_are_all_told_one_line_each(tmp_path):
    door = Door({"CAPTURE_GRACE": "x", "CAPTURE_TYPO": "y"}, tmp_path)

    told = CliRunner().invoke(main, ["status"], obj=door)

    assert told.exit_code == 2
    assert [line.split()[1] for line in told.output.splitlines()] == [
        "CAPTURE_GRACE:",
        "CAPTURE_TYPO",
    ]


@pytest.mark.parametrize(
    "words", [["builds"], ["show", "1"], ["status"], ["jobs"], ["wait", "1"]]
)
def test_a_database_that_is_not_there_is_one_line_and_is_not_made(tmp_path, words):
    told = CliRunner().invoke(main, words, obj=Door({}, tmp_path))

    assert told.exit_code == 8
    assert told.output.count("\n") == 1
    assert "submit a build first" in told.output
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_does_not_answer_is_one_line(tmp_path):
    door = Door({"CAPTURE_DATABASE_URL": "postgresql://u:s3cret@127.0.0.1:1/x"}, tmp_path)

    told = CliRunner().invoke(main, ["builds"], obj=door)

    assert told.exit_code == 8
    assert told.output.count("\n") == 1
    assert "s3cret" not in told.output
    assert "postgresql" in told.output
    assert told.output.endswith("/x does not answer: Connection refused\n")
