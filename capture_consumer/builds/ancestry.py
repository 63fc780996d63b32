"""Walk the commits above a build to the nearest ones that carry a finished build (BUILD-52).

A graph maps a commit to its parents; None, or no entry, says that nobody knows them.
All walks are bounded, so that a huge history costs no more than a long one.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

__all__ = ["COMMITS_MAX", "Graph", "Walk", "above", "heads", "walk"]

COMMITS_MAX = 5_000
Graph = Mapping[str, tuple[str, ...] | None]


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk found, nearest first.

    `taken` carry a build; `visited` are the commits in between, which carry none.
    `horizon` says that the walk met parents that are unknown, or its bound: there may be
    more above.
    """

    taken: tuple[str, ...]
    visited: tuple[str, ...]
    horizon: bool


def walk(
    graph: Graph, start: str, carries: Callable[[str], bool], *, at_most: int = COMMITS_MAX
) -> Walk:
    """Walk from `start`, itself included, through all parents; go below no taken commit.

    Of taken commits those are dropped that are ancestors of other taken ones.
    """
    taken: list[str] = []
    visited: list[str] = []
    horizon = False
    queue, seen = deque([start]), {start}
    while queue:
        if len(seen) - len(queue) >= at_most:
            horizon = True
            break
        commit = queue.popleft()
        if carries(commit):
            taken.append(commit)
            continue
        visited.append(commit)
        parents = graph.get(commit)
        horizon = horizon or parents is None
        fresh = [parent for parent in parents or () if parent not in seen]
        seen.update(fresh)
        queue.extend(dict.fromkeys(fresh))
    return Walk(heads(graph, taken, at_most=at_most), tuple(visited), horizon)


def heads(
    graph: Graph, commits: Collection[str], *, at_most: int = COMMITS_MAX
) -> tuple[str, ...]:
    """Return those of the commits that are no ancestor of another one of them, in order."""
    if len(commits) <= 1:
        return tuple(commits)
    below = above(graph, _parents(graph, commits), at_most=at_most)
    return tuple(commit for commit in commits if commit not in below)


def above(
    graph: Graph, starts: Iterable[str], *, at_most: int = COMMITS_MAX
) -> dict[str, None]:
    """Return the commits and their ancestors, nearest first."""
    queue = deque(dict.fromkeys(starts))
    seen = dict.fromkeys(queue)
    passed = 0
    while queue and passed < at_most:
        passed += 1
        for parent in graph.get(queue.popleft()) or ():
            if parent not in seen:
                seen[parent] = None
                queue.append(parent)
    return seen


def _parents(graph: Graph, commits: Iterable[str]) -> Iterable[str]:
    return (parent for commit in commits for parent in graph.get(commit) or ())
