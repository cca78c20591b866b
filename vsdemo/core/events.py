"""The events of a run, written as JSON lines by the trainer and read by everything else."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from os import SEEK_END
from pathlib import Path
from typing import Any, Protocol

from vsdemo.core import json_files
from vsdemo.core.nested import is_finite
from vsdemo.core.paths import write_text

Event = dict[str, Any]  # {"kind": str, "step": int, "time": float, ...}
KINDS = ("start", "step", "eval", "checkpoint", "done", "stopped", "error")
MAX_DEPTH = 20  # of lists and dicts in an event
MAX_COUNT = 2**53  # a float holds every whole number below it
MAX_MESSAGE = 10_000  # characters


class Listener(Protocol):
    """Receives every event that an `EventLog` writes."""

    def write(self, event: Event) -> None:
        """Receive an event."""

    def rewind(self, step: int) -> None:
        """Drop the events after a step."""


class EventLog:
    """Appends events to a file, one line each, and passes them to its listeners."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.listeners: list[Listener] = []
        self._created = False
        path.parent.mkdir(parents=True, exist_ok=True)

    def write(self, kind: str, step: int, **values: Any) -> None:
        """Append an event.

        Args:
            kind: One of `KINDS`.
            step: Optimizer steps so far.
            **values: The event's other keys. `time` (seconds since 1970) is added.

        Raises:
            FileNotFoundError: The file has been deleted since the last event.
        """
        if kind not in KINDS:
            raise ValueError(f"unknown event kind {kind!r}; one of {', '.join(KINDS)}")
        event = {"kind": kind, "step": step, "time": round(time.time(), 3), **values}
        # "r+" fails once the folder is deleted; there is no run left to continue.
        with self.path.open("r+" if self._created else "a", encoding="utf-8") as file:
            file.seek(0, SEEK_END)
            file.write(json.dumps(event) + "\n")
        self._created = True
        for listener in self.listeners:
            listener.write(event)

    def clear(self) -> None:
        """Delete the file, for a training that starts from scratch."""
        self.path.unlink(missing_ok=True)

    def rewind(self, step: int) -> None:
        """Drop the events after `step`, because a resumed run repeats those steps."""
        kept = [event for event in read(self.path) if event["step"] <= step]
        write_text(self.path, "".join(json.dumps(event) + "\n" for event in kept))
        for listener in self.listeners:
            listener.rewind(step)


def read(path: Path) -> Iterator[Event]:
    """Yield the events of a file, without a last line that is still being written."""
    if not path.exists():
        return
    for line in path.read_bytes().splitlines():
        if event := parse(line):
            yield event


def parse(line: bytes) -> Event | None:
    """Return the event of a line; None if it is malformed.

    The keys of `CHECKS` are left out if they have another type than the trainer writes.
    """
    try:
        event = json_files.parse(line)
        if b"\\u" in line:
            json.dumps(event, ensure_ascii=False).encode()  # fails for half a character
    except ValueError:
        return None
    if not isinstance(event, dict) or not isinstance(event.get("kind"), str):
        return None
    if not is_finite(event.get("step")) or not is_finite(event.get("time", 0)):
        return None
    if not _is_shallow(event, MAX_DEPTH):
        return None
    for key, is_valid in CHECKS.items():
        if key in event and not is_valid(event[key]):
            del event[key]
    return event


def _is_shallow(value: Any, depth: int) -> bool:
    """Whether a value has at most `depth` levels of lists and dicts."""
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return depth > 0 and all(_is_shallow(item, depth - 1) for item in inner)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_COUNT


def _is_duration(value: Any) -> bool:
    return is_finite(value) and 0 <= value < MAX_COUNT


def _is_message(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAX_MESSAGE


def _are_searches(value: Any) -> bool:
    """Whether this is what `vsdemo.training.probe` records: the photos of watched sentences."""
    return isinstance(value, list) and all(map(_is_search, value))


def _is_search(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("sentence"), str):
        return False
    photos, own = value.get("photos"), value.get("own")
    if not isinstance(photos, list) or not all(map(_is_count, photos)):
        return False
    if own is None:
        return True
    return (
        isinstance(own, dict)
        and _is_count(own.get("photo"))
        and (own.get("rank") is None or _is_count(own["rank"]))
    )


CHECKS: dict[str, Callable[[Any], bool]] = {  # key of an event -> whether a value is valid
    "steps": _is_count,
    "epoch": _is_count,
    "seconds": _is_duration,
    "message": _is_message,
    "watched": _are_searches,
}
