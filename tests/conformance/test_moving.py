"""A build moves by the table of moves only, forward only, and takes what hangs on it along."""

import pytest
from sqlalchemy import update

from capture_consumer.builds.effects import (
    BeginPlanning,
    BeginShard,
    CancelJobs,
    EndBuild,
    EndShard,
    FinishBuild,
    GiveUp,
)
from capture_consumer.builds.phases import ENDS, MOVES, OPEN, hooks_of as hooks_of_phase
from capture_consumer.database.transaction import transaction
from capture_consumer.records import moving
from capture_consumer.tables import builds, shards
from tests.made import (
    IN_PHASE,
    build_of,
    captured,
    capturing,
    dealt,
    everything,
    hooks_of,
    jobs_of,
    planning,
    reducing,
    shards_of,
    states,
    written,
)

PHASES = (*OPEN, *ENDS)
FORWARD = {(move.frm, move.to) for move in MOVES if move.frm not in {None, move.to}}
VALUES = {"finished": {"verdict": "passed"}}


def try_to_move(engine, clock, build_id, to):
    with transaction(engine) as tx:
        build = builds.lock(tx, build_id)
        assert build
        return moving.move(tx, build, to, now=clock.now(), values=VALUES.get(to))


@pytest.mark.parametrize(("frm", "to"), sorted(FORWARD))
def test_every_move_of_the_table_is_made_with_its_rev_and_its_hooks(engine, clock, frm, to):
    """BUILD-10, BUILD-14, BUILD-17."""
    build_id = IN_PHASE[frm](engine, clock)
    before = build_of(engine, build_id)

    rev = try_to_move(engine, clock, build_id, to)

    after = build_of(engine, build_id)
    assert (after.phase, after.rev) == (to, before.rev + 1)
    assert rev == after.rev
    assert [hook for hook in hooks_of(engine, build_id) if hook[0] == rev] == [
        (rev, hook) for hook in hooks_of_phase(to)
    ]


@pytest.mark.parametrize("frm", PHASES)
def test_no_other_move_is_made(engine, clock, frm):
    """BUILD-14, BUILD-15."""
    build_id = IN_PHASE[frm](engine, clock)
    others = [to for to in PHASES if (frm, to) not in FORWARD]
    before = everything(engine)

    moved = [try_to_move(engine, clock, build_id, to) for to in others]

    assert moved == [None] * len(others)
    assert everything(engine) == before


@pytest.mark.parametrize("to", ["cancelled", "superseded", "failed"])
def test_an_end_takes_jobs_and_shards_along(engine, clock, to):
    """BUILD-16, BUILD-17, JOB-118, JOB-135."""
    build_id = IN_PHASE["planning" if to == "failed" else "capturing"](engine, clock)

    written(engine, clock, EndBuild(build_id, to, "a_code", "a text"))

    build = build_of(engine, build_id)
    assert (build.phase, build.error_code, build.error_text) == (to, "a_code", "a text")
    assert build.finished_at == clock.now()
    assert not {"queued", "running"} & set(jobs_of(engine, build_id).values())
    assert not {"pending", "running"} & {one.state for one in shards_of(engine, build_id)}
    assert hooks_of(engine, build_id)[-1] == (build.rev, "cancel_jobs")


def test_the_jobs_of_a_failed_build_fail_with_its_error(engine, clock):
    """JOB-118, JOB-125."""
    build_id = planning(engine, clock)

    written(engine, clock, GiveUp(build_id, None, "crashed", "killed by signal 9"))

    assert jobs_of(engine, build_id) == {"plan": "failed"}


def test_the_last_shard_that_ends_moves_the_build_and_inserts_one_reduce_job(engine, clock):
    """BUILD-72, JOB-133, T9."""
    build_id = capturing(engine, clock, ["a"], ["b"])
    first, second = shards_of(engine, build_id)
    captured(engine, clock, build_id, first.id)
    captured(engine, clock, build_id, second.id)

    written(engine, clock, EndShard(build_id, first.id))
    assert build_of(engine, build_id).phase == "capturing"
    written(engine, clock, EndShard(build_id, second.id))

    assert build_of(engine, build_id).phase == "reducing"
    assert jobs_of(engine, build_id)["reduce"] == "queued"


def end_shard(engine, clock, build_id, shard_id, state="failed"):
    with transaction(engine) as tx:
        return moving.end_shard(
            tx,
            build_id=build_id,
            shard_id=shard_id,
            state=state,
            code="crashed",
            text="killed by signal 9",
            now=clock.now(),
        )


def test_a_failed_shard_loses_what_it_had_not_captured_and_nothing_else(engine, clock):
    """BUILD-35, JOB-119, B-12."""
    build_id = capturing(engine, clock, ["a", "b"], ["c"])
    first, second = shards_of(engine, build_id)
    captured(engine, clock, build_id, second.id)

    told = end_shard(engine, clock, build_id, first.id)

    assert told == "shard-failed"
    assert states(engine, build_id) == {"a": "lost", "b": "lost", "c": "captured"}
    assert build_of(engine, build_id).phase == "capturing"


def test_a_failed_shard_that_was_the_last_finalizes_the_capture(engine, clock):
    """JOB-119, JOB-116."""
    build_id = capturing(engine, clock, ["a"])

    assert end_shard(engine, clock, build_id, shards_of(engine, build_id)[0].id) == "finalized"

    assert build_of(engine, build_id).phase == "reducing"
    assert states(engine, build_id) == {"a": "lost"}


def test_a_shard_with_a_planned_snapshot_cannot_be_done(engine, clock):
    """BUILD-34."""
    build_id = capturing(engine, clock, ["a"])
    before = everything(engine)

    with pytest.raises(AssertionError):
        written(engine, clock, EndShard(build_id, shards_of(engine, build_id)[0].id))

    assert everything(engine) == before


def test_an_ended_shard_never_changes(engine, clock):
    """JOB-122, BUILD-37."""
    build_id = capturing(engine, clock, ["a"], ["b"])
    shard = shards_of(engine, build_id)[0]
    captured(engine, clock, build_id, shard.id)
    written(engine, clock, EndShard(build_id, shard.id))
    before = everything(engine)

    assert end_shard(engine, clock, build_id, shard.id) == "skipped"
    written(engine, clock, EndShard(build_id, shard.id), BeginShard(shard.id))

    assert everything(engine) == before


@pytest.mark.parametrize("end", ["finished", "cancelled", "superseded"])
def test_late_callers_change_nothing_of_a_build_that_has_ended(engine, clock, end):
    """BUILD-37, JOB-117, JOB-122, E-4, SUP-29."""
    build_id = (
        IN_PHASE["finished"](engine, clock) if end == "finished" else capturing(engine, clock)
    )
    if end != "finished":
        written(engine, clock, EndBuild(build_id, end))
    shard = shards_of(engine, build_id)[0]
    before = everything(engine)

    assert end_shard(engine, clock, build_id, shard.id) == "skipped"
    with transaction(engine) as tx:
        told = moving.fail_build(
            tx, build_id=build_id, code="crashed", text="late", now=clock.now()
        )
    written(
        engine,
        clock,
        BeginPlanning(build_id),
        dealt(build_id, ["late"]),
        EndShard(build_id, shard.id),
        FinishBuild(build_id, "passed", None, {}),
        EndBuild(build_id, "cancelled"),
        GiveUp(build_id, shard.id, "lost", "late"),
        CancelJobs(build_id),
    )

    assert told == "skipped"
    assert everything(engine) == before


def test_a_shard_that_is_open_by_mistake_in_an_ended_build_is_left_to_cancel_jobs(
    engine, clock
):
    """JOB-122, LIFE-44."""
    build_id = capturing(engine, clock, ["a"])
    shard = shards_of(engine, build_id)[0]
    written(engine, clock, EndBuild(build_id, "cancelled"))
    with transaction(engine) as tx:
        tx.execute(update(shards.shards).values(state="running", ended_at=None))
    before = everything(engine)

    assert end_shard(engine, clock, build_id, shard.id) == "skipped"
    assert everything(engine) == before
    written(engine, clock, CancelJobs(build_id))

    assert shards_of(engine, build_id)[0].state == "cancelled"


@pytest.mark.parametrize("shard_id", [None, 404])
def test_a_build_that_is_gone_is_skipped(engine, clock, shard_id):
    """SUP-29."""
    with transaction(engine) as tx:
        told = moving.give_up(
            tx, build_id=404, shard_id=shard_id, code="lost", text="gone", now=clock.now()
        )

    assert told == "skipped"


@pytest.mark.parametrize("phase", ["pending", "planning", "reducing"])
def test_a_plan_or_reduce_that_was_given_up_fails_its_build(engine, clock, phase):
    """T11, JOB-118, JOB-123."""
    build_id = IN_PHASE[phase](engine, clock)

    with transaction(engine) as tx:
        told = moving.give_up(
            tx, build_id=build_id, shard_id=None, code="crashed", text="why", now=clock.now()
        )

    assert told == "failed"
    assert build_of(engine, build_id).error_text == "why"


@pytest.mark.parametrize("phase", ["receiving", "capturing"])
def test_a_job_left_behind_where_none_can_be_open_fails_no_build(engine, clock, phase):
    """BUILD-14, JOB-118, adr/0018: the build goes on by its shards, or its upload."""
    build_id = IN_PHASE[phase](engine, clock)
    before = everything(engine)

    with transaction(engine) as tx:
        told = moving.give_up(
            tx, build_id=build_id, shard_id=None, code="crashed", text="why", now=clock.now()
        )

    assert told == "skipped"
    assert everything(engine) == before


def test_a_text_that_no_database_takes_is_written_in_other_signs(engine, clock):
    """JOB-165."""
    build_id = planning(engine, clock)

    written(engine, clock, EndBuild(build_id, "failed", "crashed", "a\x00b \ud800"))

    assert build_of(engine, build_id).error_text == "a\\x00b \\ud800"


def test_a_move_made_again_inserts_no_second_job(engine, clock):
    """BUILD-17."""
    build_id = reducing(engine, clock)

    with transaction(engine) as tx:
        moving.enqueue_reduce(tx, build_id, now=clock.now())

    assert list(jobs_of(engine, build_id)).count("reduce") == 1


def test_a_shard_is_locked_after_its_build(engine, clock):
    """BUILD-11: the row comes back as it is now."""
    build_id = capturing(engine, clock, ["a"])

    with transaction(engine) as tx:
        build = builds.lock(tx, build_id)
        shard = shards.lock(tx, shards.of_build(tx, build_id)[0].id)

    assert build
    assert shard
    assert (build.phase, shard.state) == ("capturing", "pending")
