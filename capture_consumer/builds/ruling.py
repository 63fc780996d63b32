"""What reduce says of one snapshot: its outcome, and whether it asks for an answer (BUILD-61).

Approvals that live outside of the build come in as one function, `approved`; without
them each difference asks anew.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from capture_consumer.builds.baselines import Baseline, Held
from capture_consumer.builds.effects import RemovedSnapshot, Ruled
from capture_consumer.builds.facts import (
    BuildFact,
    ImageFact,
    KeyFact,
    Outcome,
    Review,
    SnapshotFact,
)

__all__ = ["Approved", "Compared", "Question", "nothing_approved", "rule", "rule_removed"]

Approved = Callable[[int, ImageFact | None], bool]
"""Tells whether this image of this key (None: its removal) is accepted in scope (BUILD-60)."""

Compared = Literal["equal", "tolerated", "changed"]
OUTCOMES_OF_STATES: Mapping[str, Outcome] = {
    "errored": "errored",
    "unstable": "unstable",
    "skipped": "skipped",
    "lost": "lost",
    "planned": "lost",
}


def nothing_approved(_key_id: int, _image: ImageFact | None) -> bool:
    """Say that nothing is accepted elsewhere."""
    return False


@dataclass(frozen=True, slots=True)
class Question:
    """All that reducing a build depends on.

    `compared` has, by (from image, to image), what comparing gave under the parameters
    `params_sha`; a pair that is missing could not be compared (BUILD-78).
    `keys` and `images` name what `held` has.
    """

    build: BuildFact
    snapshots: Sequence[SnapshotFact]
    baseline: Baseline
    held: Mapping[int, Held]
    keys: Mapping[int, KeyFact]
    images: Mapping[int, ImageFact]
    compared: Mapping[tuple[int, int], Compared]
    params_sha: str
    approved: Approved = nothing_approved

    @property
    def accepts_by_branch(self) -> bool:
        """Tell whether the branch accepts what it shows (BUILD-61)."""
        return self.build.pull is None and (
            self.build.branch in self.build.project.accept_branches
        )


def rule(question: Question, snapshot: SnapshotFact) -> Ruled:
    """Return the first line of BUILD-61 that holds for one snapshot."""
    before = question.held.get(snapshot.key.id)
    if snapshot.state != "captured" or snapshot.image is None:
        outcome = OUTCOMES_OF_STATES.get(snapshot.state, "lost")
        asks = outcome == "unstable" and question.build.project.policy_unstable == "review"
        review: Review = "pending" if asks else "none"
        return _said(question, snapshot, before, outcome, review)
    if before is None:
        return _differs(question, snapshot, None, "new")
    image = snapshot.image
    if image.id in before.image_ids:
        same = Held((image.id,), before.build_id, before.reason)
        return _said(question, snapshot, same, "unchanged", "none")
    return _held_against(question, snapshot, image, before)


def _held_against(
    question: Question, snapshot: SnapshotFact, image: ImageFact, before: Held
) -> Ruled:
    verdict = question.compared.get((before.image_ids[0], image.id))
    if verdict is None:
        return _said(
            question,
            snapshot,
            before,
            "errored",
            "none",
            error_code="compare_crashed",
            message="Comparing it with its baseline killed two consumers.",
        )
    decided = (
        question.images[before.image_ids[0]].pixel_sha,
        image.pixel_sha,
        question.params_sha,
    )
    if verdict != "changed":
        return _said(question, snapshot, before, "unchanged", "none", compared=decided)
    return _differs(question, snapshot, before, "changed", decided)


def _differs(
    question: Question,
    snapshot: SnapshotFact,
    before: Held | None,
    outcome: Outcome,
    compared: tuple[str, str, str] | None = None,
) -> Ruled:
    review: Review
    source: str | None
    if question.approved(snapshot.key.id, snapshot.image):
        review, source = "accepted", "carried"
        outcome = "carried"
    else:
        review, source = _answered(question, outcome)
    return _said(question, snapshot, before, outcome, review, source=source, compared=compared)


def _answered(question: Question, outcome: Outcome) -> tuple[Review, str | None]:
    """Return the answer that policies give in people's place, else that one is due."""
    project = question.build.project
    policies = {"new": project.policy_new, "removed": project.policy_removed}
    if question.baseline.first:
        return "accepted", "first_build"
    if question.accepts_by_branch:
        return "accepted", "auto_branch"
    if policies.get(outcome) == "auto":
        return "accepted", "policy"
    return "pending", None


def _said(
    question: Question,
    snapshot: SnapshotFact,
    before: Held | None,
    outcome: Outcome,
    review: Review,
    *,
    source: str | None = None,
    compared: tuple[str, str, str] | None = None,
    error_code: str | None = None,
    message: str | None = None,
) -> Ruled:
    """Return it with its why; one without a picture before it names where none was found."""
    baseline = question.baseline
    build_id = baseline.build.build_id if baseline.build else None
    return Ruled(
        snapshot_id=snapshot.id,
        outcome=outcome,
        baseline_image_id=before.image_ids[0] if before else None,
        baseline_build_id=before.build_id if before else build_id,
        baseline_reason=before.reason if before else baseline.reason,
        review=review,
        review_source=source,
        compared=compared,
        error_code=error_code,
        message=message,
    )


def rule_removed(question: Question, key_id: int, before: Held) -> RemovedSnapshot:
    """Return what is said of a key that the baseline has and the plan has not (BUILD-62)."""
    carried = question.approved(key_id, None)
    review, source = ("accepted", "carried") if carried else _answered(question, "removed")
    return RemovedSnapshot(
        key_id=key_id,
        title=question.keys[key_id].story_id,
        outcome="removed",
        baseline_image_id=before.image_ids[0],
        baseline_build_id=before.build_id,
        baseline_reason=before.reason,
        review=review,
        review_source=source,
    )
