"""A build as people see it, put together from its rows: for `show` and the report."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from capture_consumer.builds.facts import (
    BuildFact,
    BuildView,
    BuiltFact,
    ComparisonFact,
    SnapshotFact,
    SnapshotView,
    TryFact,
)
from capture_consumer.builds.identity import mode_name
from capture_consumer.database.transaction import Tx
from capture_consumer.tables import build_views, comparisons, shards, snapshot_views, tries
from capture_consumer.tables.snapshot_views import Shown

__all__ = ["of_build", "with_counts"]


def of_build(tx: Tx, build_id: int) -> BuildView | None:
    """Return a build with its snapshots, tries, comparisons and baseline; None if gone."""
    build = build_views.get(tx, build_id)
    if build is None:
        return None
    shown = snapshot_views.shown(tx, build_id)
    made = tries.of_build(tx, build_id)
    named = {one.comparison_id for one in shown if one.comparison_id is not None}
    compared = comparisons.get(tx, named)
    numbers = build_views.numbers(
        tx, {one.baseline_build_id for one in shown if one.baseline_build_id is not None}
    )
    baseline, reason = why(tx, shown)
    return BuildView(
        build=build,
        snapshots=tuple(snapshot_view(build, one, made, compared, numbers) for one in shown),
        shards=tuple(shards.of_build(tx, build_id)),
        baseline=baseline,
        baseline_reason=reason,
    )


def snapshot_view(
    build: BuildFact,
    shown: Shown,
    made: Mapping[int, tuple[TryFact, ...]],
    compared: Mapping[int, ComparisonFact],
    numbers: Mapping[int, int],
) -> SnapshotView:
    """Return one snapshot as people see it."""
    mine = made.get(shown.fact.id, ())
    comparison = None if shown.comparison_id is None else compared.get(shown.comparison_id)
    before = shown.baseline_build_id
    return SnapshotView(
        fact=with_counts(shown.fact, tries=len(mine), deaths=0),
        mode_name=mode_name(build.project.modes, shown.fact.key.mode),
        baseline_build=None if before is None else numbers.get(before),
        baseline_reason=shown.baseline_reason,
        comparison=comparison,
        review_source=shown.review_source,
        tries=mine,
    )


def why(tx: Tx, shown: Sequence[Shown]) -> tuple[BuiltFact | None, str | None]:
    """Return the build that most snapshots were held against, and the reason (BUILD-64)."""
    held = Counter(
        (one.baseline_build_id, one.baseline_reason)
        for one in shown
        if one.baseline_reason is not None
    )
    if not held:
        return None, None
    (build_id, reason), _ = max(
        held.items(), key=lambda item: (item[0][0] is not None, item[1])
    )
    if build_id is None:
        return None, reason
    return build_views.built(tx, build_id), reason


def with_counts(fact: SnapshotFact, *, tries: int, deaths: int) -> SnapshotFact:
    """Return a snapshot with how often it was tried, and was in hand at a death."""
    return replace(fact, tries=tries, deaths=deaths)
