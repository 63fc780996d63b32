"""Asserts guard the rows in production too, so nothing of ours runs without them."""

import os
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("flags", "environ"), [(("-O",), {}), ((), {"PYTHONOPTIMIZE": "2"})], ids=["-O", "environ"]
)
@pytest.mark.parametrize(
    "words",
    [
        ("capture_consumer", "builds"),
        ("capture_consumer", "start"),
        ("capture_consumer", "child", "consumer"),
        ("capture_consumer", "child", "clerk"),
        ("capture_consumer", "health"),
        ("capture_consumer.supervisor",),
    ],
    ids=" ".join,
)
def test_no_process_of_ours_runs_without_asserts(words, flags, environ, tmp_path):
    """adr/0001: one line, and the exit code of a wrong configuration."""
    came = subprocess.run(
        [sys.executable, *flags, "-m", *words],
        cwd=tmp_path,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (came.returncode, came.stdout) == (78, "")
    assert "asserts" in came.stderr
    assert came.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
