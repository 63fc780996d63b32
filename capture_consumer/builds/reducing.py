"""The last shard is in: outcomes, manifest and verdict, as effects (BUILD-61 to BUILD-69).

Everything here is decided from plain data. Comparing pictures and storing the
manifest is for the handler of the step reduce.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from capture_consumer.builds import verdicts
from capture_consumer.builds.baselines import Held
from capture_consumer.builds.effects import RecordOutcomes, RemovedSnapshot, Ruled
from capture_consumer.builds.facts import Outcome, Review, SnapshotFact, Verdict
from capture_consumer.builds.ruling import Question, rule, rule_removed

__all__ = ["Reduced", "in_chunks", "pairs", "reduce"]

ROWS_A_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Reduced:
    """What a build comes to. `manifest` is None when there is nothing to build on."""

    ruled: tuple[Ruled, ...]
    removed: tuple[RemovedSnapshot, ...]
    withdrawn: tuple[int, ...]
    manifest: Mapping[int, int] | None
    verdict: Verdict
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Row:
    """A snapshot as its verdict sees it."""

    outcome: Outcome
    review: Review
    flaky: bool = False


def pairs(
    snapshots: Sequence[SnapshotFact], held: Mapping[int, Held]
) -> dict[tuple[int, int], SnapshotFact]:
    """Return the pairs (from image, to image) that need comparing, with their snapshots."""
    found: dict[tuple[int, int], SnapshotFact] = {}
    for snapshot in snapshots:
        before = held.get(snapshot.key.id)
        if snapshot.state != "captured" or snapshot.image is None or before is None:
            continue
        if snapshot.image.id not in before.image_ids:
            found.setdefault((before.image_ids[0], snapshot.image.id), snapshot)
    return found


def reduce(question: Question) -> Reduced:
    """Return outcomes, manifest, verdict and counts of a build."""
    shown = [one for one in question.snapshots if not _is_added(one)]
    ruled = tuple(rule(question, one) for one in shown)
    removed = _removed(question, {one.key.id for one in shown})
    still = {one.key_id for one in removed}
    withdrawn = tuple(
        one.id for one in question.snapshots if _is_added(one) and one.key.id not in still
    )
    rows = [
        *(
            Row(said.outcome, said.review, one.flaky)
            for said, one in zip(ruled, shown, strict=True)
        ),
        *(Row(said.outcome, said.review) for said in removed),
    ]
    manifest = _manifest(question, shown, ruled, removed)
    return Reduced(
        ruled=ruled,
        removed=removed,
        withdrawn=withdrawn,
        manifest=manifest if manifest or not question.baseline.first else None,
        verdict=verdicts.verdict(rows, question.build.project),
        counts=verdicts.counts(rows),
    )


def in_chunks(build_id: int, reduced: Reduced) -> Iterator[RecordOutcomes]:
    """Return the outcomes in saves of at most 500 rows (BUILD-79)."""
    for begin in range(0, len(reduced.ruled), ROWS_A_CHUNK):
        yield RecordOutcomes(build_id, reduced.ruled[begin : begin + ROWS_A_CHUNK])
    for begin in range(0, len(reduced.removed), ROWS_A_CHUNK):
        yield RecordOutcomes(build_id, (), reduced.removed[begin : begin + ROWS_A_CHUNK])
    for begin in range(0, len(reduced.withdrawn), ROWS_A_CHUNK):
        chunk = reduced.withdrawn[begin : begin + ROWS_A_CHUNK]
        yield RecordOutcomes(build_id, (), withdrawn=chunk)


def _is_added(snapshot: SnapshotFact) -> bool:
    """Tell whether an earlier attempt of reduce made this row: it was never planned."""
    return snapshot.outcome == "removed"


def _removed(question: Question, planned: set[int]) -> tuple[RemovedSnapshot, ...]:
    """Return the baseline's keys that were not planned (BUILD-62); none of a subset."""
    if question.build.subset:
        return ()
    return tuple(
        rule_removed(question, key_id, before)
        for key_id, before in question.held.items()
        if key_id not in planned
    )


def _manifest(
    question: Question,
    shown: Sequence[SnapshotFact],
    ruled: Sequence[Ruled],
    removed: Sequence[RemovedSnapshot],
) -> dict[int, int]:
    """Return the baseline's map, changed by what is accepted and nothing else (BUILD-69)."""
    images = {key_id: before.image_ids[0] for key_id, before in question.held.items()}
    for snapshot, said in zip(shown, ruled, strict=True):
        if said.review == "accepted" and snapshot.image is not None:
            images[snapshot.key.id] = snapshot.image.id
        elif said.outcome == "unchanged" and said.baseline_image_id is not None:
            images[snapshot.key.id] = said.baseline_image_id
    for gone in removed:
        if gone.review == "accepted":
            del images[gone.key_id]
    return images
