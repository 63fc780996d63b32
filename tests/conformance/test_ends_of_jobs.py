"""Every end of an attempt, its budget, and what follows from it for the build."""

import pytest

from capture_consumer.consumer.outcome import (
    Cancelled,
    Crashed,
    Done,
    Failed,
    Lost,
    Released,
    TimedOut,
)
from capture_consumer.database.transaction import transaction
from capture_consumer.records.facts import RowFacts
from capture_consumer.records.moving import end_build
from capture_consumer.records.reaping import reap
from capture_consumer.tables import attempts, jobs
from tests.made import (
    build_of,
    hooks_of,
    jobs_of,
    pending,
    reducing as made_reducing,
    shards_of,
    states,
)
from tests.queueing import (
    add,
    attempts_of,
    broken_promises,
    capturing,
    end,
    job_of,
    outcomes_of,
    take_one,
)

SEGV = Crashed(code="crashed", text="killed by SIGSEGV", signal=11)
KILLED_IN_A = Crashed(
    code="crashed", text="killed by signal 9", signal=9, story="a", exact=True
)
A_MINUTE = 60_000


def taken_and_ended(engine, clock, how, *, times, gap_ms=400_000):
    """Claim the oldest job and end it so, several times; return what each end came to."""
    came = []
    for _ in range(times):
        clock.advance(ms=gap_ms)
        held = take_one(engine, clock)
        assert held
        came.append(end(engine, clock, held.job_id, held.attempt, how).outcome)
    return came


def test_a_job_whose_handler_raises_three_times_fails_with_the_last_error(engine, clock):
    """JOB-16, JOB-86, JOB-157."""
    add(engine, clock, "j")

    came = taken_and_ended(engine, clock, Failed("boom", "it broke"), times=3)

    assert came == ["requeued", "requeued", "failed"]
    assert (job_of(engine, "j").status, job_of(engine, "j").error) == ("failed", "it broke")
    assert broken_promises(engine) == []


def test_the_first_retry_waits_the_base_and_the_second_twice_as_long(engine, clock):
    """JOB-89."""
    add(engine, clock, "j")
    waits = []

    for _ in range(2):
        held = take_one(engine, clock)
        waits.append(end(engine, clock, "j", held.attempt, Failed("boom", "x")).delay_ms)
        clock.advance(ms=waits[-1])

    assert waits == [5_000, 10_000]


def test_a_permanent_error_ends_the_job_at_once(engine, clock):
    """JOB-91."""
    add(engine, clock, "j")

    came = taken_and_ended(engine, clock, Failed("bad", "no use", permanent=True), times=1)

    assert came == ["failed"]


def test_a_job_that_kills_its_process_three_times_fails_with_the_signal_in_its_text(
    engine, clock
):
    """Q-16, JOB-126, L4: due at once each time, and the queue goes on."""
    add(engine, clock, "poison")

    came = taken_and_ended(engine, clock, SEGV, times=3, gap_ms=1)
    add(engine, clock, "good")

    assert came == ["requeued", "requeued", "failed"]
    assert "killed by SIGSEGV" in job_of(engine, "poison").error
    assert attempts_of(engine, "poison")[0].signal == 11
    assert take_one(engine, clock).job_id == "good"


def test_crashes_older_than_three_days_do_not_count(engine, clock):
    """SUP-38, R5."""
    add(engine, clock, "j")

    came = taken_and_ended(engine, clock, SEGV, times=6, gap_ms=40 * 3_600_000)

    assert came == ["requeued"] * 6


def test_a_job_that_crashed_and_was_cancelled_is_never_claimed_again(engine, clock):
    """Q-17, S9."""
    add(engine, clock, "j")
    taken_and_ended(engine, clock, SEGV, times=1)

    with transaction(engine) as tx:
        assert jobs.cancel(tx, "j", clock.now())

    assert take_one(engine, clock) is None
    assert job_of(engine, "j").status == "cancelled"


def test_a_late_failure_of_a_cancelled_job_ends_cancelled_and_is_not_retried(engine, clock):
    """Q-65, JOB-17."""
    add(engine, clock, "j")
    held = take_one(engine, clock)
    with transaction(engine) as tx:
        jobs.cancel(tx, "j", clock.now())

    came = end(engine, clock, "j", held.attempt, Failed("boom", "late"), owner="me")

    assert came.outcome == "cancelled"
    assert outcomes_of(engine, "j") == ["cancelled"]
    assert job_of(engine, "j").status == "cancelled"
    assert job_of(engine, "j").error is None


def test_a_failed_job_stays_failed_when_an_earlier_attempt_reports_late(engine, clock):
    """Q-3, S4."""
    add(engine, clock, "j")
    first = take_one(engine, clock, owner="slow")
    end(engine, clock, "j", first.attempt, Lost(code="lost", text="gone"))
    second = take_one(engine, clock, owner="quick")
    end(engine, clock, "j", second.attempt, Failed("boom", "final", permanent=True))

    late = end(engine, clock, "j", first.attempt, Failed("boom", "late"), owner="slow")

    assert late is None
    assert (job_of(engine, "j").status, job_of(engine, "j").error) == ("failed", "final")


def test_twenty_releases_are_free_and_from_then_on_they_count_as_failures(engine, clock):
    """JOB-113."""
    add(engine, clock, "j")

    came = taken_and_ended(engine, clock, Released(), times=23)

    assert came == ["requeued"] * 22 + ["failed"]
    assert broken_promises(engine) == []


def test_a_released_job_is_due_at_once_and_costs_nothing(engine, clock):
    """Q-30, JOB-113: a drain without time."""
    add(engine, clock, "j")
    held = take_one(engine, clock)

    came = end(engine, clock, "j", held.attempt, Released(), owner="me")

    assert came.outcome == "requeued"
    assert job_of(engine, "j").visible_at == clock.now()
    assert take_one(engine, clock).failures == 0


def test_a_job_that_waits_for_others_is_due_in_a_minute(engine, clock):
    """R3."""
    add(engine, clock, "j")
    held = take_one(engine, clock)

    end(engine, clock, "j", held.attempt, Released(A_MINUTE, "environment"), owner="me")

    assert take_one(engine, clock) is None
    clock.advance(ms=A_MINUTE)
    assert take_one(engine, clock)


@pytest.mark.parametrize(
    ("how", "suspect"),
    [
        (Lost(code="lost", text="x"), True),
        (Crashed(code="crashed", text="x", oom=True), True),
        (TimedOut(code="memory", text="x"), True),
        (TimedOut(code="hung", text="x"), False),
        (SEGV, False),
        (Failed("boom", "x"), False),
        (Released(), True),
    ],
)
def test_a_suspect_is_who_was_lost_or_ran_out_of_memory(engine, clock, how, suspect):
    """JOB-158, R13: another counted end clears the mark, a release leaves it."""
    add(engine, clock, "j")
    held = take_one(engine, clock)
    end(engine, clock, "j", held.attempt, Lost(code="lost", text="first"))
    again = take_one(engine, clock)

    end(engine, clock, "j", again.attempt, how)

    assert job_of(engine, "j").suspect is suspect


def test_an_innocent_suspect_is_cleared_when_it_is_done(engine, clock):
    """JOB-158."""
    add(engine, clock, "j")
    held = take_one(engine, clock)
    end(engine, clock, "j", held.attempt, Lost(code="lost", text="x"))
    again = take_one(engine, clock)

    end(engine, clock, "j", again.attempt, Done(()))

    assert job_of(engine, "j").suspect is False


def test_the_fifth_loss_fails_the_job_and_says_how_many(engine, clock):
    """JOB-62, JOB-157."""
    add(engine, clock, "j")

    came = taken_and_ended(engine, clock, Lost(code="lost", text="x"), times=5)

    assert came == ["requeued"] * 4 + ["failed"]
    assert job_of(engine, "j").code == "lease_exhausted"
    assert "5 losses" in job_of(engine, "j").error


def test_failures_and_crashes_have_separate_limits(engine, clock):
    """SUP-39: neither hides the other."""
    add(engine, clock, "j")

    came = [
        *taken_and_ended(engine, clock, SEGV, times=2),
        *taken_and_ended(engine, clock, Failed("boom", "x"), times=2),
        *taken_and_ended(engine, clock, SEGV, times=1),
    ]

    assert came == ["requeued"] * 4 + ["failed"]


def test_a_story_in_hand_at_two_deaths_is_recorded_and_the_shard_goes_on(engine, clock):
    """JOB-126, SUP-27: both ends are explained and no longer count."""
    build_id = capturing(engine, clock, ["a", "b"])

    came = taken_and_ended(engine, clock, KILLED_IN_A, times=2)

    assert came == ["requeued", "story-failed"]
    assert states(engine, build_id) == {"a": "errored", "b": "planned"}
    assert [one.explained for one in attempts_of(engine, f"shard:{build_id}:0")] == [True, True]
    assert job_of(engine, f"shard:{build_id}:0").status == "queued"


def reducing(engine, clock, *stories):
    """Return a build that reduces; its reduce is the only job that can be claimed."""
    build_id = made_reducing(engine, clock, list(stories))
    with transaction(engine) as tx:
        for job_id in (f"plan:{build_id}", f"shard:{build_id}:0"):
            jobs.end(tx, job_id, status="done", now=clock.now())
    return build_id


def test_a_story_in_hand_at_two_deaths_of_a_reduce_is_left_out_and_reduce_goes_on(
    engine, clock
):
    """BUILD-78, SUP-27: the deaths are explained; facts say which story to leave out."""
    build_id = reducing(engine, clock, "a", "b")
    job_id = f"reduce:{build_id}"

    came = taken_and_ended(engine, clock, KILLED_IN_A, times=2)

    assert came == ["requeued", "story-failed"]
    assert (job_of(engine, job_id).status, job_of(engine, job_id).code) == (
        "queued",
        "compare_crashed",
    )
    assert [one.explained for one in attempts_of(engine, job_id)] == [True, True]
    found = RowFacts(engine, clock).snapshots(build_id)
    assert {one.key.story_id: one.deaths for one in found} == {"a": 2, "b": 0}
    assert build_of(engine, build_id).phase == "reducing"


def test_a_reduce_that_dies_on_after_its_story_was_left_out_fails_its_build(engine, clock):
    """BUILD-78, JOB-126: a story is blamed once; whatever kills it then counts for the job."""
    build_id = reducing(engine, clock, "a")

    came = taken_and_ended(engine, clock, KILLED_IN_A, times=5)

    assert came == ["requeued", "story-failed", "requeued", "requeued", "failed"]
    assert build_of(engine, build_id).phase == "failed"


def test_the_reap_does_not_hold_a_story_against_a_reduce(engine, clock):
    """SUP-46: the row of a lost host names a story that may be 15 s old."""
    build_id = reducing(engine, clock, "a")
    held = take_one(engine, clock)
    with transaction(engine) as tx:
        mine = attempts.OpenAttempt(held.job_id, 1, "me")
        attempts.touch(tx, mine, lease_until=clock.now(), now=clock.now(), story="a")

    assert reap(engine, now=clock.now()) == 1

    assert [one.deaths for one in RowFacts(engine, clock).snapshots(build_id)] == [0]


def test_two_deaths_in_different_stories_blame_none(engine, clock):
    """SUP-27."""
    build_id = capturing(engine, clock, ["a", "b"])
    in_b = Crashed(code="crashed", text="x", story="b", exact=True)

    came = taken_and_ended(engine, clock, KILLED_IN_A, times=1)
    came += taken_and_ended(engine, clock, in_b, times=1)

    assert came == ["requeued", "requeued"]
    assert states(engine, build_id) == {"a": "planned", "b": "planned"}


def test_a_story_that_is_not_known_exactly_is_not_blamed(engine, clock):
    """SUP-46."""
    build_id = capturing(engine, clock, ["a", "b"])
    perhaps = Crashed(code="crashed", text="x", story="a", exact=False)

    taken_and_ended(engine, clock, perhaps, times=2)

    assert states(engine, build_id) == {"a": "planned", "b": "planned"}


def test_a_fourth_story_that_kills_twice_fails_the_job(engine, clock):
    """SUP-30."""
    capturing(engine, clock, ["a", "b", "c", "d"])
    came = []

    for story in "abcd":
        how = Crashed(code="crashed", text="x", story=story, exact=True)
        came += taken_and_ended(engine, clock, how, times=2)

    assert came == ["requeued", "story-failed"] * 3 + ["requeued", "finalized"]


def test_a_shard_whose_job_is_given_up_fails_and_its_stories_are_lost(engine, clock):
    """JOB-119, JOB-70."""
    build_id = capturing(engine, clock, ["a"], ["b"])

    came = taken_and_ended(engine, clock, Failed("bad", "no", permanent=True), times=1)

    assert came == ["shard-failed"]
    assert [shard.state for shard in shards_of(engine, build_id)] == ["failed", "pending"]
    assert states(engine, build_id)["a"] == "lost"
    assert build_of(engine, build_id).phase == "capturing"
    assert "job_exhausted" in [hook for _, hook in hooks_of(engine, build_id)]


def test_the_last_open_shard_that_is_given_up_moves_the_build_to_reducing(engine, clock):
    """JOB-116, JOB-133."""
    build_id = capturing(engine, clock, ["a"])

    came = taken_and_ended(engine, clock, Failed("bad", "no", permanent=True), times=1)

    assert came == ["finalized"]
    assert build_of(engine, build_id).phase == "reducing"
    assert jobs_of(engine, build_id)["reduce"] == "queued"


def test_a_plan_that_crashes_three_times_fails_its_build_with_the_signal(engine, clock):
    """JOB-118, JOB-123."""
    build_id = pending(engine, clock)

    came = taken_and_ended(engine, clock, SEGV, times=3)

    assert came == ["requeued", "requeued", "failed"]
    build = build_of(engine, build_id)
    assert (build.phase, "SIGSEGV" in build.error_text) == ("failed", True)
    assert broken_promises(engine) == []


def test_a_notify_job_that_is_given_up_fails_alone(engine, clock):
    """R1, JOB-70: the lifecycle hears of it all the same."""
    build_id = capturing(engine, clock, ["a"])
    add(engine, clock, "notify:1", kind="noop", build_id=build_id, priority=-1)

    came = taken_and_ended(engine, clock, Failed("bad", "no", permanent=True), times=1)

    assert came == ["failed"]
    assert build_of(engine, build_id).phase == "capturing"
    assert "job_exhausted" in [hook for _, hook in hooks_of(engine, build_id)]


def test_an_end_that_comes_after_the_build_ended_changes_no_build(engine, clock):
    """JOB-117, SUP-29."""
    build_id = capturing(engine, clock, ["a"])
    held = take_one(engine, clock)
    with transaction(engine) as tx:
        end_build(tx, build_id=build_id, to="cancelled", now=clock.now())
    before = build_of(engine, build_id)

    came = end(engine, clock, held.job_id, held.attempt, SEGV)

    assert came.outcome == "cancelled"
    assert build_of(engine, build_id) == before
    assert outcomes_of(engine, held.job_id) == ["cancelled"]
    assert broken_promises(engine) == []


def test_two_that_end_one_attempt_give_one_result(engine, clock):
    """SUP-26: the second finds nothing to end."""
    add(engine, clock, "j")
    held = take_one(engine, clock)

    first = end(engine, clock, "j", held.attempt, SEGV)
    second = end(engine, clock, "j", held.attempt, Lost(code="lost", text="x"))

    assert (first.outcome, second) == ("requeued", None)
    assert outcomes_of(engine, "j") == ["crashed"]


def test_nobody_ends_the_attempt_of_another_life(engine, clock):
    """Q-10: the same host and pid, but another owner."""
    add(engine, clock, "j")
    take_one(engine, clock, owner="first life")

    assert end(engine, clock, "j", 1, Done(()), owner="second life") is None


def test_a_holder_that_sees_the_cancel_ends_its_attempt_cancelled(engine, clock):
    """JOB-97."""
    add(engine, clock, "j")
    held = take_one(engine, clock)
    with transaction(engine) as tx:
        jobs.cancel(tx, "j", clock.now())

    came = end(engine, clock, "j", held.attempt, Cancelled(), owner="me")

    assert came.outcome == "cancelled"
    assert outcomes_of(engine, "j") == ["cancelled"]


def test_text_from_outside_cannot_make_writing_it_down_fail(engine, clock):
    """Q-58, JOB-165."""
    add(engine, clock, "j")
    held = take_one(engine, clock)
    text = "nul \0, lone \ud800, four bytes 𝄞, " + b"broken \xff".decode(errors="replace")

    end(engine, clock, "j", held.attempt, Failed("boom", text + "x" * 5_000))

    written = job_of(engine, "j").error
    assert "nul \\x00, lone \\ud800, four bytes 𝄞" in written
    assert len(written) == 2_000
