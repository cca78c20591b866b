"""Training runs as processes of their own: start, stop, resume, follow, keep and delete them.

A run is a folder in VSDEMO_HOME/runs. It holds run.json (the job's specification), log.txt and exit
(its exit code, if it was observed) of the job's process, and what the trainer writes. A run is
alive while a process holds the file `pid` of its folder, see `vsdemo.core.locks`; this also holds
for a run that is resumed from the command line. The file .job.json next to the folders is held by
the one job that may be alive. A job outlives the program that started it, so the state of a run is
always read from these files.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import shutil
import signal
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from filelock import FileLock

from vsdemo.core import json_files, locks
from vsdemo.core.errors import UserError
from vsdemo.core.event_reader import last_lines, reader_for
from vsdemo.core.events import Event
from vsdemo.core.paths import home, write_text
from vsdemo.models.migrations import migrate_overrides
from vsdemo.training.jobs import processes
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.state import DISK_FULL, PID_FILE

GRACE = 60  # seconds that a trainer has to save before it is killed
ALIVE = ("preparing", "training", "measuring", "stopping")
JOB_FILE, KEPT_FILE, STOPPING_FILE, OWNER_FILE = ".job.json", "kept", "stopping", "owner"
MAX_OWNER = 100  # characters
MAX_PID = 100  # characters of a process ID
LATEST = 32_503_680_000  # seconds since 1970 until the year 3000
DECISIVE = ("start", "done", "stopped", "error")  # events that change the state of a run


@dataclass(frozen=True)
class Run:
    """A training run.

    Attributes:
        name: The name of its folder.
        folder: Its folder.
        spec: What it trains.
        started: When it was first started, in seconds since 1970.
    """

    name: str
    folder: Path
    spec: JobSpec
    started: float

    @property
    def events(self) -> list[Event]:
        """The events that the trainer has written so far."""
        return list(reader_for(self.folder / "events.jsonl").read())

    @property
    def alive(self) -> bool:
        """Whether its process is running."""
        if locks.read_held(self.folder / PID_FILE) is not None:
            return True
        return not self.folder.exists() and _live_job().get("name") == self.name

    @property
    def owner(self) -> str | None:
        """Who started it on a public server; None for the owner of the machine.

        It is also None for a folder that was removed, but "" if the owner is unreadable.
        """
        if not os.path.lexists(self.folder / OWNER_FILE):
            return None
        content = json_files.read_bytes(self.folder / OWNER_FILE, MAX_OWNER) or b""
        return content.decode("utf-8", "replace").strip() if content.isascii() else ""

    @property
    def kept(self) -> bool:
        """Whether its checkpoint is offered along with the shipped ones."""
        kept = (self.folder / KEPT_FILE).exists()
        return kept and (self.folder / "model.safetensors").exists()

    @property
    def state(self) -> str:
        """One of ALIVE, or how the run ended: done, stopped, failed or killed.

        A run whose folder was removed is "gone", even while its process is running.
        """
        alive = self.alive
        stopping = self._is_asked_to_stop
        kinds: Sequence[str] = [e["kind"] for e in self.events if e["kind"] in DECISIVE]
        job = _live_job() if alive else {}
        if job.get("name") == self.name:
            kinds = _after_starts(kinds, job.get("starts", 0))
        last = kinds[-1] if kinds else ""
        if not self.folder.is_dir():
            return "gone"
        if not alive:
            return self._ending(last, stopping=stopping)
        if stopping:
            return "stopping"
        return {"done": "measuring", "start": "training"}.get(last, "preparing")

    @property
    def _is_asked_to_stop(self) -> bool:
        """Whether the process that is running, or the last one, was asked to stop."""
        stopping = json_files.read_bytes(self.folder / STOPPING_FILE, MAX_PID)  # the process's ID
        running = locks.read_held(self.folder / PID_FILE)
        return stopping is not None and (
            not running or stopping.decode(errors="replace") in ("", running)
        )

    def _ending(self, last: str, *, stopping: bool) -> str:
        """Return how a run whose process is not running ended, given its last decisive event."""
        code = json_files.read(self.folder / "exit")
        if code == 0 or (last == "done" and (self.folder / "metrics.json").exists()):
            return "stopped" if last == "stopped" else "done"
        if stopping or code == -signal.SIGTERM:  # stopped before there was anything to save
            return "stopped"
        if isinstance(code, int) and not isinstance(code, bool):
            return "killed" if code < 0 else "failed"
        return {"error": "failed", "stopped": "stopped"}.get(last, "killed")

    @property
    def problem(self) -> str:
        """Why the run failed, in one sentence."""
        lines = last_lines(self.folder / "log.txt", 1)
        if lines and lines[0].startswith("vsdemo: "):
            return lines[0].removeprefix("vsdemo: ")
        messages = [event.get("message") for event in self.events if event["kind"] == "error"]
        if messages:
            return str(messages[-1])
        return lines[0] if lines else "It gave no reason."


def root() -> Path:
    """Return the folder of all runs."""
    return home() / "runs"


def list_runs() -> list[Run]:
    """Return all runs, the newest first. Folders with a damaged run.json are left out."""
    runs = (_read_run(path.parent) for path in root().glob("[!.]*/run.json"))
    return sorted((run for run in runs if run), key=lambda run: (-run.started, run.name))


def get_run(name: str) -> Run:
    """Return the run of this name.

    Raises:
        UserError: If there is none.
    """
    for run in list_runs():
        if run.name == name:
            return run
    raise no_run(name)


def no_run(name: object) -> UserError:
    """Return the error for a run that does not exist."""
    return UserError(f"There is no run {name!r}; choose one from the list.")


def current() -> Run | None:
    """Return the run whose process is alive, whichever program started it.

    This includes a run whose folder was removed in the meantime.
    """
    for run in list_runs():
        if run.alive:
            return run
    name = _live_job().get("name")
    return Run(name, root() / name, JobSpec(""), started=0.0) if isinstance(name, str) else None


def new_folder(spec: JobSpec) -> Path:
    """Return the folder that a new run of this specification would get."""
    slug = re.sub(r"[^a-z0-9_]+", "-", spec.preset.lower()).strip("-")
    taken = {path.name for path in root().glob(f"{slug}-*")}
    return root() / next(f"{slug}-{n}" for n in count(1) if f"{slug}-{n}" not in taken)


def start(spec: JobSpec, *, owner: str | None = None) -> Run:
    """Start training in a new folder.

    Args:
        spec: What to train.
        owner: See `Run.owner`.

    Raises:
        UserError: If another run is alive or the disk is full.
    """
    with _exclusive_start():
        folder = new_folder(spec)
        run = Run(folder.name, folder, spec, started=time.time())
        folder.mkdir()
        try:
            if owner is not None:
                write_text(folder / OWNER_FILE, f"{owner}\n")
            content = {"plan": dataclasses.asdict(spec), "begun": run.started}
            write_text(folder / "run.json", json.dumps(content, indent=1) + "\n")
            _launch(run)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    return run


def resume(name: str) -> Run:
    """Resume a run that ended before it was done.

    Raises:
        UserError: If another run is alive, the disk is full or there is no such run.
    """
    with _exclusive_start():
        run = get_run(name)
        for leftover in ("exit", STOPPING_FILE):
            (run.folder / leftover).unlink(missing_ok=True)
        _launch(run)
        return run


def stop(name: str) -> None:
    """Ask a run's trainer to save and exit, and return at once.

    After GRACE seconds the trainer and its child processes are killed. Nothing happens to a run
    that is not alive.
    """
    run = current()
    if run is None or run.name != name:
        return
    with suppress(OSError):  # the disk is full or the folder was removed
        (run.folder / STOPPING_FILE).write_text(f"{_pid(run)}\n", encoding="utf-8")
    processes.end(lambda: _pid(run), GRACE)


def delete(name: str) -> None:
    """Remove a run that has ended, with its checkpoint.

    Raises:
        UserError: If the run is alive or does not exist.
    """
    run = get_run(name)
    if run.alive:
        raise UserError(f"{name} is being trained; stop it before you delete it.")
    trash = root() / f".trash-{uuid.uuid4().hex}"
    run.folder.rename(trash)  # leaves the list at once
    shutil.rmtree(trash, ignore_errors=True)


def keep(name: str, *, kept: bool = True) -> None:
    """Offer the checkpoint of a run along with the shipped ones, or withdraw it.

    Raises:
        UserError: If the run does not exist, or has no checkpoint yet.
    """
    run = get_run(name)
    if not kept:
        (run.folder / KEPT_FILE).unlink(missing_ok=True)
        return
    if not (run.folder / "model.safetensors").exists():
        raise UserError(f"{name} has no checkpoint yet; wait for its first evaluation.")
    (run.folder / KEPT_FILE).touch()


def _read_run(folder: Path) -> Run | None:
    """Return the run in a folder; None if its run.json is missing or damaged."""
    content = json_files.read(folder / "run.json")
    try:
        plan, started = dict(content["plan"]), content["begun"]
        settings, watched = plan.pop("settings"), plan.pop("watched")
        spec = JobSpec(**plan, settings=settings, watched=watched)
        if not 0 <= started < LATEST:
            return None
    except (TypeError, AttributeError, KeyError, ValueError):
        return None
    texts = (folder.name, spec.preset, spec.dataset or "", *spec.settings)
    if not all(text.isprintable() for text in texts):  # they are printed in terminals
        return None
    spec = dataclasses.replace(spec, settings=migrate_overrides(spec.settings))
    return Run(folder.name, folder, spec, started=float(started))


def _live_job() -> dict[str, Any]:
    """Return the record of the job that is alive: its name, pid and starts; empty without one.

    `starts` is the number of `start` events of earlier processes.
    """
    content = locks.read_held(root() / JOB_FILE)
    try:
        job = json_files.parse(content or "")
    except ValueError:
        return {}
    return job if isinstance(job, dict) else {}


def _pid(run: Run) -> int | None:
    """Return the ID of the process of a run; None if it has ended."""
    content = locks.read_held(run.folder / PID_FILE)
    job = _live_job()
    if content is None and job.get("name") == run.name:  # the folder was removed
        content = str(job.get("pid"))
    return int(content) if content and content.strip().isdecimal() else None


def _after_starts(kinds: Sequence[str], starts: object) -> Sequence[str]:
    """Return the kinds of events of the newest process, given the `start` events before it."""
    numbers = [number for number, kind in enumerate(kinds) if kind == "start"]
    if not isinstance(starts, int) or not 0 <= starts < len(numbers):
        return []
    return kinds[numbers[starts] :]


@contextmanager
def _exclusive_start() -> Iterator[None]:
    """Allow one start at a time, across all processes, and only while no job is alive.

    Raises:
        UserError: If a job is alive or the disk is full.
    """
    try:
        root().mkdir(parents=True, exist_ok=True)
        with FileLock(root() / ".starting.lock", timeout=GRACE):
            busy = current()
            if busy or locks.read_held(root() / JOB_FILE) is not None:
                name = busy.name if busy else "Another run"
                raise UserError(
                    f"{name} is being trained, and this machine trains one run at a time; "
                    "wait for it or stop it."
                )
            yield
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise UserError(f"The disk is full; free some space on the disk of {root()}.") from None


def _launch(run: Run) -> None:
    starts = sum(event["kind"] == "start" for event in run.events)
    with (
        locks.holding(root() / JOB_FILE) as job_file,
        locks.holding(run.folder / PID_FILE) as pid_file,
    ):

        def register(pid: int | None) -> None:
            job = {"name": run.name, "pid": pid, "starts": starts}
            job_file.write(json.dumps(job) + "\n")
            pid_file.write(f"{pid}\n" if pid else "")

        register(None)  # otherwise the ID of an earlier process would be read until the start

        arguments = run.spec.arguments(run.folder)
        processes.launch(arguments, run.folder, [job_file, pid_file], register)
