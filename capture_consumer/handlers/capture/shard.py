"""The step shard: each story of a shard, saved as it is finished (BUILD-33, BUILD-45).

A story in hand is written down before it begins; what is finished is saved at most 2 s
or 32 snapshots later (BUILD-12), before each story once a job of it has died.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from capture_consumer.builds.effects import (
    BeginShard,
    Effects,
    EndShard,
    RecordSnapshots,
    SnapshotResult,
)
from capture_consumer.builds.facts import BuildFact, SnapshotFact
from capture_consumer.builds.identity import mode_from, mode_name
from capture_consumer.capture.storybook import Site
from capture_consumer.consumer.job import ConsumerJob, Hold
from capture_consumer.errors import Interrupted, NotNow, PermanentError
from capture_consumer.handlers.capture.comparing import rule_of
from capture_consumer.handlers.capture.content import Content
from capture_consumer.handlers.capture.pace import Pace, save_what_is_left
from capture_consumer.handlers.capture.shooting import Sitting, shoot
from capture_consumer.handlers.capture.tools import Camera, Tools

__all__ = ["run"]

STORY_DEADLINE_S = 120.0
UNFITTING = "environment_changed"
WAITS_MAX = 10
"""A minute each (BUILD-49); ends of other kinds are no waits."""


@dataclass(slots=True)
class Finished:
    """Results that are not saved yet."""

    job: ConsumerJob
    hold: Hold[Effects]
    shard_id: int
    content: Content
    pace: Pace
    results: list[SnapshotResult] = field(default_factory=list)

    def add(self, result: SnapshotResult) -> None:
        """Take one more, and save if it is time."""
        self.results.append(result)
        self.pace.pieces += 1
        if self.pace.is_due():
            self.save()

    def save(self) -> None:
        """Have them written now; with nothing to write it still names the story in hand."""
        self.hold.save(self.hand_over())
        self.pace.begin_anew()

    def hand_over(self) -> Effects:
        """Return them as effects, content first, and forget them."""
        results, self.results = tuple(self.results), []
        if not results:
            return self.content.hand_over()
        record = RecordSnapshots(self.shard_id, self.job.job_id, self.job.attempt, results)
        return (*self.content.hand_over(), record)


def run(tools: Tools, job: ConsumerJob, hold: Hold[Effects]) -> Effects:
    """Capture what is planned of a shard still; return its end.

    Raises:
        NotNow: the build belongs to another environment than this consumer's (BUILD-49).
        Interrupted: the hold is to be let go; what was finished is saved.
    """
    assert job.build_id is not None
    assert job.shard_id is not None
    build, shard = tools.facts.build(job.build_id), tools.facts.shard(job.shard_id)
    if build is None or build.phase != "capturing":
        return ()
    if shard is None or shard.state not in {"pending", "running"}:
        return ()
    ended = EndShard(build.id, shard.id)
    planned = tools.facts.planned(shard.id)
    if not planned:
        return (ended,)
    camera = _fitting(tools, build, job)
    hold.save((BeginShard(shard.id),))
    pace = Pace(tools.elapsed, tools.elapsed())
    finished = Finished(job, hold, shard.id, Content(tools.store), pace)
    try:
        _capture_all(tools, build, camera, finished, planned)
    except Interrupted as stop:
        save_what_is_left(hold, stop, finished.hand_over())
        raise
    return (*finished.hand_over(), ended)


def _fitting(tools: Tools, build: BuildFact, job: ConsumerJob) -> Camera:
    """Return the camera if its pictures belong into this build (BUILD-49)."""
    camera = tools.open_camera()
    if camera.environment.hash == build.environment:
        return camera
    if tools.facts.waits(job.job_id, UNFITTING) >= WAITS_MAX:
        raise PermanentError(
            UNFITTING, "No consumer has the browser and fonts with which this build was begun."
        )
    raise NotNow(UNFITTING, "The build was begun with another browser or other fonts.")


def _capture_all(
    tools: Tools,
    build: BuildFact,
    camera: Camera,
    finished: Finished,
    planned: Sequence[SnapshotFact],
) -> None:
    saves_each = tools.facts.crashed_before(finished.job.job_id)
    camera.open(_site(tools, build))
    try:
        for index, snapshot in enumerate(planned):
            if snapshot.deaths:  # one to blame: its crash shall cost nothing of others (SUP-45)
                camera.renew()
            begin = partial(
                _begin, finished, snapshot, index=index, of=len(planned), saves=saves_each
            )
            finished.add(shoot(_sitting(tools, build, camera, finished, snapshot, begin=begin)))
    finally:
        camera.leave()


def _begin(
    finished: Finished, snapshot: SnapshotFact, *, index: int, of: int, saves: bool
) -> None:
    """Write down the story in hand; the save, if one is due, names it too (SUP-46)."""
    finished.hold.begin(
        snapshot.key.story_id,
        snapshot_id=snapshot.id,
        index=index,
        of=of,
        deadline_s=STORY_DEADLINE_S,
    )
    if saves:
        finished.save()


def _sitting(
    tools: Tools,
    build: BuildFact,
    camera: Camera,
    finished: Finished,
    snapshot: SnapshotFact,
    *,
    begin: Callable[[], None],
) -> Sitting:
    mode = snapshot.key.mode
    return Sitting(
        camera=camera,
        clock=tools.clock,
        content=finished.content,
        rule=rule_of(build.project),
        snapshot=snapshot,
        mode=mode_from(mode_name(build.project.modes, mode), mode),
        begin=begin,
    )


def _site(tools: Tools, build: BuildFact) -> Site:
    files = {file.path: file.sha for file in tools.facts.files(build.id)}
    return Site(files, tools.store.get, allow=tuple(build.project.capture.get("allow", ())))
