"""A child that has said good-bye leaves by itself, whatever comes meanwhile."""

import json
import os
import subprocess
import sys

import pytest

from capture_consumer.ipc.channel import CHANNEL

pytestmark = pytest.mark.processes

LEAVES = """
import os, signal, sys
from capture_consumer.ipc.channel import Channel

channel = Channel.from_environment(os.environ)
channel.hello("me")
channel.listen(lambda order: None)
channel.ready()
heeds = signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, signal.SIG_IGN)
channel.bye("told to")
# What is ignored stays so to the end; any other handler is taken down before the modules are.
sys.exit(0 if heeds and signal.getsignal(signal.SIGTERM) == signal.SIG_IGN else 3)
"""


def test_a_term_that_comes_after_the_bye_does_not_make_a_death_of_it(tmp_path):
    """SUP-57, SUP-60: hurrying one that leaves is no kill."""
    (tmp_path / "slots").mkdir()
    report, its_report = os.pipe()
    its_control, control = os.pipe()
    told: dict[str, object] = {"report_fd": its_report, "control_fd": its_control, "slot": 0}
    told |= {"role": "consumer", "incarnation": "me", "state_dir": str(tmp_path)}
    told |= {"parent": os.getpid()}

    child = subprocess.run(
        [sys.executable, "-c", LEAVES],
        env={**os.environ, CHANNEL: json.dumps(told)},
        pass_fds=(its_report, its_control),
        timeout=30,
        check=False,
    )

    assert child.returncode == 0
    for fd in (report, its_report, its_control, control):
        os.close(fd)
