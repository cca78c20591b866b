"""What stands in for `python -m vsdemo train` in tests of runs, and ways to wait for a run.

A stand-in begins at once and does what its preset says: `obey` ends on SIGTERM as the trainer does,
`deaf` hears none and has a child that is deaf too, `fail` gives a sentence and ends with 2, `done`
is done at once. `quick` is the trainer itself, only without torch's compiler, which it does not
use and which takes seconds to import; `full` is that on a disk that takes no file above 150 kB.
"""

import os
import sys
import time
from pathlib import Path

from vsdemo.training.jobs import jobs
from vsdemo.training.jobs.spec import JobSpec

PYTHON = sys.executable
PROGRAM = r"""
import json, os, signal, sys, time

_, _, verb, preset, _, out = sys.argv[1:7]

def tell(kind, **more):
    with open(os.path.join(out, "events.jsonl"), "a") as file:
        file.write(json.dumps({"kind": kind, "step": 0, "time": time.time(), **more}) + "\n")

def obey(number, frame):
    if os.path.isdir(out):
        tell("stopped")
    sys.exit(0)

print("begun:", preset, flush=True)
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
    signal.signal(signal.SIGTERM, obey)
    tell("start", steps=10)
if preset == "done":
    tell("done")
    with open(os.path.join(out, "metrics.json"), "w") as file:
        file.write("{}")
    sys.exit(0)
time.sleep(120)
"""
QUICK = r"""
import sys
from types import ModuleType

class Nothing(ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *words, **options: words[0] if words and callable(words[0]) else None

sys.modules["torch._dynamo"] = Nothing("torch._dynamo")
del sys.argv[1:3]  # -m vsdemo
from vsdemo.cli import main
main()
"""
LIMIT = 'trap "" XFSZ; ulimit -f 300; '  # blocks of 512 bytes; the state after an epoch is larger


def program(folder: Path, kind: str = "stand-in") -> str:
    """What takes the place of sys.executable."""
    folder.mkdir(exist_ok=True)
    script, shell = folder / f"{kind}.py", folder / f"{kind}.sh"
    script.write_text(PROGRAM if kind == "stand-in" else QUICK)
    options = "-I -S" if kind == "stand-in" else ""
    before = LIMIT if kind == "full" else ""
    shell.write_text(f'#!/bin/sh\n{before}exec "{PYTHON}" {options} "{script}" "$@"\n')
    shell.chmod(0o755)
    return str(shell)


def wait_for(what, seconds: float = 60):
    """The first true answer."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := what():
            return found
        time.sleep(0.01)
    raise AssertionError(f"waited {seconds} seconds for nothing")


def running(pid: int) -> bool:
    """Whether there is a process of this number that has not ended; Linux only."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def pid_of(run) -> int:
    """Of the process of a run."""
    return int(wait_for((run.folder / "pid").read_text))


def end(run) -> int:
    """kill -9; gives the number that the process had once it has ended."""
    os.kill(pid := pid_of(run), 9)
    wait_for(lambda: not running(pid))
    return pid


def ended(run) -> str:
    """The state once its process has ended and been waited for."""
    wait_for(lambda: not run.alive and (run.folder / "exit").exists())
    return run.state


def begun(preset: str = "obey"):
    """A run whose stand-in is so far that it does what its preset says."""
    run = jobs.start(JobSpec(preset))
    wait_for((run.folder / "log.txt").read_text)
    if preset == "obey":
        wait_for(lambda: run.events)
    elif preset == "deaf":
        wait_for(lambda: (run.folder / "child").exists() and (run.folder / "child").read_text())
    return run
