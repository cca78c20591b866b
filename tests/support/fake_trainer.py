"""Replacements for `python -m vsdemo train` in tests of runs, and functions that wait for a run.

The kind `fake` trains nothing and starts at once. Its behavior depends on the preset:

- `obey` saves an event and exits on SIGTERM, as the trainer does. It waits while there is a file
  `wait` in the folder of its run.
- `deaf` ignores SIGTERM and has a child that ignores it too.
- `early` writes no event and is ended by SIGTERM.
- `fail` prints an error message and exits with code 2.
- `done` finishes at once.

The kind `quick` is the real trainer without torch's compiler, which it does not use and which takes
seconds to import. The kind `full` is `quick` on a disk that accepts no file above 150 kB.
"""

import os
import signal
import sys
import time
from pathlib import Path

from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec

PYTHON = sys.executable
PROGRAM = r"""
import json, os, signal, sys, time

_, _, verb, preset, _, out = sys.argv[1:7]

def write_event(kind, **more):
    with open(os.path.join(out, "events.jsonl"), "a") as file:
        file.write(json.dumps({"kind": kind, "step": 0, "time": time.time(), **more}) + "\n")

def stop(number, frame):
    if os.path.isdir(out):
        write_event("stopped")
    sys.exit(0)

print("started:", preset, flush=True)
if preset == "fail":
    print("vsdemo: It broke; mend it.", flush=True)
    sys.exit(2)
if preset == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = os.fork()
    if child:
        with open(os.path.join(out, "child"), "w") as file:
            file.write(str(child))
elif preset != "early":
    signal.signal(signal.SIGTERM, stop)
    while os.path.exists(os.path.join(out, "wait")):
        time.sleep(0.01)
    write_event("start", steps=10)
if preset == "done":
    write_event("done")
    with open(os.path.join(out, "metrics.json"), "w") as file:
        file.write("{}")
    sys.exit(0)
time.sleep(120)
"""
QUICK = r"""
import sys
from types import ModuleType

class Empty(ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **options: args[0] if args and callable(args[0]) else None

sys.modules["torch._dynamo"] = Empty("torch._dynamo")
del sys.argv[1:3]  # -m vsdemo
from vsdemo.cli import main
main()
"""
LIMIT = 'trap "" XFSZ; ulimit -f 300; '  # blocks of 512 bytes; a saved state is larger


def program(folder: Path, kind: str = "fake") -> str:
    """Write a program of this kind and return its path, which replaces sys.executable."""
    folder.mkdir(exist_ok=True)
    script = folder / f"{kind}.py"
    script.write_text(PROGRAM if kind == "fake" else QUICK)
    options = "-I -S" if kind == "fake" else ""
    limit = LIMIT if kind == "full" else ""
    shell = folder / f"{kind}.sh"
    shell.write_text(f'#!/bin/sh\n{limit}exec "{PYTHON}" {options} "{script}" "$@"\n')
    shell.chmod(0o755)
    return str(shell)


def wait_for(condition, seconds: float = 60):
    """Call `condition` until its result is true, and return the result."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if result := condition():
            return result
        time.sleep(0.01)
    raise AssertionError(f"the condition is not true after {seconds} seconds")


def is_running(pid: int) -> bool:
    """Return whether the process exists and has not ended; Linux only."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def pid_of(run) -> int:
    """Return the process ID of a run."""
    return int(wait_for((run.folder / "pid").read_text))


def kill(run) -> int:
    """Send SIGKILL to the process of a run, wait for its end, and return its process ID."""
    pid = pid_of(run)
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not is_running(pid) and not run.alive)  # its threads end after the first one
    return pid


def final_state(run) -> str:
    """Wait until the process has ended and its exit code is written, and return the state."""
    wait_for(lambda: not run.alive and (run.folder / "exit").exists())
    return run.state


def start_run(preset: str = "obey"):
    """Start a run and wait until the fake trainer behaves as its preset describes."""
    run = jobs.start(JobSpec(preset))
    wait_for((run.folder / "log.txt").read_text)
    if preset == "obey":
        wait_for(lambda: run.events)
    elif preset == "deaf":
        child = run.folder / "child"
        wait_for(lambda: child.exists() and child.read_text())
    return run
