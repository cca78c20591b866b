"""The events of a run as they come: a file that grows is read once, not anew with each look."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

Event = dict[str, Any]
SOON = 2  # seconds after which a pace can be told
LAST = 200  # bytes of what was read that are looked for again
LOG_END = 20_000  # bytes of a log that are looked at
BAR = re.compile(r"^(?P<what>.*?):\s+\d+%\|.*?\|\s*(?P<done>\d+)/(?P<of>\d+)\s")  # tqdm's


class Tail:
    """The events of one file. A trainer that goes on replaces it (what a killed run did after it
    saved last is done again), so a file that does not hold what was read last, where it was read,
    is read from its beginning."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._begin()
        self._lock = Lock()

    def _begin(self) -> None:
        self._events: list[Event] = []
        self._at, self._last = 0, b""  # _last: what stands before _at

    def read(self) -> Sequence[Event]:
        """All events so far; none where there is no file. A line still being written waits."""
        with self._lock:
            try:
                with self.path.open("rb") as file:
                    file.seek(self._at - len(self._last))
                    if file.read(len(self._last)) != self._last:
                        self._begin()
                        file.seek(0)
                    new = file.read()
            except OSError:
                self._begin()
                return []
            whole = new[: new.rfind(b"\n") + 1]
            self._at += len(whole)
            self._last = (self._last + whole)[-LAST:]
            self._events += [e for line in whole.splitlines() if (e := _event(line))]
            return list(self._events)


@lru_cache(maxsize=64)
def tail(path: Path) -> Tail:
    """The one reader of a file, whoever looks."""
    return Tail(path)


def _event(line: bytes) -> Event | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    known = isinstance(found, dict) and isinstance(found.get("kind"), str)
    numbers = known and all(isinstance(found.get(k), int | float) for k in ("step", "time"))
    return found if numbers else None


def log_lines(path: Path, count: int) -> list[str]:
    """The last lines of a log; of a progress bar, which writes over itself, what it said last."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - LOG_END))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return []
    lines = (line.rstrip("\r").rpartition("\r")[2].rstrip() for line in text.split("\n"))
    return [line for line in lines if line][-count:]


def bar(line: str) -> tuple[str, int, int] | None:
    """(what, done, of) of a line of tqdm."""
    found = BAR.match(line)
    return (found["what"], int(found["done"]), int(found["of"])) if found else None


def best(events: Sequence[Event]) -> tuple[str, float] | None:
    """What the checkpoint was chosen by and how good it is on dev; None before there is one."""
    kept = next((e for e in reversed(events) if e["kind"] == "checkpoint"), {})
    told = ((k, v) for k, v in kept.items() if k not in ("kind", "step", "time"))
    return next(((k, v) for k, v in told if isinstance(v, int | float)), None)


def seconds_left(events: Sequence[Event], now: float) -> float | None:
    """How long the rest of a run takes at most, at its pace since it began or went on; None before
    anything can be told. now: seconds since 1970."""
    begun = next((e for e in reversed(events) if e["kind"] == "start"), None)
    if begun is None or not isinstance(begun.get("steps"), int):
        return None
    last = events[-1]
    steps, seconds = last["step"] - begun["step"], last["time"] - begun["time"]
    if steps <= 0 or seconds < SOON:
        return None
    left = (begun["steps"] - last["step"]) * seconds / steps
    return max(0.0, left - max(0.0, now - last["time"]))
