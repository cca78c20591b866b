import os
import subprocess
import sys

import pytest

from vsdemo.core import cores


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A machine with 64 cores; returns a function that writes its files."""
    monkeypatch.delenv("CPU_CORES", raising=False)
    monkeypatch.setattr(cores, "_scheduled", lambda: 64)

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path

    return write


def test_all_cores_without_a_limit(machine):
    assert cores.available(machine()) == 64


@pytest.mark.parametrize(
    ("quota", "count"),
    [("200000 100000\n", 2), ("150000 100000\n", 2), ("10000 100000\n", 1), ("max 100000\n", 64)],
)
def test_the_quota_of_control_groups(machine, quota, count):
    root = machine(**{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": quota})
    assert cores.available(root) == count


def test_the_quota_of_a_group_around_that_of_the_process(machine):
    root = machine(
        **{
            "proc/self/cgroup": "0::/pod/app\n",
            "sys/fs/cgroup/pod/app/cpu.max": "max 100000\n",
            "sys/fs/cgroup/pod/cpu.max": "300000 100000\n",
        }
    )
    assert cores.available(root) == 3


@pytest.mark.parametrize("folder", ["", "docker/1234/"])
def test_the_quota_of_control_groups_version_1(machine, folder):
    root = machine(
        **{
            "proc/self/cgroup": "4:memory:/docker/1234\n3:cpu,cpuacct:/docker/1234\n0::/\n",
            f"sys/fs/cgroup/cpu,cpuacct/{folder}cpu.cfs_quota_us": "400000\n",
            f"sys/fs/cgroup/cpu,cpuacct/{folder}cpu.cfs_period_us": "100000\n",
        }
    )
    assert cores.available(root) == 4


def test_no_quota_in_version_1(machine):
    root = machine(
        **{
            "proc/self/cgroup": "3:cpu:/\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        }
    )
    assert cores.available(root) == 64


@pytest.mark.parametrize(("variable", "count"), [("2", 2), ("7.5", 8), ("", 64), ("many", 64)])
def test_the_variable_of_a_space(machine, monkeypatch, variable, count):
    monkeypatch.setenv("CPU_CORES", variable)
    assert cores.available(machine()) == count


def test_the_smallest_limit_counts(machine, monkeypatch):
    monkeypatch.setenv("CPU_CORES", "8")
    quota = {"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "200000 100000\n"}
    assert cores.available(machine(**quota)) == 2


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="no affinity on this system")
def test_cores_that_the_scheduler_gives(monkeypatch, tmp_path):
    monkeypatch.delenv("CPU_CORES", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3})
    assert cores.available(tmp_path) == 1


def test_an_owners_number_of_threads_stays(monkeypatch):
    monkeypatch.setattr(cores, "available", lambda: 2)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.setenv("NUMBA_NUM_THREADS", "")
    monkeypatch.delenv("NUMBA_NUM_THREADS")
    monkeypatch.setenv("GOMP_SPINCOUNT", "7")
    cores.limit_threads()
    assert (os.environ["OMP_NUM_THREADS"], os.environ["NUMBA_NUM_THREADS"]) == ("5", "2")
    assert os.environ["GOMP_SPINCOUNT"] == "7"


def test_torch_starts_as_many_threads():
    code = """
from vsdemo.core import cores
cores.limit_threads()
import torch
print(torch.get_num_threads(), cores.thread_pool()._max_workers)
"""
    env = {k: v for k, v in os.environ.items() if k not in cores.VARIABLES} | {"CPU_CORES": "1"}
    printed = subprocess.check_output([sys.executable, "-c", code], env=env, text=True)
    assert printed.split() == ["1", "5"]
