"""What an end costs: every budget, each by itself, and never more attempts than they allow."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, strategies as st

from capture_consumer.consumer.budget import LIMITS, Again, Blame, GiveUp, Past, after
from capture_consumer.consumer.outcome import Crashed, Failed, Lost, Released, TimedOut, word_of

NOW = datetime(2026, 1, 10, tzinfo=UTC)
CRASHED = Crashed(code="crashed", text="killed by signal 9")
ENDS = [
    Failed("boom", "x"),
    TimedOut(code="hung", text="x"),
    CRASHED,
    Lost(code="lost", text="x"),
    Released(),
]


def past(*outcomes, story=None, explained=False, hours_ago=0):
    at = NOW - timedelta(hours=hours_ago)
    return [Past(n, one, at, explained, story) for n, one in enumerate(outcomes, 1)]


def follows(end, history=(), **given):
    return after(end, history, now=NOW, was_suspect=False, **given)


@pytest.mark.parametrize(
    ("end", "outcome", "allowed"),
    [
        (Failed("boom", "x"), "failed", 2),
        (TimedOut(code="hung", text="x"), "timed_out", 2),
        (CRASHED, "crashed", 2),
        (Lost(code="lost", text="x"), "lost", 4),
    ],
)
def test_a_budget_allows_so_many_and_not_one_more(end, outcome, allowed):
    """JOB-157."""
    assert isinstance(follows(end, past(*[outcome] * (allowed - 1))), Again)
    assert isinstance(follows(end, past(*[outcome] * allowed)), GiveUp)


def test_time_outs_and_failures_share_one_budget():
    """JOB-16."""
    assert isinstance(follows(Failed("boom", "x"), past("failed", "timed_out")), GiveUp)


@pytest.mark.parametrize("end", [CRASHED, Lost(code="lost", text="x"), Released()])
def test_only_failures_and_time_outs_are_followed_by_a_wait(end):
    """R3."""
    assert follows(end) == Again(0, suspect=isinstance(end, Lost))


def test_explained_ends_do_not_count():
    """JOB-126."""
    assert isinstance(follows(CRASHED, past("crashed", "crashed", explained=True)), Again)


def test_a_crash_of_73_hours_ago_does_not_count():
    """SUP-38."""
    assert isinstance(follows(CRASHED, past("crashed", "crashed", hours_ago=73)), Again)


def test_a_failure_of_73_hours_ago_does():
    """R5: the window is for crashes only."""
    history = past("failed", "failed", hours_ago=73)

    assert isinstance(follows(Failed("boom", "x"), history), GiveUp)


def test_the_story_of_an_earlier_death_takes_the_blame_for_both():
    """SUP-27."""
    history = past("crashed", story="a")

    assert follows(CRASHED, history, story="a") == Blame("a", (1,))


def test_a_death_that_was_explained_blames_nobody_again():
    """SUP-27: an earlier *unexplained* death."""
    history = past("crashed", "crashed", story="a", explained=True)

    assert isinstance(follows(CRASHED, history, story="a"), Again)


def test_a_failure_with_the_story_in_hand_is_no_death():
    history = past("failed", story="a")

    assert isinstance(follows(CRASHED, history, story="a"), Again)


def test_a_release_keeps_the_mark_of_a_suspect():
    """JOB-158."""
    assert after(Released(), [], now=NOW, was_suspect=True) == Again(0, suspect=True)


@given(st.lists(st.sampled_from(ENDS), min_size=60, max_size=60))
def test_a_job_never_makes_more_attempts_than_its_budgets_allow(ends):
    """JOB-157, S8, L4: whatever the ends are, and in which order."""
    made: list[Past] = []
    for end in ends:
        follow = follows(end, made)
        made.append(Past(len(made) + 1, word_of(end), NOW))
        if isinstance(follow, GiveUp):
            break

    counted = [one.outcome for one in made]
    failures = counted.count("failed") + counted.count("timed_out")
    over = max(0, counted.count("released") - LIMITS.released)
    assert failures + over <= LIMITS.failures
    assert counted.count("crashed") <= LIMITS.crashes
    assert counted.count("lost") <= LIMITS.lost
    assert len(made) <= 2 + 2 + 4 + 20 + 1 + 1
