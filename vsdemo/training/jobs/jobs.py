"""Training runs as processes of their own: start, stop, resume, follow, keep and delete them.

A run is a folder in VSDEMO_HOME/runs. It holds run.json (the job's specification), the pid, log.txt
and exit (its exit code, if it was observed) of the job's process, and what the trainer writes. The
file .job.json beside the folders identifies the one job that may be alive. A job outlives the
program that started it, so the state of a run is always read from these files.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import signal
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from filelock import FileLock

from vsdemo.core.errors import UserError
from vsdemo.core.event_reader import last_lines, reader_for
from vsdemo.core.events import Event
from vsdemo.core.paths import home, write_text
from vsdemo.models.migrations import migrate_overrides
from vsdemo.training.jobs import processes
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.state import DISK_FULL

GRACE = 60  # seconds that a trainer has to save before it is killed
ALIVE = ("preparing", "training", "measuring", "stopping")
JOB_FILE, KEPT_FILE, STOPPING_FILE = ".job.json", "kept", "stopping"
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
        return (_live_job() or {}).get("name") == self.name

    @property
    def kept(self) -> bool:
        """Whether its checkpoint is offered beside the shipped ones."""
        kept = (self.folder / KEPT_FILE).exists()
        return kept and (self.folder / "model.safetensors").exists()

    @property
    def state(self) -> str:
        """One of ALIVE, or how the run ended: done, stopped, failed or killed.

        A run whose folder was removed is "gone", even while its process is running.
        """
        job = _live_job() or {}
        alive = job.get("name") == self.name
        stopping = (self.folder / STOPPING_FILE).exists()
        since = job.get("since", 0) if alive else 0  # older events are of an earlier process
        kinds = [e["kind"] for e in self.events if e["kind"] in DECISIVE and e["time"] >= since]
        last = kinds[-1] if kinds else ""
        if not self.folder.is_dir():
            return "gone"
        if not alive:
            return self._ending(last, stopping=stopping)
        if stopping:
            return "stopping"
        return {"done": "measuring", "start": "training"}.get(last, "preparing")

    def _ending(self, last: str, *, stopping: bool) -> str:
        """Return how a run whose process is not running ended, given its last decisive event."""
        code = _read_json(self.folder / "exit")
        if code == 0 or (last == "done" and (self.folder / "metrics.json").exists()):
            return "stopped" if last == "stopped" else "done"
        if stopping or code == -signal.SIGTERM:  # stopped before there was anything to save
            return "stopped"
        if isinstance(code, int):
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
    raise UserError(f"There is no run {name!r}; choose one from the list.")


def current() -> Run | None:
    """Return the run whose process is alive, whichever program started it.

    This includes a run whose folder was removed in the meantime.
    """
    job = _live_job()
    if job is None:
        return None
    name = job["name"]
    return _read_run(root() / name) or Run(name, root() / name, JobSpec(""), started=0.0)


def new_folder(spec: JobSpec) -> Path:
    """Return the folder that a new run of this specification would get."""
    slug = re.sub(r"[^a-z0-9_]+", "-", spec.preset.lower()).strip("-")
    taken = {path.name for path in root().glob(f"{slug}-*")}
    return root() / next(f"{slug}-{n}" for n in count(1) if f"{slug}-{n}" not in taken)


def start(spec: JobSpec) -> Run:
    """Start training in a new folder.

    Raises:
        UserError: If another run is alive or the disk is full.
    """
    with _exclusive_start():
        folder = new_folder(spec)
        run = Run(folder.name, folder, spec, started=time.time())
        folder.mkdir()
        try:
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
        (run.folder / STOPPING_FILE).touch()
    if process := processes.find(_live_job()):
        processes.end(process, GRACE)


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
    """Offer the checkpoint of a run beside the shipped ones, or withdraw it.

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
    content: Any = _read_json(folder / "run.json")
    try:
        values = dict(content["plan"])
        values["settings"] = migrate_overrides(values["settings"])
        values["watched"] = tuple(values["watched"])
        return Run(folder.name, folder, JobSpec(**values), started=float(content["begun"]))
    except (TypeError, KeyError, ValueError):
        return None


def _read_json(path: Path) -> Any:
    """Return the content of a JSON file; None if it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _live_job() -> dict[str, Any] | None:
    """Return the record of the job that is alive: its name, pid, born and since."""
    job = _read_json(root() / JOB_FILE)
    return job if processes.find(job) and isinstance(job.get("name"), str) else None


@contextmanager
def _exclusive_start() -> Iterator[None]:
    """Allow one start at a time, across all processes, and only while no job is alive.

    Raises:
        UserError: If a job is alive or the disk is full.
    """
    try:
        root().mkdir(parents=True, exist_ok=True)
        with FileLock(root() / ".starting.lock", timeout=GRACE):
            if busy := current():
                raise UserError(
                    f"{busy.name} is being trained, and this machine trains one run at a time; "
                    "wait for it or stop it."
                )
            yield
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise UserError(f"The disk is full; free some space on the disk of {root()}.") from None


def _launch(run: Run) -> None:
    job = {"name": run.name, "since": time.time()}

    def register(process: processes.ProcessId) -> None:
        write_text(root() / JOB_FILE, json.dumps(job | process._asdict()) + "\n")

    processes.launch(run.spec.arguments(run.folder), run.folder, register)
