"""Results and reviews to a verdict: what people need to know of a finished build (BUILD-18).

A pure function of the snapshots and the project's policies, so that anybody can
compute it again and find the same (BUILD-19).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol

from capture_consumer.builds.facts import Outcome, ProjectFact, Review, Verdict

__all__ = ["Judged", "counts", "verdict"]

COMPARED = frozenset({"unchanged", "changed", "carried"})


class Judged(Protocol):
    """What a verdict looks at; a `SnapshotFact` is one."""

    @property
    def outcome(self) -> Outcome | None:
        """What reduce made of it."""
        ...

    @property
    def review(self) -> Review:
        """What people, or policies in their place, say of it."""
        ...

    @property
    def flaky(self) -> bool:
        """Whether its tries did not all agree."""
        ...


def verdict(
    snapshots: Iterable[Judged], project: ProjectFact, *, skipped: bool = False
) -> Verdict:
    """Return the first verdict of the table in BUILD-18 that holds.

    Args:
        snapshots: all of the build's, removed ones too, with their outcomes.
        project: whose policies hold.
        skipped: the build was skipped, or is empty and was allowed to be.
    """
    if skipped:
        return "skipped"
    rows = tuple(snapshots)
    outcomes = {row.outcome for row in rows}
    reviews = {row.review for row in rows}
    unstable_blocks = project.policy_unstable == "block" and "unstable" in outcomes
    nothing_seen = not (outcomes & COMPARED or "new" in outcomes)
    lines: tuple[tuple[bool, Verdict], ...] = (
        ("lost" in outcomes, "incomplete"),
        ("errored" in outcomes or unstable_blocks or nothing_seen, "broken"),
        ("rejected" in reviews, "rejected"),
        ("pending" in reviews, "needs_review"),
        ("accepted" in reviews, "accepted"),
    )
    return next((word for holds, word in lines if holds), "passed")


def counts(snapshots: Iterable[Judged]) -> Mapping[str, int]:
    """Return how many have each outcome and each review (BUILD-80).

    Words are those of outcomes and of reviews but `none`, `flaky`, and `total`; a word
    that nothing has is left out.
    """
    counted: Counter[str] = Counter()
    for row in snapshots:
        counted["total"] += 1
        if row.outcome is not None:
            counted[row.outcome] += 1
        if row.review != "none":
            counted[row.review] += 1
        if row.flaky:
            counted["flaky"] += 1
    return dict(sorted(counted.items()))
