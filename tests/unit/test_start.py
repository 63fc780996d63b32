"""`start` checks everything before it becomes the supervisor."""

import pytest
from click.testing import CliRunner

from capture_consumer.cli import main
from capture_consumer.cli.door import Door
from capture_consumer.cli.start import wait_for_database
from capture_consumer.errors import DatabaseAway
from capture_consumer.settings import load

NOWHERE = {"CAPTURE_DATABASE_URL": "postgresql://127.0.0.1:1/x"}


@pytest.mark.parametrize(
    "told",
    [
        {"CAPTURE_LEASE_MS": "soon"},
        {"CAPTURE_STORE": "s3://bucket"},
        {"CAPTURE_BROWSER": "/no/such/browser"},
        {"CAPTURE_STATE_DIR": "/proc/no"},
    ],
)
def test_what_is_configured_wrong_is_one_line_and_78(tmp_path, told):
    """SUP-49."""
    answer = CliRunner().invoke(main, ["start"], obj=Door(told, tmp_path))

    assert answer.exit_code == 78
    assert answer.output.count("\n") == 1
    assert answer.output.startswith("error: ")


def test_a_database_that_is_away_is_waited_for_a_minute_and_said_once(tmp_path, capsys):
    """SUP-49, R30."""
    waited: list[float] = []

    with pytest.raises(DatabaseAway):
        wait_for_database(
            load(NOWHERE, cwd=tmp_path), wait=waited.append, elapsed=lambda: sum(waited)
        )

    assert 58 <= sum(waited) <= 62
    assert capsys.readouterr().err.count("Waiting for it") == 1


def test_a_database_file_is_made_with_its_tables(tmp_path):
    """R25."""
    wait_for_database(load({}, cwd=tmp_path))

    told = CliRunner().invoke(main, ["db", "check"], obj=Door({}, tmp_path))
    assert told.exit_code == 0
