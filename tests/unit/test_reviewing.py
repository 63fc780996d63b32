"""A person's answers about a finished build."""

import pytest

from capture_consumer.builds import manifest as maps
from capture_consumer.builds.effects import KeepContent, ReviewSnapshots
from capture_consumer.builds.facts import BuildView, SnapshotView
from capture_consumer.builds.reviewing import review
from capture_consumer.errors import NotFound, Refused
from tests.plain import a_build, a_key, a_snapshot, an_image

NOW = {1: 1, 2: 5, 4: 9, 5: 11}


def one(number: int, story: str, outcome: str, **values):
    return a_snapshot(id=number, key=a_key(number, story), outcome=outcome, **values)


SNAPSHOTS = (
    one(1, "button--a", "changed", review="pending", image=an_image(2), baseline=an_image(1)),
    one(2, "button--b", "unchanged", image=an_image(5), baseline=an_image(5)),
    one(3, "card--new", "new", review="pending", image=an_image(7), review_no=3),
    one(4, "card--gone", "removed", review="pending", state="lost", baseline=an_image(9)),
    one(5, "card--odd", "unstable", review="pending", state="unstable", baseline=an_image(11)),
    one(6, "card--bad", "errored", state="errored"),
)


def view(snapshots=SNAPSHOTS, **values) -> BuildView:
    values = {"phase": "finished", "rev": 9, "manifest_sha": "map"} | values
    shown = tuple(
        SnapshotView(fact, "default", 5, "ancestor", None, None) for fact in snapshots
    )
    return BuildView(a_build(**values), shown, (), None, None)


def effect_of(found) -> ReviewSnapshots:
    content, effect = found.effects
    assert isinstance(content, KeepContent)
    assert isinstance(effect, ReviewSnapshots)
    assert content.blobs[0].sha == effect.manifest_sha == maps.sha_of(found.manifest)
    return effect


def test_accepting_takes_new_pictures_into_the_map_and_removed_keys_out_of_it():
    """BUILD-69, BUILD-82."""
    found = review(view(SNAPSHOTS[:4]), accept=("*",), reviewer="ana", manifest=NOW)

    effect = effect_of(found)
    assert maps.decode(found.manifest) == {1: 2, 2: 5, 3: 7, 5: 11}
    assert effect.verdict == "accepted"
    assert effect.counts["accepted"] == 3
    assert (effect.rev, effect.reviewer) == (9, "ana")


def test_each_answer_names_what_was_seen():
    """BUILD-83."""
    found = review(view(), accept=("card--new",), reviewer="ana", manifest=NOW)

    (decided,) = effect_of(found).decided
    assert (decided.snapshot_id, decided.decision, decided.review_no) == (3, "accepted", 3)


def test_rejecting_keeps_the_map():
    """BUILD-85, BUILD-18."""
    found = review(view(SNAPSHOTS[:4]), reject=("button--*",), reviewer="ana", manifest=NOW)

    assert maps.decode(found.manifest) == NOW
    assert effect_of(found).verdict == "rejected"


def test_a_story_that_is_accepted_and_rejected_is_rejected():
    found = review(view(), accept=("*",), reject=("button--a",), reviewer="ana", manifest=NOW)

    decisions = {one.snapshot_id: one.decision for one in effect_of(found).decided}
    assert decisions[1] == "rejected"


def test_undoing_gives_back_the_baseline_and_the_question():
    """BUILD-85."""
    accepted = one(
        1, "button--a", "changed", review="accepted", image=an_image(2), baseline=an_image(1)
    )

    found = review(view((accepted,)), undo=("*",), reviewer="ana", manifest={1: 2})

    assert maps.decode(found.manifest) == {1: 1}
    assert effect_of(found).verdict == "needs_review"
    assert effect_of(found).decided[0].decision == "undone"


def test_an_unstable_story_that_is_accepted_is_passed_for_this_build():
    """BUILD-18, BUILD-86."""
    found = review(view(), accept=("card--odd",), reviewer="ana", manifest=NOW)

    assert maps.decode(found.manifest) == NOW
    assert [one.id for one in found.decided] == [5]


def test_a_broken_build_stays_broken_and_its_accepted_pictures_enter_the_map():
    """BUILD-20."""
    found = review(view(), accept=("*",), reviewer="ana", manifest=NOW)

    assert effect_of(found).verdict == "broken"
    assert maps.decode(found.manifest) == {1: 2, 2: 5, 3: 7, 5: 11}
    assert [one.id for one in found.left] == [6]


def test_nobody_can_answer_for_a_story_that_threw():
    """BUILD-86."""
    with pytest.raises(Refused, match="card--bad is errored"):
        review(view(), accept=("card--bad",), reviewer="ana", manifest=NOW)


def test_the_same_answer_twice_is_one():
    """BUILD-88."""
    accepted = one(1, "button--a", "changed", review="accepted", image=an_image(2))

    found = review(view((accepted,)), accept=("*",), reviewer="ben", manifest={1: 2})

    assert found.effects == ()


def test_a_build_that_is_not_finished_has_no_answers():
    """BUILD-86."""
    with pytest.raises(Refused, match="Build 1 is capturing"):
        review(view(phase="capturing"), accept=("*",), reviewer="ana", manifest={})


def test_a_pattern_that_meets_nothing_says_so_and_nothing_is_decided():
    with pytest.raises(NotFound, match="buton"):
        review(view(), accept=("card--*", "buton--*"), reviewer="ana", manifest=NOW)
