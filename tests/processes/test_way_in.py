"""The first moments of a command: signals that come early, output that cannot be written."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

COMMAND = [sys.executable, "-m", "capture_consumer"]


def environment(folder, **more):
    """Return an environment with all that is ours in one folder."""
    kept = {name: value for name, value in os.environ.items() if "CAPTURE_" not in name}
    told = {"CAPTURE_STATE_DIR": f"{folder}/state", "CAPTURE_STORE": f"{folder}/store"}
    return {**kept, **told, **more}


def test_a_start_that_waits_for_its_database_leaves_at_the_first_term(tmp_path):
    """SUP-57, SUP-59: as PID 1 it would be deaf to it for a minute."""
    away = "postgresql://nobody@127.0.0.1:1/none"
    with subprocess.Popen(
        [*COMMAND, "start"],
        cwd=tmp_path,
        env=environment(tmp_path, CAPTURE_DATABASE_URL=away),
        stderr=subprocess.PIPE,
        text=True,
    ) as start:
        assert start.stderr
        told = start.stderr.readline()
        start.send_signal(signal.SIGTERM)
        code = start.wait(30)

    assert (code, "60 s at most" in told) == (0, True)


BECOMES = """
import os, sys
from capture_consumer.cli.start import become
from capture_consumer.supervisor.plan import Plan

plan = Plan(state_dir="/nowhere", consumers=1, grace_s=1.0)
sys.executable = sys.argv[1]
become(plan, dict(os.environ))
"""


def test_a_term_between_the_checks_and_the_supervisor_waits_for_its_handlers(tmp_path):
    """SUP-57: an exec takes handlers away; what is blocked stays pending."""
    shows = tmp_path / "shows"
    shows.write_text("#!/bin/sh\nexec grep SigBlk /proc/self/status\n", encoding="utf-8")
    shows.chmod(0o755)

    told = subprocess.run(
        [sys.executable, "-c", BECOMES, str(shows)], capture_output=True, text=True, check=True
    ).stdout

    blocked = int(told.split()[1], 16)
    assert all(blocked >> (number - 1) & 1 for number in (signal.SIGTERM, signal.SIGINT))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
def test_output_that_cannot_be_written_is_one_line(tmp_path):
    """D15: a full disk under a redirection is not a fault of ours."""
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [*COMMAND, "--help"],
            cwd=tmp_path,
            env=environment(tmp_path),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1), done.stderr
    assert "cannot be written" in done.stderr
