"""Whether the pictures of one story agree."""

from itertools import product

import pytest

from capture_consumer.handlers.capture.tries import Decision, Vote, decide

A, B, C = (Vote("still", name) for name in "abc")
MOVING = Vote("moving", "m")
THREW = Vote("errored", None, "story_error", "it threw")
LATE = Vote("errored", None, "render_timeout", "15 s")


@pytest.mark.parametrize(
    ("votes", "said"),
    [
        ([A], "again"),
        ([A, A], "captured"),
        ([A, B], "again"),
        ([A, B, A], "captured flaky"),
        ([A, B, B], "captured flaky"),
        ([A, B, C], "unstable"),
        ([MOVING], "again"),
        ([MOVING, MOVING], "unstable"),
        ([MOVING, A], "again"),
        ([MOVING, A, A], "captured flaky"),
        ([MOVING, A, MOVING], "unstable"),
        ([THREW], "errored"),
        ([LATE], "again"),
        ([LATE, LATE], "errored"),
        ([LATE, THREW], "errored"),
        ([LATE, A], "again"),
        ([LATE, A, A], "captured flaky"),
        ([LATE, A, B], "unstable"),
        ([A, THREW], "again"),
        ([A, THREW, THREW], "errored"),
        ([A, THREW, A], "captured flaky"),
        ([MOVING, THREW], "again"),
        ([MOVING, THREW, THREW], "errored"),
        ([MOVING, THREW, A], "unstable"),
    ],
)
def test_two_of_three_must_agree(votes, said):
    """BUILD-45, BUILD-47, CAP-21; B-17: what alternates is unstable, never a coin toss."""
    found = decide(votes, None)

    words = f"{found.state}{' flaky' if found.flaky else ''}" if found else "again"
    assert words == said


def test_a_first_picture_equal_to_the_baseline_is_enough():
    """BUILD-45, CAP-21."""
    assert decide([A], "a") == Decision("captured", A)


@pytest.mark.parametrize("vote", [Vote("moving", "a"), B])
def test_a_first_picture_that_moved_or_is_another_one_is_not(vote):
    """BUILD-45."""
    assert decide([vote], "a") is None


def test_the_baseline_has_no_vote():
    """BUILD-45: one picture of it and one of another do not decide."""
    assert decide([B, A], "a") is None
    assert decide([B, A, C], "a") == Decision("unstable", C)


def test_three_tries_always_decide_and_the_vote_named_is_the_last():
    """BUILD-45."""
    every = list(product([A, B, C, MOVING, THREW, LATE], repeat=3))

    decided = [decide(votes, "a") for votes in every if not decide(votes[:2], "a")]

    assert all(decided)
    assert all(
        found.vote in (A, B, C) for found in decided if found and found.state == "captured"
    )
