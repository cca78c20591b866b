"""Processes of vsdemo that outlive the program that started them: launch and end them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Thread

import psutil

from vsdemo.core import locks
from vsdemo.core.locks import HeldFile
from vsdemo.core.paths import ROOT, write_text

POLL_INTERVAL = 0.05  # seconds between two checks whether a process has ended


def launch(
    arguments: Sequence[str],
    folder: Path,
    files: Sequence[HeldFile],
    register: Callable[[int], None],
) -> None:
    """Start `python -m vsdemo ARGUMENTS` in a session of its own.

    Its output goes to log.txt in `folder`, and its exit code to the file `exit` there as long as
    this program lives. It imports nothing from the working directory.

    Args:
        arguments: Command-line arguments.
        folder: An existing folder.
        files: Files that the process is to hold until it ends.
        register: Called with the ID of the new process at once. If it fails, the process is killed,
            because a process that nobody can find again must not continue.
    """
    with (folder / "log.txt").open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "vsdemo", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            pass_fds=[file.descriptor for file in files],
            env=os.environ | environment() | locks.inheritance(files),
        )
    try:
        register(child.pid)
    except BaseException:
        child.kill()
        child.wait()
        raise
    Thread(target=_record_exit, args=(child, folder), daemon=True).start()


def environment() -> dict[str, str]:
    """Return variables with which `python -m vsdemo` imports nothing from the working directory."""
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [str(ROOT), *filter(None, inherited)]  # an empty one is the working directory
    return {
        "PYTHONPATH": os.pathsep.join(paths),
        "PYTHONSAFEPATH": "1",  # or `-m` would put the working directory first
        "PYTHONUNBUFFERED": "1",
    }


def _record_exit(child: subprocess.Popen[bytes], folder: Path) -> None:
    code = child.wait()
    if folder.is_dir():  # a folder that was removed is not created again
        with suppress(OSError):
            write_text(folder / "exit", f"{code}\n")


def end(find: Callable[[], int | None], grace: float) -> None:
    """Send SIGTERM to a process; kill it and its children after `grace` seconds.

    Returns at once.

    Args:
        find: Returns the ID of the process; None once it has ended.
        grace: Seconds that it has to end by itself.
    """
    if pid := find():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        Thread(target=_kill, args=(find, grace), daemon=True).start()


def _kill(find: Callable[[], int | None], grace: float) -> None:
    """Kill a process and its children, unless it ends by itself within `grace` seconds."""
    deadline = time.monotonic() + grace
    children: list[psutil.Process] = []
    while pid := find():
        with suppress(psutil.Error):
            children = psutil.Process(pid).children(recursive=True)
        if time.monotonic() >= deadline:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            break
        time.sleep(POLL_INTERVAL)
    for child in children:
        with suppress(psutil.Error):
            child.kill()
