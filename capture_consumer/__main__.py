"""The way in: a health probe before any other import, a child, else the command line."""

import errno
import os
import signal
import sys

__all__ = ["main"]

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EIO}
EXIT_UNWRITABLE = 1
EXIT_CONFIGURATION = 78
EXIT_INTERRUPTED = 130


def main() -> None:
    """Run what the arguments name; never without the asserts that guard the rows (adr/0001)."""
    if not __debug__:
        sys.stderr.write("python -O and PYTHONOPTIMIZE take asserts away: run without them\n")
        sys.exit(EXIT_CONFIGURATION)
    words = sys.argv[1:]
    if words[:1] == ["health"]:
        from capture_consumer.supervisor.health import main as health

        sys.exit(health(words[1:], dict(os.environ)))
    elif words[:1] == ["child"] and words[1:]:
        from capture_consumer.wiring import run_child

        sys.exit(run_child(words[1]))
    else:
        if "start" in words[:2]:
            # As PID 1 a TERM without a handler is ignored; nothing has been started yet.
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        command_line()


def command_line() -> None:
    """Run a command; Ctrl-C while it is still being loaded is one line as well."""
    try:
        from capture_consumer.cli import main as command

        try:
            command()
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        leave("stopped by Ctrl-C", EXIT_INTERRUPTED)
    except OSError as error:
        if error.errno not in FULL:
            raise
        leave(f"the output cannot be written: {error.strerror}", EXIT_UNWRITABLE)


def leave(why: str, code: int) -> None:
    """Say why in one line, and end without a second try to write what is left."""
    sys.stderr.write(f"error: {why}\n")
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
