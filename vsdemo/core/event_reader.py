"""Follow the events and the log of a run while it writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from vsdemo.core import json_files
from vsdemo.core.events import Event, parse
from vsdemo.core.nested import is_finite

MIN_SECONDS = 2  # of training before the remaining time is estimated
CHECKED_BYTES = 200  # before the read position, compared to notice a replaced file
MAX_BYTES = 64_000_000  # of an event file that are read
LOG_END = 20_000  # bytes at the end of a log that are read
TQDM_LINE = re.compile(r"^(?P<label>.*?):\s+\d+%\|.*?\|\s*(?P<done>\d+)/(?P<total>\d+)\s")


class EventReader:
    """Reads the events of a growing file, each line once.

    A resumed run replaces the file, because it repeats the steps after its last checkpoint. If the
    bytes before the read position have changed, the file is therefore read from the beginning.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._reset()

    def _reset(self) -> None:
        self._events: list[Event] = []
        self._position = 0
        self._before = b""  # the last bytes before _position

    def read(self) -> Sequence[Event]:
        """Return all complete events so far; none if the file does not exist."""
        with self._lock:
            start = self._position - len(self._before)
            content = json_files.read_bytes(self.path, MAX_BYTES - start, start)
            if content is not None and not content.startswith(self._before):
                self._reset()
                content = json_files.read_bytes(self.path, MAX_BYTES)
            if content is None:
                self._reset()
                return []
            new = content[len(self._before) :]
            lines = new[: new.rfind(b"\n") + 1]
            self._position += len(lines)
            self._before = (self._before + lines)[-CHECKED_BYTES:]
            events = (parse(line) for line in lines.splitlines())
            self._events += [event for event in events if event and "time" in event]
            return list(self._events)


@lru_cache(maxsize=64)
def reader_for(path: Path) -> EventReader:
    """Return the reader of a file that all callers share."""
    return EventReader(path)


def last_lines(path: Path, count: int) -> list[str]:
    """Return the last non-empty lines of a log; for a progress bar, only its last state."""
    try:
        size = path.stat().st_size
    except OSError:
        return []
    content = json_files.read_bytes(path, LOG_END, max(0, size - LOG_END)) or b""
    text = content.decode("utf-8", "replace")
    lines = (line.rstrip("\r").rpartition("\r")[2].rstrip() for line in text.split("\n"))
    return [line for line in lines if line][-count:]


class ProgressBar(NamedTuple):
    """The state of a tqdm progress bar."""

    label: str
    done: int
    total: int


def parse_progress_bar(line: str) -> ProgressBar | None:
    """Return the state of the progress bar that tqdm has printed; None for any other line."""
    match = TQDM_LINE.match(line)
    return ProgressBar(match["label"], int(match["done"]), int(match["total"])) if match else None


def best_metric(events: Sequence[Event]) -> tuple[str, float] | None:
    """Return (name, value) of the dev metric that the last checkpoint was chosen by, if any."""
    for event in reversed(events):
        if event["kind"] == "checkpoint":
            for key, value in event.items():
                if key not in ("kind", "step", "time") and is_finite(value):
                    return key, value
            return None
    return None


def seconds_left(events: Sequence[Event], now: float) -> float | None:
    """Estimate the remaining seconds of a run from its pace since it was started or resumed.

    The run may stop earlier, so this is an upper bound.

    Args:
        events: The run's events so far.
        now: Seconds since 1970.

    Returns:
        None while the pace is unknown.
    """
    start = next((event for event in reversed(events) if event["kind"] == "start"), None)
    if start is None or not isinstance(start.get("steps"), int):
        return None
    last = events[-1]
    steps = last["step"] - start["step"]
    seconds = last["time"] - start["time"]
    if steps <= 0 or seconds < MIN_SECONDS:
        return None
    left = (start["steps"] - last["step"]) * seconds / steps
    return float(max(0.0, left - max(0.0, now - last["time"])))
