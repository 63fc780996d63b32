"""What the machine allows: cgroup limits before the host's figures."""

import os
import subprocess
import sys

import pytest

from capture_consumer.machine import Machine, consumers_fit, look, memory_of, tree

GIB = 2**30


@pytest.mark.parametrize(
    ("cpus", "gib", "count"),
    [(2, 2, 2), (2, 24, 3), (0.5, 24, 1), (64, 512, 8), (4, 0.5, 1), (1, 64, 2)],
)
def test_consumers_follow_from_cpus_and_memory(cpus, gib, count):
    """SUP-73."""
    machine = Machine(float(cpus), int(gib * GIB), GIB, None)

    assert consumers_fit(machine)[0] == count


def test_the_reason_names_what_decided():
    """SUP-73."""
    assert "memory" in consumers_fit(Machine(64.0, 2 * GIB, GIB, None))[1]
    assert "CPUs decide" in consumers_fit(Machine(2.0, 64 * GIB, GIB, None))[1]


def test_a_container_s_limits_count_before_the_host_s(tmp_path):
    """SUP-73."""
    (tmp_path / "memory.max").write_text("1073741824\n")
    (tmp_path / "memory.current").write_text("73741824\n")
    (tmp_path / "cpu.max").write_text("50000 100000\n")

    machine = look(tmp_path)

    assert machine.memory_bytes == GIB
    assert machine.free_bytes <= 1_000_000_000
    assert machine.cpus == 0.5


def test_limits_of_the_older_kind_count_too(tmp_path):
    """SUP-73."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "memory.limit_in_bytes").write_text("536870912\n")
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")

    machine = look(tmp_path)

    assert machine.memory_bytes == GIB // 2
    assert machine.cpus >= 1


def test_no_limit_means_the_host_s(tmp_path):
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "cpu.max").write_text("max 100000\n")

    machine = look(tmp_path)

    assert machine.memory_bytes > GIB // 4
    assert machine.cpus == len(os.sched_getaffinity(0))


@pytest.mark.processes
def test_a_tree_is_a_process_and_what_it_started():
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    try:
        found = tree(os.getpid())

        assert found[0].pid == os.getpid()
        assert child.pid in {process.pid for process in found}
        assert memory_of(child.pid) > 0
    finally:
        child.communicate(b"\n", timeout=10)

    assert tree(child.pid) == ()
