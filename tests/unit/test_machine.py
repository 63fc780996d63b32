"""What the machine has free, and the processes below one."""

import os
import subprocess
import sys

import psutil
import pytest

from capture_consumer.machine import look, tree


def test_what_is_free_is_told_in_bytes(tmp_path):
    seen = look(tmp_path)

    assert 0 < seen.free_bytes <= psutil.virtual_memory().total
    assert seen.shm_bytes == psutil.disk_usage(str(tmp_path)).total


def test_a_machine_without_shared_memory_says_none(tmp_path):
    """C-23."""
    assert look(tmp_path / "none").shm_bytes is None


@pytest.mark.processes
def test_a_tree_is_a_process_and_what_it_started():
    """SUP-8."""
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    try:
        found = tree(os.getpid())

        assert found[0].pid == os.getpid()
        assert child.pid in {process.pid for process in found}
    finally:
        child.communicate(b"\n", timeout=10)

    assert tree(child.pid) == ()
