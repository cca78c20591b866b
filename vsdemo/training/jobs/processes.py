"""Processes of vsdemo that outlive the program that started them: launch, find and end them."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import psutil

from vsdemo.core.paths import ROOT, write_text


class ProcessId(NamedTuple):
    """A process; `born`, in seconds since 1970, tells it from later processes of the same pid."""

    pid: int
    born: float


CLOCK_TOLERANCE = 5  # seconds by which `born` may shift when the system clock is adjusted
POLL_INTERVAL = 0.05  # seconds between two checks whether a process has ended


def launch(
    arguments: Sequence[str], folder: Path, register: Callable[[ProcessId], None]
) -> ProcessId:
    """Start `python -m vsdemo ARGUMENTS` in a session of its own.

    Its output goes to log.txt in `folder`, and its exit code to the file `exit` there as long as
    this program lives.

    Args:
        arguments: Command-line arguments.
        folder: An existing folder.
        register: Called with the new process at once. If it fails, the process is killed, because
            a process that nobody can find again must not continue.
    """
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    with (folder / "log.txt").open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "vsdemo", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"},
        )
    try:
        process = ProcessId(child.pid, psutil.Process(child.pid).create_time())
        write_text(folder / "pid", f"{child.pid}\n")
        register(process)
    except BaseException:
        child.kill()
        child.wait()
        raise
    Thread(target=_record_exit, args=(child, folder), daemon=True).start()
    return process


def _record_exit(child: subprocess.Popen[bytes], folder: Path) -> None:
    code = child.wait()
    if folder.is_dir():  # a folder that was removed is not created again
        with suppress(OSError):
            write_text(folder / "exit", f"{code}\n")


def find(record: Any) -> psutil.Process | None:
    """Return the process of a dict with `pid` and `born`.

    Returns None if it has ended, if its pid belongs to another process by now, and for anything
    that is not such a dict.
    """
    try:
        process = psutil.Process(int(record["pid"]))
        same = abs(process.create_time() - float(record["born"])) < CLOCK_TOLERANCE
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except (TypeError, KeyError, ValueError, OverflowError, psutil.Error):
        return None


def end(process: psutil.Process, grace: float) -> None:
    """Send SIGTERM to a process; kill it and its children after `grace` seconds.

    Returns at once.
    """
    with suppress(psutil.Error):
        process.terminate()
    Thread(target=kill, args=(process, grace), daemon=True).start()


def kill(process: psutil.Process | None, grace: float = 0) -> None:
    """Kill a process and its children, unless it ends by itself within `grace` seconds."""
    if process is None:
        return
    children: list[psutil.Process] = []
    deadline = time.monotonic() + grace
    with suppress(psutil.Error):
        children = process.children(recursive=True)
        # `wait` would take the exit code away from the thread that `launch` started
        while process.status() != psutil.STATUS_ZOMBIE and time.monotonic() < deadline:
            time.sleep(POLL_INTERVAL)
    with suppress(psutil.Error):
        children += process.children(recursive=True)
        process.kill()
    for child in children:
        with suppress(psutil.Error):
            child.kill()
