"""Processes that draw pictures, so that all cores draw.

A process reads numbers of pictures from its standard input and answers each with a line: empty
once the picture is drawn, otherwise the reason why it cannot be. An empty line ends it. Unlike
workers of `multiprocessing` it neither imports the main program again nor inherits its threads.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import islice
from queue import SimpleQueue
from types import TracebackType
from typing import Self

from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT

MODULE = "vsdemo.data.storybook"  # its __main__.py is the process
CHUNK = 4  # pictures that a process draws at a time


class _Painter:
    """A process that draws pictures; it ends with this program, even if that is killed."""

    def __init__(self) -> None:
        paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._process = subprocess.Popen(
            [sys.executable, "-m", MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONSAFEPATH": "1"},
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._orders, self._answers = self._process.stdin, self._process.stdout

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Closing its input might not end it: a copy of this process may hold it open.
        with suppress(OSError):
            self._orders.write("\n")
        self._process.communicate()

    def draw(self, numbers: Sequence[int]) -> None:
        """Draw pictures. Raises UserError if it cannot."""
        try:
            self._orders.write("".join(f"{number}\n" for number in numbers))
            self._orders.flush()
            answers = [self._answers.readline() for _ in numbers]
        except OSError:
            answers = [""]
        for answer in answers:
            if answer != "\n":
                reason = answer.strip() or "the process that draws them has ended"
                raise UserError(f"The pictures of Storybook cannot be drawn ({reason}).")


def draw(numbers: Sequence[int], processes: int) -> Generator[int, None, None]:
    """Draw pictures in their order, and yield the number of each that is drawn.

    At most `processes + 1` chunks are drawn ahead of the caller.

    Raises:
        UserError: A picture cannot be drawn, for instance because the disk is full.
    """
    painters: SimpleQueue[_Painter] = SimpleQueue()  # those that are free

    def draw_chunk(chunk: Sequence[int]) -> Sequence[int]:
        painter = painters.get()
        try:
            painter.draw(chunk)
        finally:
            painters.put(painter)
        return chunk

    chunks = iter([numbers[start : start + CHUNK] for start in range(0, len(numbers), CHUNK)])
    with ExitStack() as stack:
        for _ in range(processes):
            painters.put(stack.enter_context(_Painter()))
        pool = ThreadPoolExecutor(processes, "drawing")
        stack.callback(pool.shutdown, cancel_futures=True)
        ahead = deque(pool.submit(draw_chunk, chunk) for chunk in islice(chunks, processes + 1))
        while ahead:
            drawn = ahead.popleft().result()
            ahead.extend(pool.submit(draw_chunk, chunk) for chunk in islice(chunks, 1))
            yield from drawn
