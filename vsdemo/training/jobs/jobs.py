"""Training runs as processes of their own: started, stopped, gone on with, followed, deleted.

A run is a folder below VSDEMO_HOME/runs: run.json (what was asked for), pid, log.txt and exit (the
exit code, where somebody lived to see it) of its process, and what the trainer writes. .job.json
beside the folders tells of the one trainer that may be alive. It outlives who started it: whoever
looks later finds its state in these files.
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
from vsdemo.core.event_reader import Event, log_lines, tail
from vsdemo.core.paths import home, write_text
from vsdemo.training.jobs import processes
from vsdemo.training.jobs.spec import Plan
from vsdemo.training.state import FULL

GRACE = 60  # seconds that a trainer has to save, before it is killed
ALIVE = ("preparing", "training", "measuring", "stopping")
JOB, KEPT, STOPPING = ".job.json", "kept", "stopping"


@dataclass(frozen=True)
class Run:
    """A run by its name, the folder's; begun: when it was asked for, in seconds since 1970."""

    name: str
    folder: Path
    plan: Plan
    begun: float

    @property
    def events(self) -> list[Event]:
        """What the trainer has told so far."""
        return list(tail(self.folder / "events.jsonl").read())

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return (_job() or {}).get("name") == self.name

    @property
    def kept(self) -> bool:
        """Whether its checkpoint is offered beside those that ship."""
        return (self.folder / KEPT).exists() and (self.folder / "model.safetensors").exists()

    @property
    def state(self) -> str:
        """One of ALIVE, or how it ended: done, stopped, failed, killed; gone where its folder was
        removed, also under a trainer that is alive."""
        job, stopping = _job() or {}, (self.folder / STOPPING).exists()
        alive = job.get("name") == self.name
        since = job.get("since", 0) if alive else 0  # what an earlier process told is over
        told = [e["kind"] for e in self.events if e["kind"] in _ENDS and e["time"] >= since]
        last = told[-1] if told else ""
        if not self.folder.is_dir():
            return "gone"
        if alive:
            if stopping:
                return "stopping"
            return {"done": "measuring", "start": "training"}.get(last, "preparing")
        code = _json(self.folder / "exit")
        if code == 0 or (last == "done" and (self.folder / "metrics.json").exists()):
            return "stopped" if last == "stopped" else "done"
        if stopping or code == -signal.SIGTERM:  # asked to end before it could save anything
            return "stopped"
        if isinstance(code, int):
            return "killed" if code < 0 else "failed"
        return {"error": "failed", "stopped": "stopped"}.get(last, "killed")

    @property
    def problem(self) -> str:
        """Why it failed, in one sentence."""
        lines = log_lines(self.folder / "log.txt", 1)
        if lines and lines[0].startswith("vsdemo: "):
            return lines[0].removeprefix("vsdemo: ")
        told = [e.get("message") for e in self.events if e["kind"] == "error"]
        return str(told[-1]) if told else (lines or ["It told no reason."])[0]


_ENDS = ("start", "done", "stopped", "error")


def root() -> Path:
    """Where runs live."""
    return home() / "runs"


def every() -> list[Run]:
    """All runs, the newest first; a folder whose run.json is damaged is none."""
    found = (_run(path.parent) for path in root().glob("[!.]*/run.json"))
    return sorted((r for r in found if r), key=lambda r: (-r.begun, r.name))


def run(name: str) -> Run:
    """The run of a name. Raises UserError where there is none."""
    for found in every():
        if found.name == name:
            return found
    raise UserError(f"There is no run {name!r} any more; choose one of the list.")


def current() -> Run | None:
    """The run whose process is alive, whoever started it; also one whose folder was removed."""
    if (job := _job()) is None:
        return None
    name = job["name"]
    return _run(root() / name) or Run(name, root() / name, Plan(""), 0.0)


def free(plan: Plan) -> Path:
    """The folder that a plan's run would have."""
    slug = re.sub(r"[^a-z0-9_]+", "-", plan.preset.lower()).strip("-")
    taken = {path.name for path in root().glob(f"{slug}-*")}
    return root() / next(f"{slug}-{n}" for n in count(1) if f"{slug}-{n}" not in taken)


def start(plan: Plan) -> Run:
    """Begins to train in a new folder. Raises UserError while another run is alive, and when the
    disk is full."""
    with _starting():
        folder = free(plan)
        begun = Run(folder.name, folder, plan, time.time())
        begun.folder.mkdir()
        try:
            said = {"plan": dataclasses.asdict(plan), "begun": begun.begun}
            write_text(begun.folder / "run.json", json.dumps(said, indent=1) + "\n")
            _launch(begun)
        except BaseException:
            shutil.rmtree(begun.folder, ignore_errors=True)
            raise
    return begun


def resume(name: str) -> Run:
    """Goes on with a run that ended before it was done. Raises UserError as `start` does."""
    with _starting():
        found = run(name)
        for left in ("exit", STOPPING):
            (found.folder / left).unlink(missing_ok=True)
        _launch(found)
    return found


def stop(name: str) -> None:
    """Asks the trainer to save and end; it is killed, with all its processes, GRACE seconds later.
    A run that has ended stays as it is. Returns at once."""
    found = current()
    if found is None or found.name != name:
        return
    with suppress(OSError):  # a full disk, or the folder is gone
        (found.folder / STOPPING).touch()
    if process := processes.find(_job()):
        processes.end(process, GRACE)


def delete(name: str) -> None:
    """Removes a run that has ended, with its checkpoint. Raises UserError while it is alive."""
    found = run(name)
    if found.alive:
        raise UserError(f"{name} is being trained; stop it before you delete it.")
    trash = root() / f".trash-{uuid.uuid4().hex}"
    found.folder.rename(trash)  # at once out of the list
    shutil.rmtree(trash, ignore_errors=True)


def keep(name: str, kept: bool = True) -> None:
    """Offers the checkpoint of a run beside those that ship, or no longer. Raises UserError when
    it has none yet."""
    found = run(name)
    if not kept:
        return (found.folder / KEPT).unlink(missing_ok=True)
    if not (found.folder / "model.safetensors").exists():
        raise UserError(f"{name} has no checkpoint yet; wait for its first evaluation.")
    (found.folder / KEPT).touch()
    return None


def _run(folder: Path) -> Run | None:
    told: Any = _json(folder / "run.json")
    try:
        plan = told["plan"] | {k: tuple(told["plan"][k]) for k in ("settings", "watched")}
        return Run(folder.name, folder, Plan(**plan), float(told["begun"]))
    except (TypeError, KeyError, ValueError):
        return None


def _json(path: Path) -> Any:
    """What a file holds; None where it is missing or damaged."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _job() -> dict[str, Any] | None:
    """What is known of the trainer that is alive: name, pid, born, and since when."""
    job = _json(root() / JOB)
    return job if processes.find(job) and isinstance(job.get("name"), str) else None


@contextmanager
def _starting() -> Iterator[None]:
    """One start at a time, over all processes, and only while no trainer is alive. Raises UserError
    otherwise, and when the disk is full."""
    try:
        root().mkdir(parents=True, exist_ok=True)
        with FileLock(root() / ".starting.lock", timeout=GRACE):
            if busy := current():
                raise UserError(
                    f"{busy.name} is being trained, and one run at a time is enough for a "
                    "machine; wait for it or stop it."
                )
            yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise UserError(f"The disk is full; make room on that of {root()}.") from None


def _launch(run: Run) -> None:
    job = {"name": run.name, "since": time.time()}

    def known(born: processes.Born) -> None:
        write_text(root() / JOB, json.dumps(job | born._asdict()) + "\n")

    processes.launch(run.plan.words(run.folder), run.folder, known)
