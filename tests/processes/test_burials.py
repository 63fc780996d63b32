"""The steps after a death, taken in this process, and what they may not touch."""

import os
import select
import signal
import subprocess
import time

import pytest

from capture_consumer.ipc import messages as say
from capture_consumer.supervisor.child import start
from capture_consumer.supervisor.death import Grave, bury
from capture_consumer.supervisor.debris import Debris
from capture_consumer.supervisor.memory import Groups
from capture_consumer.supervisor.plan import Plan
from capture_consumer.supervisor.state import State
from capture_consumer.supervisor.watch import Exit, PidfdWatch, SigchldWatch
from tests.processes.stage import LONG, wait_for

pytestmark = pytest.mark.processes

WATCHES = pytest.mark.parametrize("watch", [PidfdWatch(), SigchldWatch()], ids=["pidfd", "pid"])


@pytest.fixture
def table():
    """Return the pids of those that we started."""
    return set()


@pytest.fixture
def begin(tmp_path, stage, table):
    """Return a function that starts one child that does nothing at all."""
    state = State(tmp_path / "alone")
    state.lock()
    plan = Plan(str(state.folder), consumer_argv=tuple(LONG), clerk_argv=None)

    def begin(watch):
        now = time.monotonic()
        child = start(plan, state, "me", slot=0, role="consumer", watch=watch, now=now)
        table.add(child.pid)
        return child

    yield begin
    state.unlock()


@pytest.fixture
def grave(tmp_path, table):
    """Return what burying needs; who is a child of this process now is a stranger."""
    steps: list[str] = []
    debris = Debris()
    debris.remember(set())
    grave = Grave(
        debris,
        Groups(),
        hear=lambda child, report: child.said.hear(report, 0.0),
        table=lambda: table,
        trace_of=lambda slot: tmp_path / "none",
        step=steps.append,
    )
    return grave, steps


def test_the_steps_after_a_death_keep_their_order(begin, grave):
    """SUP-17."""
    child = begin(PidfdWatch())
    grave, steps = grave
    os.kill(child.pid, signal.SIGKILL)
    wait_for(lambda: child.watch.exit_of(child.handle))

    dead = bury(child, grave, before_closing=lambda: steps.append("closing"))

    assert steps == [
        "look",
        "last words",
        "black box",
        "counters",
        "debris",
        "reap",
        "closing",
    ]
    assert dead is not None
    assert (dead.evidence.exit, dead.evidence.peak_rss > 0) == (Exit(signal=9), True)


@WATCHES
def test_one_that_lives_is_not_buried(begin, grave, watch):
    """SUP-11, SUP-12, SUP-17: the look comes first."""
    child = begin(watch)
    grave, steps = grave

    assert bury(child, grave, before_closing=lambda: None) is None

    assert steps == ["look"]
    child.signal(signal.SIGKILL)
    wait_for(lambda: bury(child, grave, before_closing=lambda: None))


@WATCHES
def test_the_zombie_stays_until_it_is_reaped(begin, grave, watch):
    """SUP-11, SUP-12, SUP-17."""
    child = begin(watch)
    child.signal(signal.SIGKILL)
    wait_for(lambda: watch.exit_of(child.handle))

    assert watch.exit_of(child.handle) == Exit(signal=9)

    assert bury(child, grave[0], before_closing=lambda: None)


def test_orders_to_one_that_reads_nothing_never_block_and_are_bounded(begin, grave):
    """S-24, SUP-24."""
    child = begin(PidfdWatch())

    for _ in range(20_000):
        child.order(say.Pause())

    assert child.deaf
    assert len(child.unsent) == 256
    child.signal(signal.SIGKILL)
    wait_for(lambda: bury(child, grave[0], before_closing=lambda: None))


def test_strangers_who_were_there_before_are_not_debris(begin, grave):
    """SUP-64, SUP-14."""
    stranger = subprocess.Popen(LONG)
    child = begin(PidfdWatch())
    grave, _ = grave
    grave.debris.remember({child.pid})
    child.signal(signal.SIGKILL)

    wait_for(lambda: bury(child, grave, before_closing=lambda: None))

    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_the_death_is_readable_on_the_pidfd(begin, grave):
    """SUP-11."""
    child = begin(PidfdWatch())
    assert not select.select([child.handle.fd], [], [], 0)[0]

    child.signal(signal.SIGKILL)

    assert select.select([child.handle.fd], [], [], 5)[0]
    bury(child, grave[0], before_closing=lambda: None)


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_the_supervisor_stays_small_over_many_deaths(stage):
    """S-35 (short form), SUP-1, R34."""
    stage.start(consumers=4)

    def kill(first, last):
        for number in range(first, last):
            stage.job(f"job-{number}", ["story", f"s-{number}"], ["exit", 3])
        wait_for(lambda: len(stage.deaths()) == last, within_s=90)
        stage.up(last + 5)

    kill(0, 20)
    early = stage.resident_kib(), stage.descriptors()
    kill(20, 80)

    assert stage.resident_kib() < 20 * 1024
    assert stage.resident_kib() - early[0] < 512
    assert stage.descriptors() == early[1]
    assert {death["end"] for death in stage.deaths()} == {"crashed"}
    assert {death["story"] for death in stage.deaths()} == {f"s-{n}" for n in range(80)}
