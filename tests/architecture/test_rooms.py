"""A room stands on rooms below it, and nowhere else."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_every_room_stands_on_rooms_below_it():
    """The contracts stand in pyproject.toml, and none has an exception."""
    told = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert told.returncode == 0, told.stdout
    assert "ignore_imports" not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
