"""What must come out of whole histories (BUILD-67). Carried approvals are not among them."""

from tests.unit.histories import History


def grown(**images: int) -> History:
    """Return a project whose first build, on A, shows these images; B is A's child."""
    history = History()
    history.commit("A")
    history.commit("B", "A")
    history.commit("C", "B")
    history.build_of("A", images)
    return history


def test_the_first_build_of_a_project_is_accepted():
    """BUILD-67, 1; BUILD-56."""
    history = History()
    history.commit("A")

    first = history.build("A", x=1, y=1)

    assert first.verdict == "accepted"
    assert first.reason == "first_build"
    assert history.maps[1] == {1: 1, 2: 1}
    assert {one.review_source for one in first.reduced.ruled} == {"first_build"}
    assert {one.baseline_reason for one in first.reduced.ruled} == {"first_build"}


def test_a_first_build_with_a_story_that_throws_is_broken_and_its_pictures_are_accepted():
    """BUILD-56, R2."""
    history = History()
    history.commit("A")

    first = history.build_of("A", {"x": 1}, errored=("y",))

    assert first.verdict == "broken"
    assert history.maps[1] == {1: 1}


def test_a_change_that_nobody_accepts_leaves_the_baseline_as_it_was():
    """BUILD-67, 2; B-4."""
    history = grown(x=1)

    changed = history.build("B", x=2)
    back = history.build("C", x=1)

    assert changed.outcome("x") == "changed"
    assert changed.verdict == "needs_review"
    assert back.outcome("x") == "unchanged"
    assert back.verdict == "passed"


def test_a_true_merge_has_what_was_accepted_on_either_side():
    """BUILD-67, 3; BUILD-54."""
    history = grown(x=1, y=1)
    history.commit("F", "A")
    history.commit("M", "B", "F")
    on_main = history.build("B", x=1, y=2)
    history.answer(on_main, accept=("y",))
    on_f = history.build("F", branch="f", x=2, y=1)
    history.answer(on_f, accept=("x",))

    merge = history.build("M", x=2, y=2)

    assert (merge.outcome("x"), merge.outcome("y")) == ("unchanged", "unchanged")
    assert history.maps[merge.build.id] == {1: 2, 2: 2}


def test_a_squash_that_nothing_links_to_its_pull_request_asks():
    """BUILD-67, 6; B-2."""
    history = grown(x=1)
    history.commit("F", "A")
    history.answer(history.build("F", branch="f", x=2), accept=("x",))

    squash = history.build("B", x=2)

    assert squash.outcome("x") == "changed"


def test_after_a_subset_build_nothing_is_new_and_nothing_removed():
    """BUILD-67, 8; BUILD-63."""
    history = grown(x=1, y=1)

    part = history.build_of("B", {"x": 1}, subset=True)
    full = history.build("C", x=1, y=1)

    assert (part.verdict, full.verdict) == ("passed", "passed")
    assert not part.reduced.removed


def test_a_parent_without_a_finished_build_is_walked_past():
    """BUILD-67, 9."""
    history = grown(x=1)

    child = history.build("C", x=1)

    assert child.reason == "ancestor"
    assert child.outcome("x") == "unchanged"


def test_a_removal_that_nobody_accepts_keeps_the_image():
    """BUILD-67, 10."""
    history = grown(x=1, y=1)

    without = history.build("B", x=1)
    back = history.build("C", x=1, y=1)

    assert without.outcome("y") == "removed"
    assert without.verdict == "needs_review"
    assert back.outcome("y") == "unchanged"


def test_after_an_accepted_removal_the_story_is_new():
    """BUILD-67, 11; BUILD-62."""
    history = grown(x=1, y=1)

    history.answer(history.build("B", x=1), accept=("y",))
    back = history.build("C", x=1, y=1)

    assert back.outcome("y") == "new"


def test_a_second_build_of_a_commit_has_what_was_accepted_in_the_first():
    """BUILD-67, 12; BUILD-94."""
    history = grown(x=1)
    history.answer(history.build("B", x=2), accept=("x",))

    again = history.build("B", x=2)

    assert again.outcome("x") == "unchanged"


def test_a_second_build_of_a_commit_asks_again_for_what_was_not_accepted():
    """BUILD-67, 13."""
    history = grown(x=1)
    history.build("B", x=2)

    again = history.build("B", x=2)

    assert again.outcome("x") == "changed"


def test_a_merge_that_takes_one_side_of_a_conflict_is_unchanged():
    """BUILD-67, 14; BUILD-54."""
    history = conflicting()

    merge = history.build("M", x=2)

    assert merge.outcome("x") == "unchanged"
    assert history.maps[merge.build.id] == {1: 2}


def test_a_merge_that_shows_a_third_image_is_changed_against_the_newest():
    """BUILD-67, 15; BUILD-54."""
    history = conflicting()

    merge = history.build("M", x=4)

    (said,) = merge.reduced.ruled
    assert said.outcome == "changed"
    assert said.baseline_reason == "merge_ambiguous"
    assert said.baseline_image_id == 3


def conflicting() -> History:
    """Return a history in which main has accepted 2 and then f has accepted 3."""
    history = grown(x=1)
    history.commit("F", "A")
    history.commit("M", "B", "F")
    history.answer(history.build("B", x=2), accept=("x",))
    history.answer(history.build("F", branch="f", x=3), accept=("x",))
    return history


def test_a_rejected_image_is_changed_when_it_comes_again_and_the_old_one_passes():
    """BUILD-67, 16; B-4."""
    history = grown(x=1)
    history.commit("D", "C")

    rejected = history.answer(history.build("B", x=2), reject=("x",))
    old = history.build("C", x=1)
    again = history.build("D", x=2)

    assert rejected.verdict == "rejected"
    assert old.outcome("x") == "unchanged"
    assert again.outcome("x") == "changed"


def test_small_steps_do_not_add_up():
    """BUILD-67, 17; C-37; BUILD-44."""
    history = History(tolerance=3)
    for step in range(31):
        history.commit(f"c{step}", *([f"c{step - 1}"] if step else []))
        history.build(f"c{step}", x=200 + step)

    outcomes = [history.maps[number] for number in range(1, 32)]
    late = history.build("c30", x=204)
    near = history.build("c30", x=203)

    assert outcomes == [{1: 200}] * 31
    assert (late.outcome("x"), near.outcome("x")) == ("changed", "unchanged")


def test_a_shallow_clone_is_compared_with_the_base_branch_and_says_so():
    """BUILD-55, B-5."""
    history = grown(x=1)
    history.shallow = True

    build = history.build("C", branch="f", x=1, y=1)

    assert build.reason == "approximate"
    assert build.outcome("x") == "unchanged"


def test_without_git_the_newest_build_is_the_baseline_whatever_its_verdict():
    """BUILD-51, R2, R26."""
    history = History()
    history.build(None, x=1)
    history.build_of(None, {"x": 1}, errored=("y",))

    build = history.build(None, x=1)

    assert build.reason == "latest"
    assert build.outcome("x") == "unchanged"


def test_a_history_of_its_own_beside_finished_builds_is_all_new():
    """BUILD-56."""
    history = grown(x=1)
    history.commit("Z")

    build = history.build("Z", x=1)

    assert build.reason == "none"
    assert build.outcome("x") == "new"
    assert build.verdict == "needs_review"


def test_a_branch_that_accepts_what_it_shows_keeps_the_outcome():
    """BUILD-61, R27."""
    history = History(project={"accept_branches": ("main",)})
    history.commit("A")
    history.commit("B", "A")
    history.build("A", x=1)

    build = history.build("B", x=2, y=1)

    assert build.verdict == "accepted"
    assert (build.outcome("x"), build.outcome("y")) == ("changed", "new")
    assert history.maps[2] == {1: 2, 2: 1}
    assert {one.review_source for one in build.reduced.ruled} == {"auto_branch"}


def test_an_answer_that_is_undone_gives_the_baseline_back():
    """BUILD-85."""
    history = grown(x=1)
    accepted = history.answer(history.build("B", x=2), accept=("x",))

    undone = history.answer(accepted, undo=("x",))

    assert (accepted.verdict, undone.verdict) == ("accepted", "needs_review")
    assert history.maps[2] == {1: 1}
