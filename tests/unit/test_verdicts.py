"""Results and reviews to a verdict."""

from dataclasses import dataclass

import pytest
from hypothesis import given, strategies as st

from capture_consumer.builds.facts import Outcome, Review
from capture_consumer.builds.verdicts import counts, verdict
from tests.plain import a_project


@dataclass(frozen=True)
class Row:
    outcome: Outcome | None
    review: Review = "none"
    flaky: bool = False


UNCHANGED = Row("unchanged")
ACCEPTED = Row("changed", "accepted")
PENDING = Row("changed", "pending")
REJECTED = Row("changed", "rejected")
ERRORED = Row("errored")
LOST = Row("lost")
UNSTABLE = Row("unstable", "pending")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([UNCHANGED], "passed"),
        ([UNCHANGED, Row("skipped")], "passed"),
        ([UNCHANGED, ACCEPTED], "accepted"),
        ([UNCHANGED, Row("carried", "accepted")], "accepted"),
        ([UNCHANGED, Row("removed", "accepted")], "accepted"),
        ([Row("new", "accepted")], "accepted"),
        ([ACCEPTED, PENDING], "needs_review"),
        ([UNCHANGED, UNSTABLE], "needs_review"),
        ([UNCHANGED, Row("unstable", "accepted")], "accepted"),
        ([UNCHANGED, Row("removed", "pending")], "needs_review"),
        ([ACCEPTED, PENDING, REJECTED], "rejected"),
        ([REJECTED, ERRORED], "broken"),
        ([ACCEPTED, ERRORED], "broken"),
        ([ERRORED, LOST], "incomplete"),
        ([REJECTED, LOST], "incomplete"),
        ([], "broken"),
        ([Row("skipped")], "broken"),
        ([Row("removed", "accepted")], "broken"),
        ([UNSTABLE], "broken"),
    ],
)
def test_the_first_line_that_holds_is_the_verdict(rows, expected):
    """BUILD-18, BUILD-20; B-12: nothing compared is not passed."""
    assert verdict(rows, a_project()) == expected


@pytest.mark.parametrize(
    ("policy", "review", "expected"),
    [
        ("review", "pending", "needs_review"),
        ("block", "none", "broken"),
        ("warn", "none", "passed"),
    ],
)
def test_what_an_unstable_story_means_is_the_projects_to_say(policy, review, expected):
    """BUILD-18, B-17."""
    rows = [UNCHANGED, Row("unstable", review)]

    assert verdict(rows, a_project(policy_unstable=policy)) == expected


def test_a_skipped_build_is_skipped():
    """BUILD-18, T4."""
    assert verdict([], a_project(), skipped=True) == "skipped"


ROWS = st.builds(
    Row,
    st.sampled_from(["unchanged", "changed", "new", "removed", "errored", "lost", "unstable"]),
    st.sampled_from(["none", "pending", "accepted", "rejected"]),
    st.booleans(),
)


@given(st.lists(ROWS, max_size=6))
def test_the_order_of_snapshots_means_nothing(rows):
    """BUILD-19."""
    project = a_project()

    assert verdict(rows, project) == verdict(rows[::-1], project)
    assert counts(rows) == counts(rows[::-1])


def test_counts_are_a_recount_of_outcomes_and_reviews():
    """BUILD-80."""
    rows = [UNCHANGED, UNCHANGED, PENDING, Row("changed", "accepted", flaky=True)]

    assert counts(rows) == {
        "total": 4,
        "unchanged": 2,
        "changed": 2,
        "pending": 1,
        "accepted": 1,
        "flaky": 1,
    }


def test_what_has_no_outcome_yet_is_only_counted_as_a_snapshot():
    """BUILD-80."""
    assert counts([Row(None)]) == {"total": 1}
