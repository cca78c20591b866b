"""How a program imports its modules."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from vsdemo.core import interrupts


@contextmanager
def importing() -> Iterator[None]:
    """Import modules within the block; Ctrl-C then ends the program quietly.

    Imports create objects and release hardly any, so garbage collection, which would look through
    all of them again and again, waits; that saves a fifth of the time. Afterwards it leaves them
    out, which keeps it short.
    """
    gc.disable()
    try:
        with interrupts.ending_quietly():
            yield
    finally:
        gc.freeze()
        gc.enable()
