"""The memory that processes use."""

from __future__ import annotations

from contextlib import suppress

import psutil


def resident(pid: int | None = None) -> int | None:
    """Return the bytes of memory that a process uses, this one by default; None if it has ended."""
    with suppress(psutil.Error):
        return int(psutil.Process(pid).memory_info().rss)
    return None


def memory_of_family(pid: int) -> int:
    """Return the memory of a process and those that it started, without files mapped into it.

    In bytes; 0 if it has ended. Only Linux knows which memory is that of files.
    """
    total = 0
    with suppress(psutil.Error):
        first = psutil.Process(pid)
        for process in (first, *first.children(recursive=True)):
            with suppress(psutil.Error):
                info = process.memory_info()
                total += info.rss - getattr(info, "shared", 0)
    return total
