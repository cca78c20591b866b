"""An indexing run of the app: `python -m vsdemo index` as a separate process.

So it takes nothing from the threads that answer pages. It has a low priority, and it ends when the
app ends, however that happens: what is stored by then is kept.
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from pathlib import Path
from threading import Lock, Thread, Timer
from time import monotonic
from typing import Any

from vsdemo.core.language import translate
from vsdemo.search.indexing import FIRST_PART, READING, IndexSummary
from vsdemo.training.jobs.processes import environment

NICENESS = 10  # added to that of the app
GRACE = 60  # seconds that a run has to store what is done before it is killed
MIN_SECONDS = 3.0  # of reading before the remaining time is estimated
PREFIX = "vsdemo: "  # of the one sentence about an error
STARTING = "Starting"
NUMBERS = count(1)
log = logging.getLogger(__name__)


class IndexJob:
    """A run that brings an index up to date.

    Args:
        folder: The folder of photos.
        name: Name of the index.
        on_first: Called when the first photos can be searched.
        on_end: Called when the run has ended.

    Attributes:
        number: Distinguishes runs.
        folder: The folder of photos.
        name: Name of the index.
        stage: What it does.
        done: Photos that are done in this stage.
        total: All photos of this stage; 0 while that is unknown.
        is_stopping: Whether it was asked to stop.
        ended: Whether it has ended.
        summary: What it has done; None if it did not come to its end.
    """

    def __init__(
        self,
        folder: Path,
        name: str,
        *,
        on_first: Callable[[], None],
        on_end: Callable[[], None],
    ) -> None:
        self.number = next(NUMBERS)
        self.folder, self.name = folder, name
        self.stage, self.done, self.total = STARTING, 0, 0
        self.is_stopping = self.ended = False
        self.summary: IndexSummary | None = None
        self._printed = ""  # the sentence about an error
        self._code: int | None = None  # with which it ended without such a sentence
        self._on_first, self._on_end = on_first, on_end
        self._first: tuple[float, int] | None = None  # time and `done` of the first photo read
        self._closing = Lock()
        command = ["-m", "vsdemo", "index", str(folder), "--name", name, "--json-lines"]
        self._child = subprocess.Popen(
            [sys.executable, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in a terminal is for the app
            env=os.environ | environment(),
        )
        with suppress(OSError):
            own = os.getpriority(os.PRIO_PROCESS, 0)
            os.setpriority(os.PRIO_PROCESS, self._child.pid, own + NICENESS)
        Thread(target=self._follow, daemon=True).start()

    @property
    def problem(self) -> str:
        """Why it did not come to its end, in one sentence; empty if it was stopped."""
        if self._code is None:
            return self._printed
        if self._code >= 0:
            return translate(
                "Indexing ended unexpectedly (code {code}); index again, which continues from "
                "there.",
                code=self._code,
            )
        return translate(
            "Indexing ended unexpectedly (signal {signal}, perhaps for lack of memory); index "
            "again, which continues from there.",
            signal=-self._code,
        )

    @property
    def seconds_left(self) -> float | None:
        """The remaining seconds at the pace of reading so far; None while that is unknown."""
        if self._first is None:
            return None
        since, before = self._first
        seconds, done = monotonic() - since, self.done - before
        if seconds < MIN_SECONDS or not done:
            return None
        return (self.total - self.done) * seconds / done

    def stop(self) -> None:
        """Ask the run to store what is done and to end; it is killed if it does not."""
        with self._closing:
            if self.is_stopping or self.ended:
                return
            self.is_stopping = True
            assert self._child.stdin
            self._child.stdin.close()
        timer = Timer(GRACE, self._child.kill)
        timer.daemon = True
        timer.start()

    def _follow(self) -> None:
        """Read what the process prints until it has ended."""
        lines: deque[str] = deque(maxlen=20)  # that are not progress
        assert self._child.stdout
        try:
            with self._child.stdout as output:
                for raw in output:
                    line = raw.decode(errors="replace").strip()
                    if line and not self._take(line):
                        lines.append(line)
            code = self._child.wait()
            if self.summary is None and not self.is_stopping:
                self._printed = _printed_problem(lines)
                if not self._printed:
                    log.warning("indexing ended with %d:\n%s", code, "\n".join(lines))
                    self._code = code
            self._on_end()
        except Exception:
            log.exception("indexing %s failed", self.name)
        finally:
            with self._closing:
                self.ended = True
            if self._child.stdin:
                self._child.stdin.close()

    def _take(self, line: str) -> bool:
        """Take a line of JSON; return whether it is one."""
        try:
            values: dict[str, Any] = json.loads(line)
            if "summary" in values:
                self.summary = IndexSummary(**values["summary"])
            else:
                self._report(values["stage"], values["done"], values["total"])
        except (ValueError, KeyError, TypeError):
            return False
        return True

    def _report(self, stage: str, done: int, total: int) -> None:
        is_later = stage == READING and self.done <= FIRST_PART < done
        self.stage, self.done, self.total = stage, done, total
        if stage == READING and done and self._first is None:
            self._first = monotonic(), done
        if is_later:
            self._on_first()


def _printed_problem(lines: deque[str]) -> str:
    """Return why a run ended before its end, as it has printed it; empty if it has not."""
    printed = (line for line in reversed(lines) if line.startswith(PREFIX))
    return next(printed, "").removeprefix(PREFIX)
