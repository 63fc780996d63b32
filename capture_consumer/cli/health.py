"""`health`: the probe, for whoever comes through the group.

`python -m capture_consumer health` answers before anything else of ours is imported; this
command is the same one, here so that help and documentation know it.
"""

import os

import click

from capture_consumer.cli.door import Door

__all__ = ["health"]


@click.command()
@click.option("--ready", is_flag=True, help="Ask for readiness, not only for life.")
@click.pass_obj
def health(door: Door, *, ready: bool) -> None:
    r"""Tell in one line whether the supervisor of this machine lives, or is ready.

    It opens no database and answers within a second.

    \b
    Example:    capture-consumer health --ready
    Exit codes: 0 yes, 1 no, 2 wrong usage.
    """
    from capture_consumer.supervisor import health as probe  # noqa: PLC0415

    del door
    raise SystemExit(probe.main(["--ready"] if ready else [], dict(os.environ)))
