"""One dies: it is noticed, told, replaced, and nobody else is touched."""

import os
import signal
import time

import pytest

from tests.processes.stage import SUPERVISOR, WITH_A_THIEF, WITHOUT_PIDFD, wait_for

pytestmark = pytest.mark.processes

BOTH_WATCHES = pytest.mark.parametrize(
    "runner", [SUPERVISOR, WITHOUT_PIDFD], ids=["pidfd", "sigchld"]
)


@BOTH_WATCHES
def test_a_consumer_that_is_killed_is_replaced_and_the_others_keep_their_jobs(stage, runner):
    """S-1, SUP-12, SUP-13, SUP-50."""
    stage.start(consumers=4, runner=runner)
    before = stage.consumers()
    stage.job("victim", ["until", "never"])
    for name in ("a", "b", "c"):
        stage.job(name, ["until", "go"])
    holders = {name: stage.holder(name) for name in ("a", "b", "c", "victim")}

    os.kill(holders["victim"], signal.SIGKILL)
    death = stage.death("victim")
    stage.up(6)
    stage.touch("go")

    assert (death["end"], death["code"], death["signal"]) == ("crashed", "crashed", 9)
    assert set(before) - set(stage.consumers()) == {holders["victim"]}
    wait_for(lambda: all(stage.done(name) for name in ("a", "b", "c")))
    assert len(stage.events("child_died")) == 1
    assert stage.stop() == 0


def test_a_job_that_ends_in_a_signal_is_told_with_its_story(stage):
    """S-2, SUP-20, SUP-32."""
    stage.start(consumers=1)

    stage.job("bad", ["story", "card--huge"], ["signal", "SIGSEGV"], step="shard")
    death = stage.death("bad")

    assert death["end"] == "crashed"
    assert death["text"] == "consumer killed by SIGSEGV in story card--huge"
    assert (death["story"], death["exact"]) == ("card--huge", True)
    assert (death["build"], death["shard"], death["step"]) == (7, 3, "shard")
    assert (death["exit_code"], death["signal"]) == (None, signal.SIGSEGV)
    assert death["owner"] == f"{death['incarnation']}-0-{death['pid']}"
    told = stage.events("child_died")[0]
    assert (told["level"], told["job"], told["story"]) == ("error", "bad", "card--huge")


@BOTH_WATCHES
def test_all_that_die_at_once_are_all_replaced(stage, runner):
    """S-3, SUP-11, SUP-13."""
    stage.start(consumers=4, runner=runner)
    before = stage.consumers()

    for pid in before:
        os.kill(pid, signal.SIGKILL)
    stage.up(9)

    assert len(stage.consumers()) == 4
    assert not set(before) & set(stage.consumers())
    assert len(stage.events("child_died")) == 4


def test_a_status_that_was_stolen_counts_as_a_crash_and_stops_nothing(stage):
    """S-4, SUP-19."""
    stage.start(consumers=1, runner=WITH_A_THIEF)

    stage.job("bad", ["exit", 3])
    death = stage.death("bad")
    stage.up(3)

    assert (death["end"], death["code"]) == ("crashed", "unknown")
    assert (death["exit_code"], death["signal"]) == (None, None)


def test_exit_0_with_a_job_in_hand_is_a_crash(stage):
    """S-5."""
    stage.start(consumers=1)

    stage.job("bad", ["exit", 0])

    assert stage.death("bad")["end"] == "crashed"
    assert stage.death("bad")["text"] == "consumer exited 0 while holding the job"


def test_exit_0_after_a_drain_is_no_death_to_book(stage):
    """S-5, SUP-60."""
    stage.start(consumers=2)

    assert stage.stop() == 0

    assert stage.deaths() == []
    assert {one["level"] for one in stage.events("child_died")} == {"info"}


def test_a_job_outside_of_any_story_is_told_with_its_step(stage):
    """S-8 (the text), SUP-32."""
    stage.start(consumers=1)

    stage.job("bad", ["exit", 11], step="reduce")

    assert stage.death("bad")["text"] == "consumer exited with code 11 in reduce"
    assert (stage.death("bad")["story"], stage.death("bad")["exact"]) == (None, False)


def test_a_grandchild_that_keeps_the_report_pipe_open_delays_nothing(stage):
    """S-18, SUP-18. The bound is wide: the machine of a test is busy."""
    stage.start(consumers=1)
    stage.job("bad", ["leak_the_pipe"], ["until", "never"])
    pid = stage.holder("bad")
    wait_for(lambda: stage.children(pid))

    killed_at = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    stage.death("bad")

    assert time.monotonic() - killed_at < 0.6


def test_orphans_in_sessions_of_their_own_die_with_their_consumer(stage):
    """SUP-62, SUP-63: double-forked, stopped, and the pipe held."""
    stage.start(consumers=2)
    stage.job("neighbour", ["browser"], ["until", "never"])
    neighbour = stage.holder("neighbour")
    wait_for(lambda: stage.children(neighbour))
    stage.job("bad", ["orphan"], ["browser"], ["story", "x"], ["exit", 3])

    stage.death("bad")
    wait_for(lambda: stage.events("child_died")[0]["debris"] >= 2)

    assert len(stage.children(neighbour)) == 1
    assert not [stat for stat in stage.children() if stat.state == "Z"]


def test_a_consumer_that_lost_its_lease_is_told_as_lost(stage):
    """R4, SUP-37."""
    stage.start(consumers=1)

    stage.job("bad", ["bye_and_exit", "lost", 75])

    assert (stage.death("bad")["end"], stage.death("bad")["code"]) == ("lost", "lost")


def test_a_job_that_signals_its_own_group_hits_only_itself(stage):
    """SUP-56."""
    stage.start(consumers=2)

    stage.job("bad", ["signal_group", "SIGKILL"])

    assert stage.death("bad")["end"] == "crashed"
    assert len(stage.events("child_died")) == 1


def test_a_frame_that_breaks_the_rules_ends_its_child(stage):
    """SUP-21."""
    stage.start(consumers=1)

    stage.job("bad", ["story", "odd"], ["garbage"])

    assert stage.death("bad")["end"] == "crashed"
    assert stage.death("bad")["story"] == "odd"
    assert stage.events("frame_broken")


def test_a_pipe_full_of_reports_is_read_to_its_last_word(stage):
    """SUP-17, SUP-23, SUP-24."""
    stage.start(consumers=1)

    stage.job("bad", ["fill_the_pipe"], ["signal", "SIGKILL"])

    assert stage.death("bad")["story"] == "story-2999"


def test_what_a_dead_consumer_had_in_its_temporary_directory_is_gone(stage):
    """SUP-9, S-46 (the profile)."""
    stage.start(consumers=1)

    stage.job("bad", ["scratch"], ["exit", 3])
    stage.death("bad")

    wait_for(lambda: not list((stage.state / "tmp").iterdir()))


def test_a_clerk_that_dies_is_restarted_and_told_what_was_not_booked(stage):
    """SUP-31, SUP-53."""
    stage.start(consumers=1)
    (stage.folder / "no-acks").touch()
    stage.job("bad", ["exit", 3])
    stage.death("bad")
    (stage.folder / "no-acks").unlink()
    clerk = next(one["pid"] for one in stage.events("child_ready") if one["slot"] < 0)

    os.kill(clerk, signal.SIGKILL)

    wait_for(lambda: len([d for d in stage.deaths() if d["job"] == "bad"]) == 2)
    wait_for(lambda: not stage.spooled())
    assert len({death["n"] for death in stage.deaths()}) == 1


def test_the_descriptors_of_the_supervisor_are_as_many_after_deaths_as_before(stage):
    """SUP-17, S-17 (no write end of its own)."""
    stage.start(consumers=2)
    wait_for(lambda: stage.health().get("ever_ready"))
    before = stage.descriptors()

    for name in ("a", "b", "c"):
        stage.job(name, ["orphan"], ["exit", 3])
        stage.death(name)
    stage.up(6)

    assert stage.descriptors() == before
    pipes = stage.pipes()
    assert sorted(pipes.values()) == [1] * (len(pipes) - 1) + [2]
