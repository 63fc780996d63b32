"""How many consumers a control group allows."""

import pytest

from capture_consumer.supervisor import memory
from capture_consumer.supervisor.memory import Groups, allowance

MIB = 1024 * 1024

V2 = "30 20 0:25 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
V1 = (
    "31 20 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
    "32 20 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
)


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Return a function that lays out a machine of 64 processors and 256 GiB."""
    monkeypatch.setattr(memory, "affinity", lambda: set(range(64)))

    def lay(mounts, groups, files):
        told = {
            "proc/meminfo": f"MemTotal: {256 * 1024 * 1024} kB\n",
            "proc/self/mountinfo": mounts,
            "proc/self/cgroup": groups,
            **files,
        }
        for name, text in told.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return lay


def test_a_big_host_with_a_small_quota_runs_few(machine):
    """SUP-73: quota 2 and 2 GiB give 2."""
    root = machine(
        V2,
        "0::/pod\n",
        {
            "sys/fs/cgroup/pod/cpu.max": "200000 100000\n",
            "sys/fs/cgroup/pod/memory.max": f"{2048 * MIB}\n",
        },
    )

    found = allowance(root)

    assert found.consumers == 2
    assert found.reasons == "2 CPUs, 2.0 GiB"


def test_the_narrowest_of_all_ancestors_counts(machine):
    """SUP-73."""
    root = machine(
        V2,
        "0::/pod/box\n",
        {
            "sys/fs/cgroup/pod/box/cpu.max": "max 100000\n",
            "sys/fs/cgroup/pod/box/memory.max": "max\n",
            "sys/fs/cgroup/pod/cpu.max": "150000 100000\n",
            "sys/fs/cgroup/pod/memory.max": f"{8192 * MIB}\n",
        },
    )

    assert allowance(root).consumers == 2
    assert allowance(root).cpus == 1.5


def test_the_first_version_of_groups_counts_too(machine):
    """SUP-73."""
    root = machine(
        V1,
        "2:cpu,cpuacct:/x\n1:memory:/x\n",
        {
            "sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "300000\n",
            "sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000\n",
            "sys/fs/cgroup/memory/x/memory.limit_in_bytes": f"{1100 * MIB}\n",
            "sys/fs/cgroup/memory/x/memory.oom_control": "under_oom 0\noom_kill 3\n",
        },
    )

    assert (allowance(root).consumers, allowance(root).cpus) == (1, 3.0)
    assert Groups(root).kills() == 3


def test_a_container_that_sees_only_its_own_group_finds_it(machine):
    """SUP-73: the mount's root is the group, its path is the host's."""
    root = machine(
        V2.replace(" / ", " /kubepods/pod7 ", 1),
        "0::/kubepods/pod7\n",
        {
            "sys/fs/cgroup/cpu.max": "400000 100000\n",
            "sys/fs/cgroup/memory.max": f"{3000 * MIB}\n",
            "sys/fs/cgroup/memory.events": "oom 2\noom_kill 1\n",
        },
    )

    assert allowance(root).consumers == 3
    assert Groups(root).kills() == 1


def test_without_limits_there_are_never_more_than_eight(machine):
    """SUP-73."""
    assert allowance(machine(V2, "0::/\n", {})).consumers == 8


def test_where_nothing_is_known_there_is_one_at_least(tmp_path, monkeypatch):
    """SUP-73."""
    monkeypatch.setattr(memory, "affinity", lambda: {0})

    assert allowance(tmp_path).consumers >= 1
    assert Groups(tmp_path).kills() is None
