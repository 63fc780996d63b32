"""A build's rows as plain data, typed as the facts and effects that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from capture_consumer.builds import effects as asked
from capture_consumer.builds.effects import Effect, Effects
from capture_consumer.builds.facts import (
    BuildFact,
    ComparisonFact,
    FileFact,
    HistoryFact,
    ImageFact,
    KeyFact,
    Phase,
    ShardFact,
    SnapshotFact,
)

__all__ = ["PlainFacts"]

Key = tuple[str, str, str]


@dataclass
class PlainFacts:
    """One build's rows as plain data; takes effects as `records` does, as far as needed."""

    row: BuildFact
    submitted: Sequence[FileFact] = ()
    past: HistoryFact = field(default_factory=lambda: HistoryFact({}, {}, None, None))
    known_ms: Mapping[Key, float] = field(default_factory=dict)
    up: int = 1
    waited: dict[str, int] = field(default_factory=dict)
    died_before: bool = False
    shards: dict[int, ShardFact] = field(default_factory=dict)
    shown: dict[int, SnapshotFact] = field(default_factory=dict)
    key_rows: dict[Key, KeyFact] = field(default_factory=dict)
    image_rows: dict[str, ImageFact] = field(default_factory=dict)
    compared: dict[tuple[str, str, str], asked.Compared] = field(default_factory=dict)
    written: list[Effect] = field(default_factory=list)

    def build(self, build_id: int) -> BuildFact | None:
        return self.row if self.row.id == build_id else None

    def files(self, build_id: int) -> Sequence[FileFact]:
        return self.submitted

    def shard(self, shard_id: int) -> ShardFact | None:
        return self.shards.get(shard_id)

    def planned(self, shard_id: int) -> Sequence[SnapshotFact]:
        ours = [one for one in self.shown.values() if one.shard_id == shard_id]
        return sorted(
            (one for one in ours if one.state == "planned"), key=lambda one: one.deaths
        )

    def snapshots(self, build_id: int) -> Sequence[SnapshotFact]:
        return list(self.shown.values())

    def history(self, build_id: int) -> HistoryFact:
        return self.past

    def keys(self, key_ids: Collection[int]) -> Mapping[int, KeyFact]:
        return {one.id: one for one in self.key_rows.values() if one.id in key_ids}

    def key_ids(self, build_id: int, wanted: Collection[Key]) -> Mapping[Key, int]:
        return {key: self.key_rows[key].id for key in wanted if key in self.key_rows}

    def images(self, image_ids: Collection[int]) -> Mapping[int, ImageFact]:
        return {one.id: one for one in self.image_rows.values() if one.id in image_ids}

    def comparisons(
        self, pairs: Collection[tuple[int, int]], params_sha: str
    ) -> Mapping[tuple[int, int], ComparisonFact]:
        ids = {one.id: sha for sha, one in self.image_rows.items()}
        found = {
            (before, after): self.compared.get((ids[before], ids[after], params_sha))
            for before, after in pairs
        }
        return {
            pair: ComparisonFact(
                id=1,
                from_image=pair[0],
                to_image=pair[1],
                params_sha=params_sha,
                verdict=one.verdict,
                changed_px=one.changed_px,
                ratio=one.ratio,
                box=one.box,
                bands=one.bands,
                diff_sha=one.diff_sha,
            )
            for pair, one in found.items()
            if one is not None
        }

    def durations(self, build_id: int) -> Mapping[Key, float]:
        return self.known_ms

    def crashed_before(self, job_id: str) -> bool:
        return self.died_before

    def waits(self, job_id: str, code: str) -> int:
        return self.waited.get(code, 0)

    def consumers(self) -> int:
        return self.up

    def key(self, *names: str) -> KeyFact:
        """Return a key, made if it is new."""
        story_id, mode, browser = names
        made = KeyFact(len(self.key_rows) + 1, story_id, mode, browser)
        return self.key_rows.setdefault((story_id, mode, browser), made)

    def image(self, pixel_sha: str | None) -> ImageFact | None:
        """Return an image by its pixels."""
        return None if pixel_sha is None else self.image_rows[pixel_sha]

    def write(self, effects: Effects) -> None:
        """Take effects: the rows that a handler can see follow."""
        takers: Mapping[type[Effect], Callable[[Any], None]] = {
            asked.KeepContent: self.keep,
            asked.BeginPlanning: lambda _: self.move("planning"),
            asked.DealShards: self.deal,
            asked.BeginShard: lambda begin: self.mark(begin.shard_id, "running"),
            asked.RecordSnapshots: self.record,
            asked.EndShard: self.end_shard,
            asked.RecordOutcomes: self.rule,
            asked.FinishBuild: self.finish,
        }
        for effect in effects:
            self.written.append(effect)
            takers[type(effect)](effect)

    def move(self, phase: Phase) -> None:
        self.row = replace(self.row, phase=phase)

    def mark(self, shard_id: int, state: Literal["running", "done"]) -> None:
        self.shards[shard_id] = replace(self.shards[shard_id], state=state)

    def finish(self, said: asked.FinishBuild) -> None:
        self.row = replace(
            self.row,
            phase="finished",
            verdict=said.verdict,
            manifest_sha=said.manifest_sha,
            counts=said.counts,
        )

    def keep(self, content: asked.KeepContent) -> None:
        for image in content.images:
            made = ImageFact(
                len(self.image_rows) + 1,
                image.pixel_sha,
                image.blob_sha,
                image.width,
                image.height,
            )
            self.image_rows.setdefault(image.pixel_sha, made)
        for one in content.comparisons:
            self.compared[(one.from_pixel_sha, one.to_pixel_sha, one.params_sha)] = one

    def deal(self, plan: asked.DealShards) -> None:
        by_id = {one.id: one for one in self.image_rows.values()}
        self.shards = {
            one.idx: ShardFact(one.idx, self.row.id, one.idx, "pending") for one in plan.shards
        }
        for number, one in enumerate(plan.snapshots, 1):
            self.shown[number] = SnapshotFact(
                id=number,
                key=self.key(one.story_id, one.mode, one.browser),
                shard_id=one.shard_idx,
                title=one.title,
                state=one.state,
                flaky=False,
                image=self.image(one.pixel_sha),
                baseline=by_id.get(one.baseline_image_id or 0),
                error_code=one.error_code,
                message=one.message,
            )
        self.row = replace(self.row, environment=plan.environment)
        self.move("capturing" if plan.shards else "reducing")

    def record(self, records: asked.RecordSnapshots) -> None:
        for result in records.results:
            before = self.shown[result.snapshot_id]
            assert before.state == "planned", "recorded twice"
            self.shown[before.id] = replace(
                before,
                state=result.state,
                flaky=result.flaky,
                image=self.image(result.pixel_sha),
                error_code=result.error_code,
                message=result.message,
            )

    def end_shard(self, end: asked.EndShard) -> None:
        assert not self.planned(end.shard_id)
        self.mark(end.shard_id, "done")
        if all(one.state == "done" for one in self.shards.values()):
            self.move("reducing")

    def rule(self, outcomes: asked.RecordOutcomes) -> None:
        by_id = {one.id: one for one in self.image_rows.values()}
        keys = {one.id: one for one in self.key_rows.values()}
        for said in outcomes.ruled:
            self.shown[said.snapshot_id] = replace(
                self.shown[said.snapshot_id],
                outcome=said.outcome,
                review=said.review,
                baseline=by_id.get(said.baseline_image_id or 0),
            )
        for gone in outcomes.removed:
            self.shown[-gone.key_id] = SnapshotFact(
                id=-gone.key_id,
                key=keys[gone.key_id],
                shard_id=None,
                title=gone.title,
                state="skipped",
                flaky=False,
                image=None,
                baseline=by_id[gone.baseline_image_id],
                error_code=None,
                message=None,
                outcome="removed",
                review=gone.review,
            )
        for snapshot_id in outcomes.withdrawn:
            del self.shown[snapshot_id]
