"""A start: who else is there, what earlier lives left, what is told before work begins."""

import os
import signal

import pytest

from capture_consumer.ipc.identity import stat_of
from tests.processes.stage import wait_for

pytestmark = pytest.mark.processes


def kill_all(stage):
    """Kill supervisor and children at once."""
    pids = [stage.process.pid, *(stat.pid for stat in stage.children())]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    stage.process.wait()
    return pids


def test_what_died_with_its_supervisor_is_booked_before_anybody_works(stage):
    """S-9, SUP-33: the job in hand as lost, the rest by OLD."""
    stage.start(consumers=2)
    stage.job("held", ["story", "card--old"], ["until", "never"], step="shard")
    holder = stage.holder("held")
    incarnation = stage.events("supervisor_started")[0]["incarnation"]
    wait_for((stage.state / "slots" / "0.box").exists)

    kill_all(stage)
    stage.start(consumers=2)

    death = stage.death("held")
    assert (death["end"], death["pid"], death["incarnation"]) == ("lost", holder, incarnation)
    assert (death["story"], death["exact"]) == ("card--old", True)
    assert stage.lines(stage.folder / "old.jsonl") == [[], [incarnation]]
    second = stage.lines(stage.log)
    told = [one["event"] for one in second[-4:]]
    assert set(told) == {"child_started", "child_ready"}
    assert not stage.spooled()


def test_consumers_wait_for_the_books(stage):
    """SUP-33, R31: until the first ACK, or for so long."""
    (stage.folder / "no-acks").touch()
    stage.start(consumers=1, grace_s=1, wait=False, pace={"clerk_wait_s": 1.0})

    wait_for((stage.folder / "old.jsonl").exists)
    assert [one["role"] for one in stage.events("child_started")] == ["clerk"]

    stage.up(2)


def test_nobody_waits_for_a_clerk_that_cannot_come_up(stage):
    """SUP-33, SUP-49."""
    (stage.folder / "boot-clerk").write_text("1")

    stage.start(consumers=1, wait=False, pace={"clerk_wait_s": 60.0})

    wait_for(lambda: stage.events("child_ready", slot=0))


def test_deaths_that_were_not_booked_are_told_by_the_next_life(stage):
    """SUP-31: the database was away."""
    (stage.folder / "no-acks").touch()
    stage.start(consumers=1, pace={"clerk_wait_s": 0.1})
    stage.job("bad", ["exit", 3])
    stage.death("bad")
    kill_all(stage)
    (stage.folder / "no-acks").unlink()
    (stage.folder / "deaths.jsonl").unlink()

    stage.start(consumers=1)

    assert stage.death("bad")["exit_code"] == 3
    wait_for(lambda: not stage.spooled())


def test_a_killed_supervisor_takes_all_of_its_consumers_with_it(stage):
    """S-29, SUP-66."""
    stage.start(consumers=2)
    stage.job("held", ["until", "never"])
    stage.holder("held")
    children = [stat.pid for stat in stage.children()]

    stage.process.kill()
    stage.process.wait()

    wait_for(lambda: all(gone(pid) for pid in children))


@pytest.mark.slow
def test_a_consumer_that_hangs_ends_itself_when_its_parent_is_gone(stage):
    """S-29, SUP-66: after 10 s."""
    stage.start(consumers=1)
    stage.job("bad", ["ignore_everything"])
    pid = stage.holder("bad")
    wait_for((stage.folder / "deaf").exists)

    stage.process.kill()
    stage.process.wait()

    wait_for(lambda: gone(pid), within_s=15)


def test_the_next_start_clears_what_was_stopped_or_hides_in_another_session(stage):
    """S-29, SUP-33: a stopped consumer and its stopped browser."""
    stage.start(consumers=1)
    stage.job("held", ["browser"], ["touch", "up"], ["signal", "SIGSTOP"])
    pid = stage.holder("held")
    wait_for(lambda: [stat for stat in stage.children(pid) if stat.state == "T"])
    wait_for((stage.folder / "up").exists)
    browser = stage.children(pid)[0].pid
    stage.process.kill()
    stage.process.wait()

    stage.start(consumers=1)

    assert gone(pid)
    assert gone(browser)
    assert stage.death("held")["end"] == "lost"


def test_a_fatal_error_in_the_trace_tells_a_crash_from_a_loss(stage):
    """SUP-33."""
    stage.start(consumers=1)
    stage.job("bad", ["story", "boom"], ["until", "go"], ["signal", "SIGSEGV"])
    stage.holder("bad")
    os.kill(stage.process.pid, signal.SIGSTOP)
    stage.touch("go")
    wait_for(lambda: [stat for stat in stage.children() if stat.state == "Z"])
    kill_all(stage)

    stage.start(consumers=1)

    assert (stage.death("bad")["end"], stage.death("bad")["story"]) == ("crashed", "boom")


def test_a_second_supervisor_names_the_first_and_leaves(stage):
    """S-32, SUP-7."""
    first = stage.start(consumers=1)

    second = stage.start(consumers=1, wait=False)

    assert second.wait(10) == 75
    assert str(first.pid) in stage.events("another_supervisor")[0]["error"]
    assert first.poll() is None


def test_an_orphan_keeps_no_lock(stage):
    """S-32, SUP-6: children inherit no descriptor of it."""
    stage.start(consumers=1)
    stage.job("held", ["leak_the_pipe"], ["until", "never"])
    pid = stage.holder("held")
    orphan = wait_for(lambda: stage.children(pid))[0]
    stage.process.kill()
    stage.process.wait()

    stage.start(consumers=1)

    assert not gone(orphan.pid)
    assert len(stage.events("supervisor_started")) == 2
    os.kill(orphan.pid, signal.SIGKILL)
    os.waitpid(orphan.pid, 0)


def test_a_wrong_configuration_ends_a_standalone_supervisor_with_78(stage):
    """S-33, SUP-49."""
    (stage.folder / "boot-consumer").write_text("78")

    process = stage.start(consumers=2, wait=False)

    assert process.wait(10) == 78
    assert stage.events("never_came_up")


def test_a_wrong_configuration_does_not_end_an_embedded_one(stage):
    """S-33, SUP-49: not ready, and tries again."""
    (stage.folder / "boot-consumer").write_text("78")

    stage.start(consumers=1, wait=False, standalone=False)
    wait_for(lambda: stage.events("never_came_up"))

    wait_for(lambda: stage.health().get("ever_ready") is not None)
    assert stage.stop() == 0


def test_who_asks_is_told_ready_as_soon_as_one_is_up_and_draining_at_once(stage):
    """SUP-89, SUP-90."""
    stage.start(consumers=1)
    wait_for(
        lambda: [one for one in stage.health()["slots"] if one["phase"] == "idle"], within_s=1
    )
    stage.job("held", ["until", "go"])
    stage.holder("held")

    os.kill(stage.process.pid, signal.SIGTERM)

    wait_for(lambda: stage.health()["state"] == "draining", within_s=1)
    stage.touch("go")


def gone(pid):
    """Return whether there is no such process, or only its zombie."""
    stat = stat_of(pid)
    return stat is None or stat.state in "ZX"
