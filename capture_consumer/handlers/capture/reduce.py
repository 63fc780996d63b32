"""The step reduce: choose the baseline, compare what is missing, give the verdict.

It may be killed anywhere and begun again: comparisons that were saved are found, and
outcomes show only once the build is finished (BUILD-75).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from capture_consumer.builds import manifest as maps
from capture_consumer.builds.effects import Effects, FinishBuild
from capture_consumer.builds.facts import BuildFact, ImageFact, SnapshotFact
from capture_consumer.builds.reducing import in_chunks, pairs, reduce
from capture_consumer.builds.ruling import Compared, Question
from capture_consumer.consumer.job import ConsumerJob, Hold
from capture_consumer.errors import Interrupted
from capture_consumer.handlers.capture.before import look_up
from capture_consumer.handlers.capture.comparing import compare_with, rule_of
from capture_consumer.handlers.capture.content import Content
from capture_consumer.handlers.capture.pace import Pace, save_what_is_left
from capture_consumer.handlers.capture.tools import Tools
from capture_consumer.images.compare import Rule
from capture_consumer.images.decode import decode

__all__ = ["run"]

COMPARE_DEADLINE_S = 60.0
DEATHS_MAX = 2

Pair = tuple[int, int]


def run(tools: Tools, job: ConsumerJob, hold: Hold[Effects]) -> Effects:
    """Reduce a build; return its verdict, manifest and counts."""
    assert job.build_id is not None
    build = tools.facts.build(job.build_id)
    if build is None or build.phase != "reducing":
        return ()
    question = _question(tools, build, job, hold)
    reduced = reduce(question)
    for chunk in in_chunks(build.id, reduced):
        hold.save((chunk,))
    content = Content(tools.store)
    sha = None
    if reduced.manifest is not None:
        sha = content.put(maps.encode(reduced.manifest), "manifest")
    finish = FinishBuild(build.id, reduced.verdict, sha, reduced.counts)
    return (*content.hand_over(), finish)


def _question(
    tools: Tools, build: BuildFact, job: ConsumerJob, hold: Hold[Effects]
) -> Question:
    facts, rule = tools.facts, rule_of(build.project)
    snapshots = facts.snapshots(build.id)
    baseline, held = look_up(tools, build)
    images = facts.images({image for one in held.values() for image in one.image_ids})
    wanted = pairs(snapshots, held)
    compared: dict[Pair, Compared] = {
        pair: found.verdict for pair, found in facts.comparisons(wanted, rule.sha).items()
    }
    missing = {pair: one for pair, one in wanted.items() if pair not in compared}
    work = Comparing(
        hold=hold,
        content=Content(tools.store),
        pace=Pace(tools.elapsed, tools.elapsed()),
        rule=rule,
        images=images,
        saves_each=facts.crashed_before(job.job_id),
    )
    compared |= work.compare_all(missing)
    return Question(
        build=build,
        snapshots=snapshots,
        baseline=baseline,
        held=held,
        keys=facts.keys(held.keys()),
        images=images,
        compared=compared,
        params_sha=rule.sha,
    )


@dataclass(slots=True)
class Comparing:
    """Compare pairs that no shard and no earlier attempt has compared."""

    hold: Hold[Effects]
    content: Content
    pace: Pace
    rule: Rule
    images: Mapping[int, ImageFact]
    saves_each: bool

    def compare_all(self, missing: Mapping[Pair, SnapshotFact]) -> dict[Pair, Compared]:
        """Compare them and save what came of it on the way.

        A pair in hand at two deaths is left out: it is not worth a third consumer
        (BUILD-78). One in hand at a death comes last (SUP-45).
        """
        done: dict[Pair, Compared] = {}
        by_deaths = sorted(missing.items(), key=lambda item: item[1].deaths)
        pairs_left = {pair: one for pair, one in by_deaths if one.deaths < DEATHS_MAX}
        try:
            for index, (pair, snapshot) in enumerate(pairs_left.items()):
                self._begin(snapshot, index=index, of=len(pairs_left))
                done[pair] = self._compare(pair, snapshot)
        except Interrupted as stop:
            save_what_is_left(self.hold, stop, self.content.hand_over())
            raise
        if self.pace.pieces:
            self._save()
        return done

    def _begin(self, snapshot: SnapshotFact, *, index: int, of: int) -> None:
        self.hold.begin(
            snapshot.key.story_id,
            snapshot_id=snapshot.id,
            index=index,
            of=of,
            deadline_s=COMPARE_DEADLINE_S,
        )
        if self.saves_each or self.pace.is_due():
            self._save()

    def _compare(self, pair: Pair, snapshot: SnapshotFact) -> Compared:
        assert snapshot.image is not None
        after = decode(self.content.store.get(snapshot.image.blob_sha))
        compared = compare_with(
            self.content,
            self.rule,
            self.images[pair[0]],
            pixel_sha=snapshot.image.pixel_sha,
            after=after,
        )
        self.pace.pieces += 1
        return compared.verdict

    def _save(self) -> None:
        self.hold.save(self.content.hand_over())
        self.pace.begin_anew()
