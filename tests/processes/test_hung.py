"""Hung children: stacks first, then the end, and the story that hung is named."""

import os
import signal

import pytest

from tests.processes.stage import wait_for

pytestmark = pytest.mark.processes

IMPATIENT = {"slack_s": 0.1, "rung_s": 0.3, "first_story_s": 60.0}


def trace_of(stage, death):
    """Return the text of the trace that a death names."""
    return (stage.state / death["trace"]).read_text()


def test_a_story_that_never_ends_is_dumped_killed_and_named(stage):
    """S-25, SUP-68, SUP-70: the stacks are written before the kill."""
    stage.start(consumers=1, grace_s=1, pace=IMPATIENT)
    (stage.folder / "no-acks").touch()
    stage.job("bad", ["story", "spinner", 0.2], ["hang"])
    death = stage.death("bad")

    assert (death["end"], death["code"], death["story"]) == ("timed_out", "hung", "spinner")
    assert "hung in story spinner" in death["text"]
    assert "in hang" in trace_of(stage, death)
    assert [one["rung"] for one in stage.events("child_hung")] == ["dump", "abort"]


def test_a_child_that_holds_the_interpreter_is_found_by_its_silence(stage):
    """SUP-68: the beat."""
    stage.start(consumers=1, grace_s=1, pace={**IMPATIENT, "beat_s": 6.0})
    (stage.folder / "no-acks").touch()
    stage.job("bad", ["story", "glued", 60.0], ["hold_the_interpreter"])
    death = stage.death("bad")

    assert (death["end"], death["code"], death["story"]) == ("timed_out", "hung", "glued")
    assert {one["late"] for one in stage.events("child_hung")} == {"beat"}
    assert "hold_the_interpreter" in trace_of(stage, death)


def test_a_job_that_comes_to_no_story_is_hung_too(stage):
    """SUP-68: the first story."""
    stage.start(consumers=1, pace={**IMPATIENT, "first_story_s": 0.3})

    stage.job("bad", ["hang"])

    assert (stage.death("bad")["end"], stage.death("bad")["story"]) == ("timed_out", None)


def test_the_last_resort_of_a_child_is_told_from_a_crash_by_its_trace(stage):
    """SUP-69, R35."""
    stage.start(consumers=1)

    stage.job("bad", ["story", "slow"], ["time_itself_out"])
    death = stage.death("bad")

    assert (death["end"], death["code"], death["exit_code"]) == ("timed_out", "hung", 1)


def test_a_stopped_child_is_left_alone_and_goes_on_where_it_was(stage):
    """SUP-71."""
    stage.start(consumers=1, pace={**IMPATIENT, "beat_s": 6.0})
    stage.job("slow", ["until", "go"])
    pid = stage.holder("slow")

    os.kill(pid, signal.SIGSTOP)
    wait_for(lambda: stage.events("child_stopped"), within_s=15)
    os.kill(pid, signal.SIGCONT)
    stage.touch("go")

    wait_for(lambda: stage.done("slow"))
    assert not stage.events("child_hung")


def test_a_child_that_stays_stopped_is_killed_in_the_end(stage):
    """SUP-71."""
    pace = {**IMPATIENT, "first_story_s": 0.3, "stopped_s": 0.3}
    stage.start(consumers=1, pace=pace)
    stage.job("slow", ["signal", "SIGSTOP"])

    assert (stage.death("slow")["end"], stage.death("slow")["signal"]) == ("timed_out", 9)


def test_a_child_that_does_not_come_up_is_ended(stage):
    """SUP-68: the boot."""
    (stage.folder / "boot-consumer").write_text("wait")
    stage.start(consumers=1, wait=False, pace={**IMPATIENT, "boot_s": 0.5})

    wait_for(lambda: stage.events("child_hung", late="boot"))
    wait_for(lambda: stage.events("child_died", role="consumer"))

    assert stage.deaths() == []
    (stage.folder / "boot-consumer").unlink()
    stage.up(2)
