"""Reads photos in worker processes, so that decoding and the network run side by side.

A worker is a new process (`spawn`), as it must not inherit the threads of torch. A file that makes
a decoder crash ends its worker, not the run. A worker ends when the run is killed.
"""

from __future__ import annotations

import multiprocessing
import os
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from threading import Thread

import numpy as np

from vsdemo.core import cores
from vsdemo.data.catalog.examine import THUMBNAIL_SIDE, PhotoRecord, examine
from vsdemo.data.catalog.scan import PhotoFile
from vsdemo.vision.crops import ViewCutter

CHUNK = 4  # photos sent to a worker at a time
AHEAD = 4  # chunks for each worker that are being read or wait for the network
FEW = 8  # photos that are read faster than processes start

Examined = tuple[PhotoRecord, list[np.ndarray]]


@dataclass(frozen=True)
class Task:
    """What is done with each photo.

    Attributes:
        folder: The folder of the catalog.
        cutters: Cut the views of each network.
    """

    folder: Path
    cutters: tuple[ViewCutter, ...]

    def __call__(self, files: Sequence[PhotoFile]) -> list[Examined]:
        """Return what is known about each file, and its views for each network."""
        result: list[Examined] = []
        short = max([THUMBNAIL_SIDE, *(cutter.short for cutter in self.cutters)])
        for file in files:
            record, photo = examine(self.folder, file, short)
            views = [] if photo is None else [cutter(photo) for cutter in self.cutters]
            result.append((record, views))
        return result


def examine_all(task: Task, files: Sequence[PhotoFile]) -> Generator[Examined, None, None]:
    """Yield what is known about each file, in order, and its views; none if it cannot be read."""
    if len(files) <= FEW:
        for file in files:
            yield from task([file])
        return
    chunks = deque(files[start : start + CHUNK] for start in range(0, len(files), CHUNK))
    while chunks:
        yield from _until_crash(task, chunks)


def _until_crash(task: Task, chunks: deque[Sequence[PhotoFile]]) -> Iterator[Examined]:
    """Yield the results of chunks, removing them, up to the last one or one that crashes.

    If a chunk crashes, each of its files is read in a separate process.
    """
    workers = cores.available()
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _prepare_worker)
    running: deque[Future[list[Examined]]] = deque()
    try:
        while chunks:
            while len(running) < min(workers * AHEAD, len(chunks)):
                running.append(pool.submit(task, chunks[len(running)]))
            try:
                examined = running.popleft().result()
            except BrokenProcessPool:
                for file in chunks.popleft():
                    yield _alone(task, file)
                return
            chunks.popleft()
            yield from examined
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _alone(task: Task, file: PhotoFile) -> Examined:
    """Return the result of one file, which may make a decoder crash."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, _prepare_worker) as pool:
        try:
            return pool.submit(task, [file]).result()[0]
        except BrokenProcessPool:
            problem = f"{Path(file.path).name} makes the decoder crash."
            return PhotoRecord(file, problem=problem), []


def _prepare_worker() -> None:
    """End this process when its parent ends."""
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)
