"""Each test begins and ends with nothing of ours alive, no zombie, no descriptor more."""

import os
import signal
from contextlib import suppress

import pytest

from capture_consumer.ipc.identity import processes, take_in_orphans
from tests.processes.stage import Stage, descriptors_of


def ours():
    """Return all processes below this one: orphans come to it, too."""
    snapshot = list(processes())
    found, parents = [], {os.getpid()}
    while parents:
        more = [stat for stat in snapshot if stat.parent in parents]
        found += more
        parents = {stat.pid for stat in more}
    return {(stat.pid, stat.start) for stat in found}


def bury_the_dead():
    """Reap what a killed supervisor left us, as init would; what lives is not touched."""
    us = os.getpid()
    for stat in processes():
        if stat.parent == us and stat.state == "Z":
            with suppress(ChildProcessError):
                os.waitpid(stat.pid, 0)


@pytest.fixture
def stage(tmp_path):
    """Return an empty stage; whatever is left on it afterwards is a failure, and is killed."""
    take_in_orphans()
    before, descriptors = ours(), len(descriptors_of("self"))
    stage = Stage(tmp_path)
    yield stage
    for process in stage.started:
        if process.poll() is None:
            process.terminate()
            process.wait(15)
    bury_the_dead()
    left = ours() - before
    for pid, _ in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, f"left over: {left}; {stage.log.read_text()[-2000:]}"
    assert len(descriptors_of("self")) == descriptors
    assert not stage.events("supervisor_fault"), stage.events("supervisor_fault")
