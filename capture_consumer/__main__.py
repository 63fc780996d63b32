"""The way in: a health probe before any other import, a child, else the command line."""

import os
import sys

__all__ = ["main"]


EXIT_CONFIGURATION = 78


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
        from capture_consumer.cli import main as command_line

        command_line()


if __name__ == "__main__":
    main()
