"""Which build is compared with, and why. Whole histories are in test_histories."""

import pytest

from capture_consumer.builds.baselines import Baseline, choose, held
from capture_consumer.builds.facts import HistoryFact
from capture_consumer.errors import PermanentError
from tests.plain import a_build, a_built, a_project

PARENTS = {"C": ("B",), "B": ("A",), "A": ()}


def history(*, parents=PARENTS, latest=None, on_base=None, pinned=None, **built) -> HistoryFact:
    return HistoryFact(parents, built, latest, on_base, pinned)


def test_a_pinned_base_goes_before_everything():
    """BUILD-51."""
    pinned = a_built(3)
    facts = history(A=(a_built(1, "A"),), pinned=pinned)

    found = choose(a_build(id=9, commit_sha="C", pinned_base="3"), facts)

    assert (found.build, found.reason) == (pinned, "pinned")


def test_a_pinned_base_that_is_not_there_fails_and_says_so():
    """BUILD-51: never silently all new."""
    with pytest.raises(PermanentError, match="The pinned base v1 has no finished build"):
        choose(a_build(id=9, commit_sha="C", pinned_base="v1"), history())


def test_the_mode_latest_looks_at_no_graph():
    """BUILD-51, R2."""
    build = a_build(id=9, commit_sha="C", project=a_project(baseline_mode="latest"))

    found = choose(build, history(A=(a_built(1, "A"),), latest=a_built(7)))

    assert (found.build, found.reason) == (a_built(7), "latest")


def test_the_newest_build_of_a_commit_is_taken_but_not_the_build_itself():
    """BUILD-52."""
    own, older = a_built(9, "C"), a_built(8, "C")

    found = choose(a_build(id=9, commit_sha="C"), history(C=(own, older)))

    assert (found.build, found.reason) == (older, "ancestor")


def test_an_untrusted_build_is_an_ancestor_for_its_own_pull_request_only():
    """BUILD-65."""
    fork = a_built(5, "B", trusted=False, pull=7)
    facts = history(A=(a_built(1, "A"),), B=(fork,))

    assert choose(a_build(id=9, commit_sha="C", pull=7), facts).build == fork
    assert choose(a_build(id=9, commit_sha="C", pull=8), facts).build == a_built(1, "A")
    assert choose(a_build(id=9, commit_sha="C"), facts).build == a_built(1, "A")


def test_beyond_the_horizon_the_base_branch_stands_in():
    """BUILD-55."""
    facts = history(parents={"C": None}, latest=a_built(4), on_base=a_built(3))

    found = choose(a_build(id=9, commit_sha="C"), facts)

    assert (found.build, found.reason) == (a_built(3), "approximate")


def test_only_a_project_without_finished_builds_has_a_first_one():
    """BUILD-56, B-5."""
    assert choose(a_build(id=9, commit_sha="C"), history()).first
    assert choose(a_build(id=9, commit_sha=None), history()).first
    assert not choose(a_build(id=9, commit_sha="C"), history(latest=a_built(4))).first


def test_a_merge_names_its_newest_side_first_and_the_build_above_both():
    """BUILD-54."""
    parents = {"M": ("X", "Y"), "X": ("B",), "Y": ("B",), "B": ("A",), "A": ()}
    facts = history(
        parents=parents,
        X=(a_built(3, "X"),),
        Y=(a_built(4, "Y"),),
        B=(a_built(2, "B"),),
        A=(a_built(1, "A"),),
    )

    found = choose(a_build(id=9, commit_sha="M"), facts)

    assert [one.number for one in found.builds] == [4, 3]
    assert found.common == a_built(2, "B")


MERGE = Baseline((a_built(4), a_built(3)), "ancestor", a_built(2))


@pytest.mark.parametrize(
    ("sides", "expected"),
    [
        ((1, 1, 1), ((1,), 4, "ancestor")),
        ((2, 1, 1), ((2,), 4, "ancestor")),
        ((1, 2, 1), ((2,), 3, "ancestor")),
        ((2, 2, 1), ((2,), 4, "ancestor")),
        ((2, 3, 1), ((2, 3), 4, "merge_ambiguous")),
        ((None, 2, None), ((2,), 3, "ancestor")),
        ((None, 2, 1), ((2,), 3, "ancestor")),
        ((1, 2, None), ((1, 2), 4, "merge_ambiguous")),
    ],
)
def test_a_merge_is_asked_key_by_key(sides, expected):
    """BUILD-54: the sides are the newer build, the older one, and the one above both."""
    found = held(MERGE, manifests(sides))[7]

    assert (found.image_ids, found.build_id, found.reason) == expected


@pytest.mark.parametrize("sides", [(None, 1, 1), (1, None, 1)])
def test_a_key_that_one_side_has_taken_out_is_gone(sides):
    """BUILD-54."""
    assert held(MERGE, manifests(sides)) == {}


def manifests(sides):
    return {
        build: {} if image is None else {7: image}
        for build, image in zip((4, 3, 2), sides, strict=True)
    }


def test_without_a_common_build_any_of_the_sides_will_do():
    """BUILD-54."""
    merge = Baseline((a_built(4), a_built(3)), "ancestor")

    assert held(merge, {4: {7: 2}, 3: {7: 1}})[7].image_ids == (2, 1)
