"""Exit codes are a contract with CI."""

from typing import get_args

import pytest

from capture_consumer import errors
from capture_consumer.builds.facts import Verdict
from capture_consumer.builds.phases import ENDS
from capture_consumer.cli import exits


@pytest.mark.parametrize(
    ("verdict", "code"),
    [
        ("passed", 0),
        ("accepted", 0),
        ("skipped", 0),
        ("needs_review", 1),
        ("rejected", 1),
        ("broken", 3),
        ("incomplete", 4),
    ],
)
def test_a_verdict_has_its_code(verdict, code):
    """BUILD-122."""
    assert exits.OF_VERDICTS[verdict] == code


def test_every_verdict_and_every_end_has_a_code():
    """BUILD-122."""
    assert set(exits.OF_VERDICTS) == set(get_args(Verdict))
    assert set(exits.OF_ENDS) == set(ENDS) - {"finished"}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.DatabaseAway("x"), 8),
        (errors.SchemaMismatch("x"), 8),
        (errors.StoreUnusable("x"), 8),
        (errors.PermanentError("bad_index", "x"), 5),
        (errors.BadInput("x"), 2),
        (errors.NotFound("x"), 2),
        (errors.Refused("x"), 2),
        (errors.SettingsInvalid(("x",)), 2),
    ],
)
def test_an_error_has_its_code(error, code):
    """BUILD-122."""
    assert exits.of_error(error) == code
