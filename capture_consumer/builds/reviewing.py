"""A person's answers about a finished build, as effects (builds.md, section 11).

Answers are asked for by patterns over story ids. What follows from them, the manifest
and the verdict, is computed here from what the person saw; the effect names the `rev`
and each `review_no` that were seen, and is refused as a whole if one of them moved on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal

from capture_consumer.builds import manifest as maps, verdicts
from capture_consumer.builds.effects import (
    Decided,
    Effects,
    KeepContent,
    ReviewSnapshots,
    StoredBlob,
)
from capture_consumer.builds.facts import BuildFact, BuildView, Review, SnapshotFact
from capture_consumer.errors import NotFound, Refused

__all__ = ["Answer", "Reviewed", "review"]

Answer = Literal["accepted", "rejected", "undone"]
ANSWERABLE = frozenset({"changed", "new", "removed", "carried", "unstable"})
UNANSWERABLE = frozenset({"errored", "lost", "skipped"})
REVIEW_AFTER: Mapping[Answer, Review] = {
    "accepted": "accepted",
    "rejected": "rejected",
    "undone": "pending",
}


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What a review comes to.

    Store `manifest` first, then write `effects`; both are empty when everything was
    answered so already (BUILD-88). `left` are snapshots that were meant and cannot be
    answered: errored, lost or skipped ones.
    """

    effects: Effects
    manifest: bytes
    decided: tuple[SnapshotFact, ...]
    left: tuple[SnapshotFact, ...]


def review(
    view: BuildView,
    *,
    accept: Sequence[str] = (),
    reject: Sequence[str] = (),
    undo: Sequence[str] = (),
    reviewer: str,
    manifest: Mapping[int, int],
) -> Reviewed:
    """Return what follows from accepting, rejecting or undoing by patterns (BUILD-82).

    An unstable snapshot that is accepted is passed for this build: the map stays.

    Args:
        view: the build as the person saw it.
        accept: patterns over story ids, in the shell's style.
        reject: the same; goes before an acceptance.
        undo: the same; goes before both.
        reviewer: who says so.
        manifest: the build's map.

    Raises:
        Refused: the build is not finished, or nothing that was meant can be answered.
        NotFound: a pattern meets no snapshot.
    """
    _refuse_unfinished(view.build)
    facts = tuple(shown.fact for shown in view.snapshots)
    asked = _asked(facts, accept, reject, undo)
    left = tuple(one for one, _ in asked if one.outcome in UNANSWERABLE)
    answers = {one.id: answer for one, answer in asked if one.outcome in ANSWERABLE}
    if left and not answers:
        raise Refused(f"{left[0].key.story_id} is {left[0].outcome}: nobody can answer for it.")
    new = tuple(one for one in facts if one.id in answers and _moves(one, answers[one.id]))
    if not new:
        return Reviewed((), b"", (), left)
    encoded = maps.encode(_applied(manifest, new, answers))
    effects = _effects(
        view.build, facts, {one.id: answers[one.id] for one in new}, reviewer, encoded
    )
    return Reviewed(effects, encoded, new, left)


def _refuse_unfinished(build: BuildFact) -> None:
    if build.phase != "finished":
        raise Refused(
            f"Build {build.number} is {build.phase}; only a finished one has answers."
        )


def _asked(
    facts: Sequence[SnapshotFact],
    accept: Sequence[str],
    reject: Sequence[str],
    undo: Sequence[str],
) -> list[tuple[SnapshotFact, Answer]]:
    asked: dict[int, tuple[SnapshotFact, Answer]] = {}
    plan: tuple[tuple[Answer, Sequence[str]], ...] = (
        ("accepted", accept),
        ("rejected", reject),
        ("undone", undo),
    )
    for answer, patterns in plan:
        for pattern in patterns:
            met = [one for one in facts if fnmatchcase(one.key.story_id, pattern)]
            if not met:
                raise NotFound(f"No story of this build is named {pattern[:80]!r}.")
            asked |= {one.id: (one, answer) for one in met}
    return list(asked.values())


def _moves(snapshot: SnapshotFact, answer: Answer) -> bool:
    return snapshot.review != REVIEW_AFTER[answer]


def _applied(
    manifest: Mapping[int, int], decided: Iterable[SnapshotFact], answers: Mapping[int, Answer]
) -> dict[int, int]:
    """Return the map after the answers; rejecting and undoing keep the baseline (BUILD-85)."""
    images = dict(manifest)
    for snapshot in decided:
        if snapshot.outcome == "unstable":
            continue
        accepted = answers[snapshot.id] == "accepted"
        image = snapshot.image if accepted else snapshot.baseline
        if image is None:
            images.pop(snapshot.key.id, None)
        else:
            images[snapshot.key.id] = image.id
    return images


def _effects(
    build: BuildFact,
    facts: Sequence[SnapshotFact],
    answers: Mapping[int, Answer],
    reviewer: str,
    encoded: bytes,
) -> Effects:
    after = [
        replace(one, review=REVIEW_AFTER[answers[one.id]]) if one.id in answers else one
        for one in facts
    ]
    blob = StoredBlob(maps.sha_of(encoded), len(encoded), "manifest")
    decided = tuple(
        Decided(one.id, answers[one.id], one.review_no) for one in facts if one.id in answers
    )
    return (
        KeepContent(blobs=(blob,)),
        ReviewSnapshots(
            build_id=build.id,
            rev=build.rev,
            decided=decided,
            reviewer=reviewer,
            manifest_sha=blob.sha,
            verdict=verdicts.verdict(after, build.project),
            counts=verdicts.counts(after),
        ),
    )
