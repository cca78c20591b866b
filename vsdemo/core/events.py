"""Events of a run as JSON lines: what the trainer writes and everybody else reads."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from os import SEEK_END
from pathlib import Path
from typing import Any

from vsdemo.core.paths import write_text

KINDS = ("start", "step", "eval", "checkpoint", "done", "stopped", "error")


class EventLog:
    """Appends {kind, step, time, ...} to a file, a whole line at a time."""

    def __init__(self, path: Path) -> None:
        self.path, self._begun = path, False
        self.also: list[Any] = []  # what takes events too, with `write` and `rewind`
        path.parent.mkdir(parents=True, exist_ok=True)

    def write(self, kind: str, step: int, **values: Any) -> None:
        """kind: one of KINDS; step: optimiser steps so far; time is seconds since 1970.

        Raises FileNotFoundError when the file has been removed since the last event.
        """
        if kind not in KINDS:
            raise ValueError(f"unknown event kind {kind!r}; one of {', '.join(KINDS)}")
        event = {"kind": kind, "step": step, "time": round(time.time(), 3), **values}
        # A folder that somebody removed is not made again: there is nothing to go on with.
        with self.path.open("r+" if self._begun else "a", encoding="utf-8") as file:
            file.seek(0, SEEK_END)
            file.write(json.dumps(event) + "\n")
        self._begun = True
        for other in self.also:
            other.write(event)

    def rewind(self, step: int) -> None:
        """Drops what lies after `step`: a killed run repeats those steps when it resumes."""
        kept = [e for e in read(self.path) if e["step"] <= step]
        write_text(self.path, "".join(json.dumps(e) + "\n" for e in kept))
        for other in self.also:
            other.rewind(step)


def read(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a file; a last line still being written is left out."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue
