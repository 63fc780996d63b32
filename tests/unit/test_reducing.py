"""Outcomes key by key, and what a build comes to. Whole histories are in test_histories."""

from dataclasses import replace

import pytest

from capture_consumer.builds.baselines import Baseline, Held
from capture_consumer.builds.facts import ImageFact
from capture_consumer.builds.reducing import in_chunks, pairs, reduce
from capture_consumer.builds.ruling import Question, rule
from tests.plain import a_build, a_built, a_key, a_project, a_snapshot, an_image

BEFORE = Held((1,), 5, "ancestor")
OURS = a_snapshot(image=an_image(2))


def question(**values) -> Question:
    """Return a question about OURS against image 1 of build 5, found to be changed."""
    plain = Question(
        build=a_build(),
        snapshots=(OURS,),
        baseline=Baseline((a_built(5),), "ancestor"),
        held={1: BEFORE},
        keys={number: a_key(number, f"story-{number}") for number in range(1, 5)},
        images={1: an_image(1), 3: an_image(3)},
        compared={(1, 2): "changed"},
        params_sha="rule",
    )
    return replace(plain, **values)


@pytest.mark.parametrize(
    ("compared", "outcome", "review"),
    [
        ("equal", "unchanged", "none"),
        ("tolerated", "unchanged", "none"),
        ("changed", "changed", "pending"),
    ],
)
def test_a_comparison_says_whether_a_picture_has_changed(compared, outcome, review):
    """BUILD-61, BUILD-64."""
    said = rule(question(compared={(1, 2): compared}), OURS)

    assert (said.outcome, said.review) == (outcome, review)
    assert said.compared == ("pixels-1", "pixels-2", "rule")
    assert (said.baseline_image_id, said.baseline_build_id) == (1, 5)
    assert said.baseline_reason == "ancestor"


def test_a_new_picture_names_the_build_that_has_none_of_it():
    """BUILD-64: the page answers "why this one?" from the row alone."""
    said = rule(question(held={}), OURS)

    assert (said.outcome, said.baseline_image_id) == ("new", None)
    assert (said.baseline_build_id, said.baseline_reason) == (5, "ancestor")


def test_equal_pixels_are_compared_by_nobody():
    """BUILD-61, CAP-28."""
    same = a_snapshot(image=an_image(1))

    assert pairs([same], {1: BEFORE}) == {}
    assert rule(question(), same).outcome == "unchanged"
    assert rule(question(), same).compared is None


def test_what_is_within_tolerance_leaves_the_baselines_image_in_the_map():
    """BUILD-44 to BUILD-61: small steps cannot add up."""
    found = reduce(question(compared={(1, 2): "tolerated"}))

    assert found.manifest == {1: 1}


def test_of_a_merges_images_the_equal_one_is_the_baseline():
    """BUILD-54."""
    asked = question(held={1: Held((1, 2), 5, "merge_ambiguous")})

    assert rule(asked, OURS).outcome == "unchanged"
    assert rule(asked, OURS).baseline_image_id == 2
    assert reduce(asked).manifest == {1: 2}


@pytest.mark.parametrize("state", ["errored", "unstable", "lost", "skipped"])
def test_what_is_not_captured_keeps_the_older_image(state):
    """BUILD-44, builds.md rule 3."""
    found = reduce(question(snapshots=(a_snapshot(state=state),)))

    assert found.ruled[0].outcome == state
    assert found.ruled[0].baseline_image_id == 1
    assert found.manifest == {1: 1}
    assert found.removed == ()


def test_a_snapshot_left_planned_is_lost_and_not_removed():
    """BUILD-34."""
    found = reduce(question(snapshots=(a_snapshot(state="planned"),)))

    assert found.verdict == "incomplete"


@pytest.mark.parametrize(
    ("policy", "review", "verdict"),
    [
        ("review", "pending", "needs_review"),
        ("block", "none", "broken"),
        ("warn", "none", "passed"),
    ],
)
def test_an_unstable_story_asks_where_the_policy_says_so(policy, review, verdict):
    """BUILD-18."""
    still = a_snapshot(id=2, key=a_key(2), image=an_image(3))
    found = reduce(
        question(
            build=a_build(project=a_project(policy_unstable=policy)),
            snapshots=(a_snapshot(state="unstable"), still),
            held={1: BEFORE, 2: Held((3,), 5, "ancestor")},
        )
    )

    assert (found.ruled[0].review, found.verdict) == (review, verdict)


def test_a_pair_that_could_not_be_compared_is_an_error_of_its_story():
    """BUILD-78."""
    found = reduce(question(compared={}))

    assert (found.ruled[0].outcome, found.ruled[0].error_code) == ("errored", "compare_crashed")
    assert found.manifest == {1: 1}


def test_policies_accept_what_is_new_and_what_is_removed():
    """BUILD-21."""
    project = a_project(policy_new="auto", policy_removed="auto")
    found = reduce(
        question(
            build=a_build(project=project), held={3: Held((3,), 5, "ancestor")}, compared={}
        )
    )

    assert (found.ruled[0].outcome, found.ruled[0].review_source) == ("new", "policy")
    assert (found.removed[0].outcome, found.removed[0].review_source) == ("removed", "policy")
    assert found.verdict == "accepted"
    assert found.manifest == {1: 2}


def test_an_approval_in_scope_is_carried():
    """BUILD-61, BUILD-62."""

    def approved(key_id: int, image: ImageFact | None) -> bool:
        return (key_id, image) in {(1, an_image(2)), (3, None)}

    held = {1: BEFORE, 3: Held((3,), 5, "ancestor")}
    found = reduce(question(held=held, approved=approved))

    assert (found.ruled[0].outcome, found.ruled[0].review) == ("carried", "accepted")
    assert (found.removed[0].outcome, found.removed[0].review_source) == ("removed", "carried")
    assert found.manifest == {1: 2}


def test_a_branch_that_accepts_does_not_accept_for_pull_requests():
    """BUILD-61."""
    project = a_project(accept_branches=("main",))

    alone = reduce(question(build=a_build(project=project)))
    of_a_pull = reduce(question(build=a_build(project=project, pull=7)))

    assert (alone.verdict, of_a_pull.verdict) == ("accepted", "needs_review")


def test_a_row_that_an_earlier_attempt_added_is_no_plan():
    """BUILD-75, BUILD-62."""
    added = a_snapshot(id=8, key=a_key(3), state="lost", outcome="removed")
    asked = question(snapshots=(OURS, added), held={1: BEFORE, 3: Held((3,), 5, "ancestor")})

    found = reduce(asked)

    assert [gone.key_id for gone in found.removed] == [3]
    assert found.withdrawn == ()
    assert found.counts["total"] == 2


def test_a_row_that_holds_no_more_since_the_baseline_is_another_one_is_withdrawn():
    """BUILD-75."""
    added = a_snapshot(id=8, key=a_key(3), state="lost", outcome="removed")

    found = reduce(question(snapshots=(OURS, added)))

    assert (found.removed, found.withdrawn) == ((), (8,))
    assert found.counts["total"] == 1


def test_a_first_build_that_captured_nothing_is_nothing_to_build_on():
    """BUILD-56: the next one is the first."""
    asked = question(
        snapshots=(a_snapshot(state="errored"),), baseline=Baseline((), "first_build"), held={}
    )

    assert reduce(asked).manifest is None
    assert reduce(asked).verdict == "broken"


def test_outcomes_are_saved_in_chunks_of_five_hundred():
    """BUILD-79."""
    snapshots = tuple(
        a_snapshot(id=number, key=a_key(number), image=an_image(9))
        for number in range(1, 1_202)
    )
    found = reduce(question(snapshots=snapshots, held={}, compared={}))

    chunks = list(in_chunks(1, found))

    assert [len(chunk.ruled) for chunk in chunks] == [500, 500, 201]
    assert tuple(one for chunk in chunks for one in chunk.ruled) == found.ruled


def test_withdrawn_rows_are_told_in_chunks_too():
    """BUILD-75, BUILD-79."""
    added = tuple(
        a_snapshot(id=number, key=a_key(number), state="skipped", outcome="removed")
        for number in range(10, 1_000)
    )

    chunks = list(in_chunks(1, reduce(question(snapshots=(OURS, *added)))))

    assert [len(chunk.withdrawn) for chunk in chunks] == [0, 500, 490]
