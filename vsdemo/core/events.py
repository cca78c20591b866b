"""The events of a run, written as JSON lines by the trainer and read by everything else."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from os import SEEK_END
from pathlib import Path
from typing import Any, Protocol

from vsdemo.core.paths import write_text

Event = dict[str, Any]  # {"kind": str, "step": int, "time": float, ...}
KINDS = ("start", "step", "eval", "checkpoint", "done", "stopped", "error")


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
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue
