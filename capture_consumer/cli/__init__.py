"""The front door: commands for CI and for people (click, rich).

Begin with `main`, the group. A command's module is loaded when the command is named, so
that `status` never waits for a browser's library. Each command parses, calls lower rooms
and says what it did; what went wrong is one line and an exit code.

- `door`: settings, database, store and facts, opened when a command asks for them
- `screen`, `progress`: how things look on a terminal, and in a pipe
- `exits`: the exit codes

Doors read tables and write through `records` (house rule).
"""

import difflib
import importlib
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import click

from capture_consumer import __version__
from capture_consumer.cli import exits, screen
from capture_consumer.cli.door import Door
from capture_consumer.errors import CaptureConsumerError, SettingsInvalid

__all__ = ["COMMANDS", "main"]

ROOM = "capture_consumer.cli"
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 96}


class Named(NamedTuple):
    """Where a command is, what group of the help it stands in, and its line there."""

    module: str
    group: str
    does: str
    attribute: str = ""


COMMANDS: dict[str, Named] = {
    "submit": Named("submit", "Builds", "Submit a built Storybook or a folder of pictures."),
    "wait": Named("wait", "Builds", "Wait until a build has ended."),
    "builds": Named("look", "Builds", "List the newest builds."),
    "show": Named("show", "Builds", "Show a build: what changed, and why."),
    "review": Named("review", "Builds", "Accept or reject what changed."),
    "report": Named("report", "Builds", "Write a build as a folder of HTML."),
    "cancel": Named("mend", "Builds", "Cancel an open build."),
    "retry": Named("mend", "Builds", "Capture the same files again, as a new build."),
    "start": Named("start", "Running", "Start the supervisor and its consumers."),
    "status": Named("look", "Running", "Show what waits, runs and has ended."),
    "jobs": Named("look", "Running", "List jobs and how their attempts ended.", "jobs_listed"),
    "health": Named("health", "Running", "Tell whether the supervisor is alive."),
    "doctor": Named("doctor", "Upkeep", "Check this machine; say what is missing."),
    "db": Named("db", "Upkeep", "Upgrade or check the database's tables."),
}


def keep_lines(command: click.Command) -> None:
    r"""Make the mark `\b` of a raw docstring what click means by it: keep these lines."""
    command.help = (command.help or "").replace("\\b\n", "\b\n")
    if isinstance(command, click.Group) and not isinstance(command, Lazy):
        for inner in command.commands.values():
            keep_lines(inner)


class Lazy(click.Group):
    """A group whose commands are loaded when they are named."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the help."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command, its module loaded now; None for a name that is none."""
        del ctx
        named = COMMANDS.get(cmd_name)
        if named is None:
            return None
        module = importlib.import_module(f"{ROOM}.{named.module}")
        found = getattr(module, named.attribute or cmd_name)
        assert isinstance(found, click.Command), cmd_name
        keep_lines(found)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is named; for a name that is none, say what is near."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "choose from the list."
            raise click.UsageError(f"There is no command {name!r}: {hint}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands from the table, so that help loads none of them."""
        del ctx
        for group in dict.fromkeys(named.group for named in COMMANDS.values()):
            rows = [(name, one.does) for name, one in COMMANDS.items() if one.group == group]
            with formatter.section(group):
                formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; turn what went wrong into one line and its exit code."""
        try:
            return super().invoke(ctx)
        except CaptureConsumerError as error:
            if ctx.params.get("debug"):
                raise
            lines = error.faults if isinstance(error, SettingsInvalid) else (str(error),)
            for line in lines:
                screen.fail(line)
            ctx.exit(exits.of_error(error))
        except click.exceptions.NoArgsIsHelpError:
            raise
        except click.UsageError as error:
            asked = error.ctx.command_path if error.ctx else "capture-consumer"
            screen.fail(f"{error.format_message()} `{asked} --help` says how.")
            ctx.exit(exits.USAGE)
        except KeyboardInterrupt:
            screen.fail("stopped by Ctrl-C")
            ctx.exit(exits.INTERRUPTED)


@click.group(cls=Lazy, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="capture-consumer")
@click.option("--debug", is_flag=True, help="Show the stack trace of an error.")
@click.pass_context
def main(ctx: click.Context, *, debug: bool) -> None:
    r"""Visual tests of Storybooks, on your own machines.

    \b
    Example:    capture-consumer submit storybook-static
                capture-consumer start
    Exit codes: each command's help names its own.
    """
    del debug
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="replace")  # a story's name must not break a terminal's encoding
    if ctx.obj is None:
        ctx.obj = Door(os.environ, Path.cwd())


keep_lines(main)
