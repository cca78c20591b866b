"""Ctrl-C ends a program quietly, even during its imports."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130  # exit code after Ctrl-C


@contextmanager
def ending_quietly() -> Iterator[None]:
    """End the program at once if the user presses Ctrl-C within the block.

    It is for imports: a KeyboardInterrupt within them prints a traceback, and some libraries turn
    it into an error of their own.
    """
    previous = signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)
