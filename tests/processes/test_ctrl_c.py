"""Ctrl-C while a command waits: nothing is lost, and the last line says what to do."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.unit.repositories import Repository

pytestmark = [pytest.mark.processes, pytest.mark.slow]


def environment() -> dict[str, str]:
    """Return an environment without settings and without a CI."""
    gone = ("CAPTURE_", "GITHUB_", "GITLAB_", "CI")
    return {name: value for name, value in os.environ.items() if not name.startswith(gone)}


def command(*words: str) -> list[str]:
    """Return the words that run a command."""
    return [sys.executable, "-m", "capture_consumer", *words]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """Return a repository with a folder of one picture."""
    repository = Repository(tmp_path / "shop")
    (repository.folder / "shots").mkdir()
    Image.new("RGB", (4, 4)).save(repository.folder / "shots" / "home.png")
    repository.commit()
    return repository.folder


def test_a_submit_that_is_interrupted_leaves_with_130_and_its_build_goes_on(shop):
    """BUILD-122, decision 15."""
    submit = subprocess.Popen(
        command("submit", "shots"),
        cwd=shop,
        env=environment(),
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert submit.stderr is not None
    told = ""
    while "pending" not in told:
        line = submit.stderr.readline()
        assert line, told
        told += line

    submit.send_signal(signal.SIGINT)
    _, rest = submit.communicate(timeout=15)

    assert submit.returncode == 130
    assert "capture-consumer wait shop/1" in rest
    assert "capture-consumer cancel shop/1" in rest
    assert "Traceback" not in rest
    listed = subprocess.run(
        command("builds", "--json"),
        cwd=shop,
        env=environment(),
        capture_output=True,
        check=True,
        timeout=15,
    )
    assert [build["phase"] for build in json.loads(listed.stdout)] == ["pending"]


def test_output_that_nobody_reads_ends_a_command_without_a_trace(shop):
    told = subprocess.run(
        ["sh", "-c", f"{' '.join(command('doctor'))} --json | true"],
        cwd=shop,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=19,
    )

    assert b"Traceback" not in told.stderr
