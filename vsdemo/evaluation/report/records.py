"""Records of results: checkpoints/results/<topic>/<name>.json, one for each run.

The metrics of a checkpoint that ships are in its own metrics.json and not repeated as a record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vsdemo.core import events
from vsdemo.core.errors import UserError
from vsdemo.core.nested import flatten
from vsdemo.core.paths import write_text
from vsdemo.models import checkpoint

EXPERIMENTS = "results/experiments"  # folder of the records of experiments below checkpoints/


class RunLog(BaseModel):
    """The log of one training whose checkpoint does not ship.

    Attributes:
        name: Name of its folder.
        command: The command that repeats it.
        minutes: How long it took, dev evaluations included.
        chosen_by: The dev metric that chose the epoch.
        dev: Epoch -> this metric.
        curves: Other dev metrics by name, such as "t2i r10": epoch -> value.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    name: str
    command: str
    minutes: float
    chosen_by: str
    dev: dict[str, float]
    curves: dict[str, dict[str, float]] = {}


class Record(BaseModel):
    """What was run, and the results; fields that are not known are None.

    Attributes:
        title: Title in tables, in Markdown.
        command: The command that measures it, after those that train checkpoints that do not ship.
        data: Name of the data set.
        split: Name of the split; None where the figures are grouped by split.
        seeds: Seeds of the runs that the figures are about.
        commit: Commit of the code that was run.
        minutes: How long the training took.
        date: Date of the measurement.
        checkpoint: Folder below checkpoints/, if the weights ship.
        figures: Nested metrics with 95% intervals as `ci95`, as `evaluate --json` prints them; over
            several runs {mean, sd, ci95} in place of a number, as `table --json` prints them.
        paper: The paper's figures, with the same keys.
        runs: The logs of the trainings whose checkpoints do not ship, by row of an experiment,
            elsewhere by folder.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    title: str = Field(min_length=1)
    command: str | None
    data: str | None
    split: str | None
    seeds: list[int]
    commit: str | None
    minutes: float | None = Field(ge=0)
    date: date | None
    checkpoint: str | None
    figures: dict[str, Any]
    paper: dict[str, Any] | None = None
    runs: dict[str, list[RunLog]] | None = None


def experiment_path(root: Path, name: str) -> Path:
    """Return the file of the record of an experiment, which may not be measured yet.

    Args:
        root: The folder checkpoints/.
        name: Name of the experiment.
    """
    return root / EXPERIMENTS / f"{name}.json"


def write(path: Path, record: Record) -> None:
    """Write a record atomically.

    If it replaces a record, the title and the paper's figures stay, and so does the data set if
    the new record names none.

    Raises:
        UserError: The file that it would replace is not a record.
    """
    if path.exists():
        earlier = read(path)
        kept = {"title": earlier.title, "paper": earlier.paper, "data": record.data or earlier.data}
        record = record.model_copy(update=kept)
    write_text(path, record.model_dump_json(indent=1) + "\n")


def read(path: Path) -> Record:
    """Return the record in a file.

    Raises:
        UserError: The file is missing or damaged, or lacks a field.
    """
    try:
        return Record.model_validate_json(_bytes(path))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UserError(
            f"{path} is not a record of results ({place + ': ' if place else ''}{first['msg']}); "
            "correct it, or measure it again with `--record`."
        ) from None


def read_checkpoint(root: Path, name: str) -> Record:
    """Return the metrics of a checkpoint that ships, by split, as a record.

    Args:
        root: The folder checkpoints/.
        name: Folder of the checkpoint below it.

    Raises:
        UserError: Its metrics.json is missing or damaged.
    """
    figures = checkpoint.read_metrics(root / name)
    return Record(
        title=f"`{name}`",
        command=f"python -m vsdemo evaluate checkpoints/{name}",
        data=None,
        split=None,
        seeds=[],
        commit=None,
        minutes=training_minutes(root / name),
        date=None,
        checkpoint=name,
        figures=figures,
    )


def read_log(folder: Path, *, name: str, command: str, curves: Sequence[str] = ()) -> RunLog:
    """Return the log of a training that is done.

    Args:
        folder: Its folder.
        name: Name of the log.
        command: The command that repeats the training.
        curves: Names of dev metrics to keep beside the one that chose the epoch.

    Raises:
        UserError: The training is not done.
    """
    log = list(events.read(folder / "events.jsonl"))
    done = [event for event in log if event["kind"] == "done"]
    if not done:
        raise UserError(f"The training in {folder} is not done; resume it before it is recorded.")
    on_dev = {
        str(event["epoch"]): flatten(event, separator=" ")
        for event in log
        if event["kind"] == "eval"
    }
    chosen_by = next(key for key in done[-1] if key.startswith("best_")).removeprefix("best_")
    return RunLog(
        name=name,
        command=command,
        minutes=round(done[-1]["seconds"] / 60, 2),
        chosen_by=chosen_by,
        dev=_curve(on_dev, chosen_by),
        curves={curve: _curve(on_dev, curve) for curve in curves},
    )


def _curve(on_dev: Mapping[str, Mapping[str, float]], name: str) -> dict[str, float]:
    """Return the epochs with a dev metric, and its values."""
    return {epoch: round(values[name], 2) for epoch, values in on_dev.items() if name in values}


def training_minutes(folder: Path) -> float | None:
    """Return how long the training of a checkpoint took; None if its log does not tell."""
    log = folder / "events.jsonl"
    done = [e for e in events.read(log) if e["kind"] == "done"] if log.exists() else []
    return float(done[-1]["seconds"]) / 60 if done else None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UserError(f"{path} is missing; restore it, or take it out of the report.") from None
