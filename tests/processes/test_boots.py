"""A child that waits for its database still does as it is told."""

import json
import os
import select
import subprocess
import sys

import pytest

from capture_consumer.ipc import messages
from capture_consumer.ipc.wire import pack
from tests.processes.stage import wait_for

pytestmark = [pytest.mark.processes, pytest.mark.timeout(60)]

NOBODY = "postgresql://nobody@127.0.0.1:1/none"


@pytest.fixture
def pipes():
    """Return a report pipe and a control pipe, both closed in the end."""
    made = [*os.pipe(), *os.pipe()]
    yield made
    for fd in made:
        os.close(fd)


@pytest.mark.parametrize(
    ("role", "order"),
    [
        ("consumer", messages.Drain()),
        ("consumer", messages.Hurry()),
        ("clerk", messages.Hurry()),
    ],
)
def test_a_boot_without_a_database_ends_when_it_is_told_to(tmp_path, pipes, role, order):
    """SUP-57, SUP-58, S-15."""
    reported, report, control, told = pipes
    (tmp_path / "slots").mkdir()
    channel = {
        "report_fd": report,
        "control_fd": control,
        "slot": 0 if role == "consumer" else -1,
        "role": role,
        "incarnation": "test",
        "state_dir": str(tmp_path),
    }
    child = subprocess.Popen(
        [sys.executable, "-m", "capture_consumer", "child", role],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "CAPTURE_CHANNEL": json.dumps(channel | {"parent": os.getpid()}),
            "CAPTURE_DATABASE_URL": NOBODY,
            "CAPTURE_STORE": str(tmp_path / "store"),
        },
        pass_fds=(report, control),
        start_new_session=True,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path,
    )

    wait_for(lambda: select.select([reported], [], [], 0)[0], within_s=30)
    os.write(told, pack(order))

    assert child.wait(20) == 0
