"""The number of cores that this process may use, which a container can limit."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path, PurePosixPath

CPU_CORES = "CPU_CORES"  # set by Hugging Face Spaces
# Read by OpenMP, MKL, OpenBLAS and numba when they are loaded.
VARIABLES = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
SPINS, MAX_SPINS = "GOMP_SPINCOUNT", 3000  # of GNU's OpenMP, about 10 microseconds
WAITING = 4  # extra threads beyond the cores, for work that also waits for the disk


def available(root: Path = Path("/")) -> int:
    """Return how many cores this process may use: at least 1.

    It is the minimum of CPU_CORES, the quota of the control groups (versions 1 and 2), rounded up,
    and the cores that the scheduler lets it run on.

    Args:
        root: Folder with `proc/` and `sys/`.
    """
    limits = [float(_scheduled()), *_quotas(root)]
    with suppress(KeyError, ValueError):
        limits.append(float(os.environ[CPU_CORES]))
    return max(1, math.ceil(min(limit for limit in limits if limit > 0)))


def limit_threads() -> None:
    """Limit numeric libraries to one thread per available core, and let waiting threads sleep soon.

    Call this before they are imported, as they read these variables then; processes started later
    inherit them. If all cores are available, no number is set: torch then does not count
    hyper-threads. A thread that waits for others without sleeping takes a core from other work,
    such as decoding photos; on a busy machine, a sentence then takes at least four times as long.
    """
    os.environ.setdefault(SPINS, str(MAX_SPINS))
    count = available()
    if count < (os.cpu_count() or 1):
        for variable in VARIABLES:
            os.environ.setdefault(variable, str(count))


def thread_pool() -> ThreadPoolExecutor:
    """Return a pool for reading and decoding files."""
    return ThreadPoolExecutor(available() + WAITING)


def _scheduled() -> int:
    """Return how many cores the scheduler lets this process run on."""
    if hasattr(os, "sched_getaffinity"):  # on Linux
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _quotas(root: Path) -> Iterator[float]:
    """Yield the quotas, in cores, of this process's control groups and those around them."""
    try:
        groups = (root / "proc/self/cgroup").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return
    mounted = root / "sys/fs/cgroup"
    for group in groups:
        _, _, rest = group.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "cpu" not in controllers.split(","):
            continue
        # A container may see its own group at the top, whatever its path is outside of it.
        for parent in [PurePosixPath(path), *PurePosixPath(path).parents]:
            inside = str(parent).strip("/")
            if not controllers:
                yield from _quota(mounted / inside / "cpu.max")
            else:
                folder = mounted / controllers / inside
                yield from _quota(folder / "cpu.cfs_quota_us", folder / "cpu.cfs_period_us")


def _quota(*files: Path) -> Iterator[float]:
    """Yield the quota that files state as two numbers of microseconds; nothing if unlimited."""
    with suppress(OSError, ValueError, ZeroDivisionError):
        quota, period = " ".join(file.read_text(encoding="ascii") for file in files).split()
        cores = int(quota) / int(period)
        if cores > 0:
            yield cores
