"""Programs of vsdemo that outlive who started them: begun, found again, ended. The one home of
psutil."""

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


class Born(NamedTuple):
    """A process by its number and its birth, in seconds since 1970: numbers are given again."""

    pid: int
    born: float


APART = 5  # seconds by which a birth may seem to move, as the clock is set right
LOOK = 0.05  # seconds between two looks whether a process has ended


def launch(words: Sequence[str], folder: Path, known: Callable[[Born], None]) -> Born:
    """Starts `python -m vsdemo WORDS` in a session of its own. It writes to log.txt in the folder;
    its exit code goes to `exit` there, as long as this program lives. known: is told of it at
    once; where that fails, it is killed: what nobody knows of must not go on."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    with (folder / "log.txt").open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "vsdemo", *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"},
        )
    try:
        born = Born(child.pid, psutil.Process(child.pid).create_time())
        write_text(folder / "pid", f"{child.pid}\n")
        known(born)
    except BaseException:
        child.kill()
        child.wait()
        raise
    Thread(target=_wait, args=(child, folder), daemon=True).start()
    return born


def _wait(child: subprocess.Popen[bytes], folder: Path) -> None:
    code = child.wait()
    if folder.is_dir():  # else it was removed, and is not made again
        with suppress(OSError):
            write_text(folder / "exit", f"{code}\n")


def find(told: Any) -> psutil.Process | None:
    """The process that a dict with `pid` and `born` tells of; None when it has ended, also where
    its number is that of another one by now, and for anything else."""
    try:
        process = psutil.Process(int(told["pid"]))
        same = abs(process.create_time() - float(told["born"])) < APART
        return process if same and process.status() != psutil.STATUS_ZOMBIE else None
    except (TypeError, KeyError, ValueError, OverflowError, psutil.Error):
        return None


def end(process: psutil.Process, grace: float) -> None:
    """Sends SIGTERM, and after so many seconds SIGKILL, to its children too. Returns at once."""
    with suppress(psutil.Error):
        process.terminate()
    Thread(target=kill, args=(process, grace), daemon=True).start()


def kill(process: psutil.Process | None, grace: float = 0) -> None:
    """Kills a process and its children, unless it ends by itself in that time (seconds)."""
    if process is None:
        return
    children: list[psutil.Process] = []
    until = time.monotonic() + grace
    with suppress(psutil.Error):
        children = process.children(recursive=True)
        # not `wait`, which takes the exit code away from who waits for it in `launch`
        while process.status() != psutil.STATUS_ZOMBIE and time.monotonic() < until:
            time.sleep(LOOK)
    with suppress(psutil.Error):
        children += process.children(recursive=True)
        process.kill()
    for child in children:
        with suppress(psutil.Error):
            child.kill()
