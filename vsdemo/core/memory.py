"""The memory that processes use."""

from __future__ import annotations

from contextlib import suppress

import psutil


def resident(pid: int | None = None) -> int | None:
    """Return the bytes of memory that a process uses, this one by default; None if it has ended."""
    with suppress(psutil.Error):
        return int(psutil.Process(pid).memory_info().rss)
    return None
