"""The step plan: from what was submitted to snapshots, shards and their jobs.

Nothing is written before the settle but the move to `planning`, so a plan that is
killed is simply made again. What is wrong with the upload fails the build at the first
attempt, with one line (T8).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from capture_consumer.builds import sharding
from capture_consumer.builds.baselines import Held
from capture_consumer.builds.effects import (
    BeginPlanning,
    DealShards,
    Effects,
    PlannedShard,
    PlannedSnapshot,
)
from capture_consumer.builds.facts import BuildFact, ImageFact
from capture_consumer.consumer.job import ConsumerJob, Hold
from capture_consumer.handlers.capture.before import look_up
from capture_consumer.handlers.capture.comparing import rule_of
from capture_consumer.handlers.capture.folder import pictures_of, read_pictures
from capture_consumer.handlers.capture.stories import snapshots_of
from capture_consumer.handlers.capture.tools import Tools

__all__ = ["run"]

ENVIRONMENT_OF_IMAGES = "images"

Key = tuple[str, str, str]


def run(tools: Tools, job: ConsumerJob, hold: Hold[Effects]) -> Effects:
    """Plan a build; return snapshots and shards.

    Raises:
        PermanentError: the upload, or the project's settings, are at fault.
        NotNow: a Storybook's plan needs a browser's environment, and there is none here.
    """
    assert job.build_id is not None
    build = tools.facts.build(job.build_id)
    if build is None or build.phase not in {"pending", "planning"}:
        return ()
    hold.save((BeginPlanning(build.id),))
    rule_of(build.project)
    _, held = look_up(tools, build)
    if build.kind == "images":
        return _of_pictures(tools, build, held, hold)
    return _of_stories(tools, build, held)


def _of_pictures(
    tools: Tools, build: BuildFact, held: Mapping[int, Held], hold: Hold[Effects]
) -> Effects:
    pictures = pictures_of(tools.facts.files(build.id))
    images = tools.facts.images({one.image_ids[0] for one in held.values()})
    known: dict[str, ImageFact] = {image.blob_sha: image for image in images.values()}
    snapshots, content = read_pictures(tools.store, pictures, known, hold)
    previewed = _with_baselines(tools, build, snapshots, held)
    return (content, DealShards(build.id, ENVIRONMENT_OF_IMAGES, previewed, ()))


def _of_stories(tools: Tools, build: BuildFact, held: Mapping[int, Held]) -> Effects:
    environment = tools.open_camera().environment.hash
    snapshots = snapshots_of(tools.store, tools.facts.files(build.id), build.project)
    to_capture = [one for one in snapshots if one.state == "planned"]
    previewed = _with_baselines(tools, build, snapshots, held)
    if not to_capture:
        return (DealShards(build.id, environment, previewed, ()),)
    dealt = _dealt(tools, build, to_capture)
    placed = tuple(
        replace(one, shard_idx=dealt.shard_of[one.story_id]) if one.state == "planned" else one
        for one in previewed
    )
    shards = tuple(PlannedShard(idx, weight) for idx, weight in enumerate(dealt.weights_ms))
    return (DealShards(build.id, environment, placed, shards),)


def _dealt(
    tools: Tools, build: BuildFact, snapshots: Sequence[PlannedSnapshot]
) -> sharding.Dealt:
    keys: dict[str, tuple[Key, ...]] = {}
    for one in snapshots:
        keys[one.story_id] = (*keys.get(one.story_id, ()), _key(one))
    weights = sharding.weigh(keys, tools.facts.durations(build.id))
    return sharding.deal(weights, consumers=tools.facts.consumers())


def _with_baselines(
    tools: Tools,
    build: BuildFact,
    snapshots: Sequence[PlannedSnapshot],
    held: Mapping[int, Held],
) -> tuple[PlannedSnapshot, ...]:
    """Write the preview of each baseline onto its snapshot (BUILD-30, R28)."""
    ids = tools.facts.key_ids(build.id, [_key(one) for one in snapshots])

    def baseline(one: PlannedSnapshot) -> int | None:
        before = held.get(ids.get(_key(one), -1))
        return before.image_ids[0] if before else None

    return tuple(replace(one, baseline_image_id=baseline(one)) for one in snapshots)


def _key(snapshot: PlannedSnapshot) -> Key:
    return (snapshot.story_id, snapshot.mode, snapshot.browser)
