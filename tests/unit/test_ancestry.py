"""Walks through graphs that people really have (B-7)."""

from time import process_time

from capture_consumer.builds.ancestry import COMMITS_MAX, above, heads, walk

OCTOPUS = {"M": ("A", "B", "C"), "A": ("R",), "B": ("R",), "C": ("R",), "R": ()}


def test_the_nearest_commit_with_a_build_is_taken_and_nothing_below_it():
    """BUILD-52, BUILD-53."""
    graph = {"C": ("B",), "B": ("A",), "A": ()}

    found = walk(graph, "C", {"A", "B"}.__contains__)

    assert found.taken == ("B",)
    assert found.visited == ("C",)
    assert not found.horizon


def test_the_builds_own_commit_counts():
    """BUILD-52."""
    assert walk({"A": ()}, "A", {"A"}.__contains__).taken == ("A",)


def test_an_octopus_merge_gives_one_build_an_arm():
    """BUILD-52, B-7."""
    assert walk(OCTOPUS, "M", {"A", "B", "R"}.__contains__).taken == ("A", "B")


def test_what_stands_above_another_taken_commit_is_dropped():
    """BUILD-52: M's second parent leads to R directly, and A stands on R."""
    graph = {"M": ("A", "X"), "X": ("R",), "A": ("B",), "B": ("R",), "R": ()}

    assert walk(graph, "M", {"A", "R"}.__contains__).taken == ("A",)


def test_two_roots_are_walked_to_their_ends():
    """BUILD-52, B-7."""
    graph = {"M": ("A", "Z"), "A": (), "Z": ()}

    found = walk(graph, "M", set().__contains__)

    assert (found.taken, set(found.visited)) == ((), {"M", "A", "Z"})
    assert not found.horizon


def test_unknown_parents_are_the_horizon():
    """BUILD-52, B-7: told as None, or not at all."""
    assert walk({"B": ("A",), "A": None}, "B", set().__contains__).horizon
    assert walk({"B": ("A",)}, "B", set().__contains__).horizon
    assert walk({}, "B", set().__contains__).horizon


def test_a_hundred_thousand_commits_answer_at_once_and_the_bound_is_a_horizon():
    """BUILD-52, B-7."""
    graph = {f"c{n}": (f"c{n + 1}", f"c{n + 2}") for n in range(100_000)}
    began = process_time()

    found = walk(graph, "c0", {"c90000"}.__contains__)

    assert process_time() - began < 1
    assert found.taken == ()
    assert len(found.visited) == COMMITS_MAX
    assert found.horizon


def test_heads_of_a_hundred_thousand_commits_answer_at_once():
    """B-7."""
    graph = {f"c{n}": (f"c{n + 1}",) for n in range(100_000)} | {"x": ("c0",), "y": ("c0",)}
    began = process_time()

    found = heads(graph, ["x", "c3", "y"])

    assert process_time() - began < 1
    assert found == ("x", "y")


def test_a_graph_that_runs_in_a_circle_ends_all_the_same():
    assert set(above({"A": ("B",), "B": ("A",)}, ["A"])) == {"A", "B"}
    assert walk({"A": ("B",), "B": ("A",)}, "A", set().__contains__).taken == ()
