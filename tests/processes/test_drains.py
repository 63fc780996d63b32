"""A stop: who is told what, who finishes, who is killed, and that nobody is left."""

import os
import signal
import time
from threading import Event

import pytest

from tests.processes.stage import wait_for

pytestmark = pytest.mark.processes


def test_a_signal_to_the_whole_group_lets_the_job_end_well(stage):
    """S-14, SUP-56."""
    stage.start(consumers=1, grace_s=20)
    stage.job("short", ["until", "go"])
    stage.holder("short")

    os.killpg(stage.process.pid, signal.SIGTERM)
    wait_for(lambda: stage.events("draining"))
    stage.touch("go")

    assert stage.process.wait(10) == 0
    assert stage.done("short")
    assert stage.deaths() == []


def test_a_stop_during_the_boot_is_obeyed_when_the_child_is_up(stage):
    """S-15, SUP-57."""
    (stage.folder / "boot-consumer").write_text("wait")
    stage.start(consumers=2, grace_s=20, wait=False)
    wait_for(lambda: len(stage.events("child_started")) == 3)

    stage.process.terminate()
    wait_for(lambda: stage.events("draining"))
    (stage.folder / "boot-consumer").unlink()

    assert stage.process.wait(10) == 0
    assert {one.get("signal") for one in stage.events("child_died")} == {None}


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_stop_at_any_instant_after_the_start_leaves_no_process(stage):
    """S-16, SUP-57: the fixture looks for what is left."""
    for after_ms in range(0, 310, 10):
        process = stage.start(consumers=2, wait=False)
        Event().wait(after_ms / 1000)

        process.terminate()

        assert process.wait(15) in (0, -signal.SIGTERM)
        assert not stage.children(process.pid)


def test_an_idle_supervisor_leaves_at_once(stage):
    """S-17, S-22, SUP-60. The bound is wide: the machine of a test is busy."""
    stage.start(consumers=2, grace_s=30)

    began = time.monotonic()
    code = stage.stop()

    assert code == 0
    assert time.monotonic() - began < 2


def test_a_job_that_does_not_fit_is_released_uncounted(stage):
    """SUP-37, SUP-58, S-10."""
    stage.start(consumers=1, grace_s=9)
    stage.job("long", ["until", "never"])
    stage.holder("long")

    assert stage.stop() == 0

    assert (stage.folder / "jobs" / "long").exists()
    assert stage.deaths() == []


def test_a_consumer_that_hears_nothing_is_killed_and_its_job_goes_back(stage):
    """S-19, S-10, SUP-60."""
    stage.start(consumers=1, grace_s=2)
    stage.job("deaf", ["ignore_everything"])
    wait_for((stage.folder / "deaf").exists)

    assert stage.stop() == 1

    death = stage.death("deaf")
    assert (death["end"], death["code"]) == ("released", "drained")
    assert not stage.spooled()


def test_the_second_signal_hurries_and_the_third_kills(stage):
    """SUP-55."""
    stage.start(consumers=2, grace_s=600)
    stage.job("long", ["until", "never"])
    stage.job("deaf", ["ignore_everything"])
    wait_for((stage.folder / "deaf").exists)
    stage.holder("long")

    stage.process.send_signal(signal.SIGTERM)
    wait_for(lambda: stage.events("draining"))
    stage.process.send_signal(signal.SIGINT)
    wait_for(lambda: stage.events("child_died"))
    stage.process.send_signal(signal.SIGQUIT)

    assert stage.process.wait(5) == 1
    assert (stage.folder / "jobs" / "long").exists()
    assert stage.events("child_died", end="released", job="deaf")


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_death_at_the_instant_of_the_stop_hides_neither(stage):
    """S-20 (fewer times)."""
    for _ in range(20):
        stage.start(consumers=2)
        victim = stage.consumers()[0]
        drains = len(stage.events("draining"))

        os.kill(victim, signal.SIGKILL)
        stage.process.terminate()

        assert stage.process.wait(15) == 0
        assert len(stage.events("draining")) == drains + 1


def test_a_grace_of_0_kills_now(stage):
    """SUP-54."""
    stage.start(consumers=1, grace_s=0)
    stage.job("long", ["until", "never"])
    stage.holder("long")

    assert stage.stop(within_s=3) == 1

    assert stage.spooled() | {death["n"] for death in stage.deaths()} == {1}


def test_a_thousand_mixed_signals_are_survived(stage):
    """S-21, SUP-10."""
    stage.start(consumers=1)
    mixed = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGCHLD, signal.SIGTTIN, signal.SIGTTOU)

    for number in range(1000):
        stage.process.send_signal(mixed[number % len(mixed)])
    stage.job("after", ["until", "go"])
    stage.touch("go")

    wait_for(lambda: stage.done("after"))
    assert stage.stop() == 0


def test_a_reader_of_the_log_that_is_gone_stops_nothing(stage):
    """SUP-16."""
    read, write = os.pipe()
    stage.start(consumers=1, wait=False, stderr=write)
    os.close(write)
    os.close(read)

    stage.job("bad", ["exit", 3])
    stage.death("bad")
    stage.job("good", ["story", "x"])

    wait_for(lambda: stage.done("good"))
    assert stage.stop() == 0


def test_hangup_renews_all_one_after_the_other(stage):
    """SUP-51, SUP-52."""
    stage.start(consumers=2)
    before = stage.consumers()
    stage.job("held", ["until", "go"])
    stage.holder("held")

    stage.process.send_signal(signal.SIGHUP)
    wait_for(lambda: len(stage.events("child_recycled")) >= 1)
    stage.touch("go")
    wait_for(lambda: len(stage.events("child_ready")) == 6)

    assert stage.done("held")
    assert not set(before) & set(stage.consumers())
    assert [one["level"] for one in stage.events("child_died")] == ["info"] * 3
    assert stage.deaths() == []


def test_two_signals_want_one_consumer_more_and_one_less(stage):
    """Section 15, SUP-13."""
    stage.start(consumers=1)

    stage.process.send_signal(signal.SIGTTIN)
    stage.up(3)
    stage.process.send_signal(signal.SIGTTOU)

    wait_for(lambda: len(stage.consumers()) == 1)
    assert stage.events("consumers_wanted")[-1]["consumers"] == 1
