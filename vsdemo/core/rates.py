"""How long work takes on this machine: seconds per item, measured each time it is done.

rates.json in VSDEMO_HOME has the items and seconds of each kind of work.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from pathlib import Path
from time import monotonic

from filelock import FileLock

from vsdemo.core import json_files
from vsdemo.core.paths import home, write_text

MIN_ITEMS = 4  # fewer say little about the others
RECENT = 500  # earlier measurements count as at most this many items
ITEMS, SECONDS = "items", "seconds"


class Stopwatch:
    """The seconds that work takes, without those in which it waits for other work."""

    def __init__(self) -> None:
        self._started = monotonic()

    @property
    def seconds(self) -> float:
        """The seconds so far."""
        return monotonic() - self._started

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the watch while the block runs."""
        started = monotonic()
        try:
            yield
        finally:
            self._started += monotonic() - started


def record(work: str, items: int, seconds: float) -> None:
    """Add a measurement; those of fewer than MIN_ITEMS items are ignored.

    Args:
        work: What was done, such as "features pocket whole cpu".
        items: How many items it was done for.
        seconds: How long that took.
    """
    if items < MIN_ITEMS:
        return
    home().mkdir(parents=True, exist_ok=True)
    with FileLock(home() / ".rates.lock"):
        rates = _read()
        earlier_items, earlier_seconds = rates.get(work, (0.0, 0.0))
        kept = min(1.0, RECENT / earlier_items) if earlier_items else 0.0
        rates[work] = (kept * earlier_items + items, kept * earlier_seconds + seconds)
        stored = {
            name: {ITEMS: round(count, 3), SECONDS: round(total, 6)}
            for name, (count, total) in sorted(rates.items())
        }
        write_text(_file(), json.dumps(stored, indent=1) + "\n")


def seconds_per_item(work: str) -> float | None:
    """Return the mean over recent work; None if it was never measured."""
    if work not in (rates := _read()):
        return None
    items, seconds = rates[work]
    return seconds / items


def _file() -> Path:
    return home() / "rates.json"


def _read() -> dict[str, tuple[float, float]]:
    """Return work -> (items, seconds); empty if the file is missing or damaged."""
    try:
        stored = json_files.load(_file())
        rates = {
            str(work): (float(values[ITEMS]), float(values[SECONDS]))
            for work, values in stored.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    return {
        work: (items, seconds)
        for work, (items, seconds) in rates.items()
        if 0 < items < inf and 0 <= seconds < inf
    }
