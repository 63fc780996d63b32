"""Plans, results and outcomes: written in bulk, written once, counted as they are."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from capture_consumer.builds import verdicts
from capture_consumer.builds.effects import (
    BeginPlanning,
    BeginShard,
    Compared,
    DealShards,
    EndBuild,
    EndShard,
    FinishBuild,
    KeepContent,
    PlannedShard,
    PlannedSnapshot,
    RecordOutcomes,
    RecordSnapshots,
    RemovedSnapshot,
    Ruled,
    SnapshotResult,
    StoredBlob,
    TryMade,
)
from capture_consumer.clock import boot_seconds
from capture_consumer.records.facts import RowFacts
from capture_consumer.tables import keys
from capture_consumer.tables.shards import shards as shard_table
from capture_consumer.tables.tries import tries
from tests.made import (
    MODE,
    build_of,
    captured,
    capturing,
    dealt,
    everything,
    finished,
    image,
    jobs_of,
    kept,
    pending,
    planning,
    reducing,
    sha,
    shards_of,
    snapshots_of,
    states,
    written,
)

QUARTER = timedelta(milliseconds=250)
NARROW = '{"width":320}'


def result_of(engine, build_id, story, picture, clock, *, state="captured", tried=1):
    rows = snapshots_of(engine, build_id)
    row = next(one for one in rows if one.title == f"Title of {story}")
    made = tuple(
        TryMade(
            clock.now(), clock.now() + timedelta(milliseconds=250), "still", picture.pixel_sha
        )
        for _ in range(tried)
    )
    pixels = picture.pixel_sha if state == "captured" else None
    results = (SnapshotResult(row.id, state, pixel_sha=pixels, message="m\x00", tries=made),)
    return RecordSnapshots(row.shard_id, f"shard:{build_id}:0", 1, results)


def test_planning_that_began_already_is_well(engine, clock):
    """T5."""
    build_id = pending(engine, clock)

    written(engine, clock, BeginPlanning(build_id))
    written(engine, clock, BeginPlanning(build_id))

    assert (build_of(engine, build_id).phase, build_of(engine, build_id).rev) == ("planning", 2)


def test_a_plan_writes_keys_snapshots_shards_and_jobs_and_flips_the_phase(engine, clock):
    """T6, BUILD-30, BUILD-49."""
    build_id = planning(engine, clock)

    written(engine, clock, dealt(build_id, ["b", "a"], ["c"]))

    assert build_of(engine, build_id).phase == "capturing"
    assert build_of(engine, build_id).environment == "env"
    assert states(engine, build_id) == {"a": "planned", "b": "planned", "c": "planned"}
    assert jobs_of(engine, build_id) == {
        "plan": "queued",
        "shard:0": "queued",
        "shard:1": "queued",
    }
    assert [shard.idx for shard in shards_of(engine, build_id)] == [0, 1]


def test_a_plan_that_is_settled_twice_writes_once(engine, clock):
    build_id = capturing(engine, clock, ["a"])
    before = everything(engine)

    written(engine, clock, dealt(build_id, ["a"], ["b"]))

    assert everything(engine) == before


def test_a_plan_without_shards_goes_on_to_reducing(engine, clock):
    """T7, BUILD-44: the pictures of a folder are captured by the plan."""
    build_id = planning(engine, clock, kind="images")
    picture = image("folder")
    shown = PlannedSnapshot("x/y", "{}", "image", "x/y", None, "captured", picture.pixel_sha)
    broken = PlannedSnapshot(
        "z", "{}", "image", "z", None, "errored", error_code="invalid_image"
    )

    written(engine, clock, kept(picture), DealShards(build_id, "env", (shown, broken), ()))

    assert build_of(engine, build_id).phase == "reducing"
    assert jobs_of(engine, build_id)["reduce"] == "queued"
    assert states(engine, build_id) == {"x/y": "captured", "z": "errored"}


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_plan_of_twenty_thousand_snapshots_is_one_settle(engine, clock, record_property):
    """R12, T6."""
    build_id = planning(engine, clock)
    planned = tuple(
        PlannedSnapshot(
            f"s--{i // 2:05}", MODE if i % 2 else '{"width":320}', "chromium", "t", i % 64
        )
        for i in range(20_000)
    )
    plan = DealShards(build_id, "env", planned, tuple(PlannedShard(i, 9) for i in range(64)))
    began_s = boot_seconds()

    written(engine, clock, plan)

    took_s = boot_seconds() - began_s
    record_property("took_s", took_s)
    assert RowFacts(engine, clock).progress(build_id)[:2] == (0, 20_000)
    assert took_s < 60, took_s


def test_a_shard_runs_from_its_first_save_on(engine, clock):
    """BUILD-31."""
    build_id = capturing(engine, clock, ["a"])
    shard = shards_of(engine, build_id)[0]

    written(engine, clock, BeginShard(shard.id))
    written(engine, clock, BeginShard(shard.id))

    assert shards_of(engine, build_id)[0].state == "running"


def test_a_result_is_written_once(engine, clock):
    """BUILD-13, BUILD-44."""
    build_id = capturing(engine, clock, ["a", "b"])
    first, second = image(1), image(2)
    written(engine, clock, kept(first), result_of(engine, build_id, "a", first, clock))
    before = everything(engine)

    written(engine, clock, kept(second), result_of(engine, build_id, "a", second, clock))

    assert everything(engine) == before
    assert states(engine, build_id) == {"a": "captured", "b": "planned"}


def test_a_result_brings_its_tries_its_time_and_its_shards_count(engine, clock):
    """BUILD-45, BUILD-32."""
    build_id = capturing(engine, clock, ["a", "b"])
    picture = image(1)

    written(
        engine, clock, kept(picture), result_of(engine, build_id, "a", picture, clock, tried=3)
    )

    row = snapshots_of(engine, build_id)[0]
    assert (row.took_ms, row.message) == (750, "m\\x00")
    with engine.connect() as db:
        made = db.execute(select(tries.c.n, tries.c.job_id, tries.c.attempt).order_by("n"))
        assert [tuple(one) for one in made] == [
            (n, f"shard:{build_id}:0", 1) for n in (1, 2, 3)
        ]
        counted = db.execute(select(shard_table.c.planned, shard_table.c.ended)).one()
    assert tuple(counted) == (2, 1)


@pytest.mark.parametrize("end", ["cancelled", "superseded"])
def test_results_of_a_build_that_was_ended_are_refused(engine, clock, end):
    """BUILD-16, BUILD-37, JOB-135."""
    build_id = capturing(engine, clock, ["a"])
    picture = image(1)
    late = result_of(engine, build_id, "a", picture, clock)
    written(engine, clock, EndBuild(build_id, end))
    before = everything(engine)

    written(engine, clock, kept(picture), late)

    assert everything(engine) == before


def test_a_result_for_a_snapshot_of_another_shard_is_refused(engine, clock):
    build_id = capturing(engine, clock, ["a"], ["b"])
    picture = image(1)
    asked = result_of(engine, build_id, "a", picture, clock)
    other = shards_of(engine, build_id)[1].id

    written(engine, clock, kept(picture), RecordSnapshots(other, "j", 1, asked.results))

    assert states(engine, build_id) == {"a": "planned", "b": "planned"}


def test_a_picture_that_was_never_kept_is_a_bug(engine, clock):
    build_id = capturing(engine, clock, ["a"])

    with pytest.raises(AssertionError, match="never kept"):
        written(engine, clock, result_of(engine, build_id, "a", image("nowhere"), clock))


def ruled(row, outcome="changed", review="pending", **more):
    return Ruled(row.id, outcome, None, None, "none", review, **more)


def test_outcomes_are_written_only_while_the_build_reduces(engine, clock):
    """BUILD-75."""
    build_id = capturing(engine, clock, ["a"])
    row = snapshots_of(engine, build_id)[0]
    before = everything(engine)

    written(engine, clock, RecordOutcomes(build_id, (ruled(row),)))

    assert everything(engine) == before


def test_an_outcome_names_the_comparison_that_decided_it(engine, clock):
    build_id = reducing(engine, clock, ["a"])
    row = snapshots_of(engine, build_id)[0]
    mine, before = image(row.key_id), image("before")
    named = (before.pixel_sha, mine.pixel_sha, sha("rule"))
    compared = Compared(*named, "changed", 5, 0.5, 3, (0, 1, 2, 3))

    content = KeepContent(
        blobs=kept(before).blobs, images=(before, mine), comparisons=(compared,)
    )

    written(engine, clock, content, RecordOutcomes(build_id, (ruled(row, compared=named),)))

    shown = RowFacts(engine, clock).view(build_id).snapshots[0]
    assert shown.comparison
    assert (shown.comparison.verdict, shown.comparison.box) == ("changed", (0, 1, 2, 3))


def test_a_snapshot_that_reduce_could_not_compare_becomes_errored(engine, clock):
    """BUILD-78."""
    build_id = reducing(engine, clock, ["a", "b"])
    first, second = snapshots_of(engine, build_id)
    crashed = ruled(
        first, "errored", "none", error_code="compare_crashed", message="killed by signal 9"
    )

    written(engine, clock, RecordOutcomes(build_id, (crashed, ruled(second))))

    first, second = snapshots_of(engine, build_id)
    assert (first.state, first.error_code) == ("errored", "compare_crashed")
    assert (second.state, second.error_code, second.outcome) == ("captured", None, "changed")


def gone(key_id, title="gone", **more):
    values = {"outcome": "removed", "review": "pending"} | more
    return RemovedSnapshot(
        key_id=key_id,
        title=title,
        baseline_image_id=1,
        baseline_build_id=1,
        baseline_reason="ancestor",
        **values,
    )


def with_old_key(engine, clock):
    old = finished(engine, clock, ["a", "old"], nonce="1")
    key_id = next(row.key_id for row in snapshots_of(engine, old) if row.title.endswith("old"))
    return reducing(engine, clock, ["a"], nonce="2"), key_id


def test_removed_keys_get_rows_and_a_second_attempt_gives_them_new_values(engine, clock):
    """BUILD-62, BUILD-75, BUILD-44."""
    build_id, key_id = with_old_key(engine, clock)

    written(engine, clock, RecordOutcomes(build_id, (), (gone(key_id),)))
    written(engine, clock, RecordOutcomes(build_id, (), (gone(key_id, review="accepted"),)))

    rows = [row for row in snapshots_of(engine, build_id) if row.key_id == key_id]
    assert [(row.state, row.outcome, row.review) for row in rows] == [
        ("skipped", "removed", "accepted")
    ]


def test_only_added_rows_can_be_withdrawn(engine, clock):
    build_id, key_id = with_old_key(engine, clock)
    written(engine, clock, RecordOutcomes(build_id, (), (gone(key_id),)))
    ids = tuple(row.id for row in snapshots_of(engine, build_id))

    written(engine, clock, RecordOutcomes(build_id, (), withdrawn=ids))

    assert states(engine, build_id) == {"a": "captured"}


def test_a_key_that_was_never_uploaded_is_lost_not_removed(engine, clock):
    """BUILD-41."""
    build_id, key_id = with_old_key(engine, clock)

    written(engine, clock, RecordOutcomes(build_id, (), (gone(key_id, outcome="lost"),)))

    assert states(engine, build_id) == {"a": "captured", "gone": "lost"}


def test_counts_of_a_finished_build_equal_a_recount(engine, clock):
    """BUILD-80."""
    build_id = reducing(engine, clock, ["a", "b", "c"])
    first, second, third = snapshots_of(engine, build_id)
    asked = (ruled(first), ruled(second, "unchanged", "none"), ruled(third, "new"))
    written(engine, clock, RecordOutcomes(build_id, asked))
    counts = verdicts.counts(RowFacts(engine, clock).snapshots(build_id))

    written(engine, clock, FinishBuild(build_id, "needs_review", None, counts))

    rows = snapshots_of(engine, build_id)
    build = build_of(engine, build_id)
    assert build.counts["total"] == len(rows)
    assert build.counts["pending"] == sum(row.review == "pending" for row in rows)
    assert {word: build.counts[word] for word in ("changed", "new", "unchanged")} == {
        word: sum(row.outcome == word for row in rows)
        for word in ("changed", "new", "unchanged")
    }


def test_a_finished_build_has_verdict_manifest_and_counts(engine, clock):
    """T10."""
    build_id = reducing(engine, clock, ["a"])
    manifest = StoredBlob(sha("map"), 5, "manifest")

    written(
        engine,
        clock,
        KeepContent(blobs=(manifest,)),
        FinishBuild(build_id, "accepted", manifest.sha, {"total": 1}),
    )

    build = build_of(engine, build_id)
    assert (build.phase, build.verdict, build.manifest_sha) == (
        "finished",
        "accepted",
        manifest.sha,
    )
    assert build.finished_at == clock.now()


def test_keys_are_the_same_through_builds_and_apart_between_names(engine, clock):
    """BUILD-2, BUILD-3."""
    first = capturing(engine, clock, ["a"], nonce="1")
    again = capturing(engine, clock, ["a"], nonce="2")
    other = capturing(engine, clock, ["a"], nonce="3", name="docs")

    one, two, three = (snapshots_of(engine, build)[0].key_id for build in (first, again, other))

    assert one == two != three
    with engine.connect() as db:
        assert keys.get(db, [one])[one].story_id == "a"


def test_a_whole_build_passes_through_all_its_phases(engine, clock):
    build_id = capturing(engine, clock, ["a"], ["b"])
    for shard in shards_of(engine, build_id):
        written(engine, clock, BeginShard(shard.id))
        captured(engine, clock, build_id, shard.id)
        written(engine, clock, EndShard(build_id, shard.id))
    written(engine, clock, FinishBuild(build_id, "passed", None, {}))

    assert (build_of(engine, build_id).phase, build_of(engine, build_id).rev) == ("finished", 5)
