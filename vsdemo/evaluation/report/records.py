"""Records of results: checkpoints/results/<topic>/<name>.json, one for each run.

The metrics of a checkpoint that ships are in its own metrics.json and not repeated as a record.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vsdemo.core import events
from vsdemo.core.errors import UserError
from vsdemo.core.paths import ROOT, checkpoints_root, write_text
from vsdemo.evaluation import cards
from vsdemo.models import checkpoint

MEASURED: Final = "measured"
EARLIER: Final = "from an earlier run"


class Record(BaseModel):
    """What was run, and what came of it. None where it is not known.

    Attributes:
        title: How tables call it, in Markdown.
        command: The command that measures it.
        data: Name of the data set.
        split: Name of the split; None where the figures are grouped by split.
        seeds: Of the runs that the figures are about.
        commit: Of the code that was run.
        minutes: How long the training took.
        date: Of the measurement.
        checkpoint: Folder below checkpoints/, if the weights ship.
        figures: Nested metrics with 95% intervals as `ci95`, as `evaluate --json` prints them; over
            several runs {mean, sd, ci95} in place of a number, as `table --json` prints them.
        paper: The paper's figures, with the same keys.
        source: Whether this version of the code has measured it.
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
    source: Literal["measured", "from an earlier run"]


def of_evaluation(folder: Path, result: Mapping[str, Any], *, command: str) -> Record:
    """Return the result of measuring a checkpoint as a record.

    Args:
        folder: The checkpoint.
        result: As `evaluate.evaluate` returns it.
        command: The command that has measured it. For a checkpoint that does not ship, the one
            that trains it is put before it.
    """
    spec = checkpoint.read_spec(folder)
    name = shipped_name(folder)
    if name is None and not spec.members:
        command = f"{cards.train_command(spec, out=str(folder))} && {command}"
    return _measured(
        title=f"`{name or spec.label}`",
        command=command,
        data=result.get("dataset"),
        split=result.get("split"),
        seeds=[member.config.seed for member in spec.members or (spec,)],
        minutes=training_minutes(folder),
        checkpoint=name,
        figures=result,
    )


def of_parser(
    folder: Path, result: Mapping[str, Any], *, data: str, split: str, command: str
) -> Record:
    """Return the result of measuring a parser as a record."""
    name = shipped_name(folder)
    return _measured(
        title=f"`{name or folder.name}`",
        command=command,
        data=data,
        split=split,
        checkpoint=name,
        figures=result,
    )


def of_difference(
    a: Path, b: Path, result: Mapping[str, Any], *, data: str | None, command: str
) -> Record:
    """Return the difference between two checkpoints, a minus b, as a record.

    Args:
        a: The checkpoint that b is subtracted from.
        b: The other.
        result: As `evaluate.difference` returns it.
        data: Name of the data set; that of a's training by default.
        command: The command that has measured it.
    """
    titles = [shipped_name(folder) or checkpoint.read_spec(folder).label for folder in (a, b)]
    return _measured(
        title=f"`{titles[0]}` minus `{titles[1]}`",
        command=command,
        data=data or checkpoint.read_spec(a).dataset,
        split=result["split"],
        seeds=[checkpoint.read_spec(folder).config.seed for folder in (a, b)],
        figures=result,
    )


def _measured(*, figures: Mapping[str, Any], **values: Any) -> Record:
    """Return a record of today, with the numbers of a result and without its texts and examples."""
    numbers = {k: v for k, v in figures.items() if isinstance(v, Mapping | int | float)}
    empty: dict[str, Any] = {"seeds": [], "minutes": None, "checkpoint": None}
    return Record(
        **{**empty, **values}, commit=commit(), date=date.today(), figures=numbers, source=MEASURED
    )


def shipped_name(folder: Path) -> str | None:
    """Return the path of a checkpoint below checkpoints/, such as "flickr8k/gru"."""
    root, path = checkpoints_root().resolve(), folder.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else None


def commit() -> str | None:
    """Return the commit of this checkout, with "-dirty" behind it if files differ from it."""
    command = ["git", "-C", str(ROOT), "describe", "--always", "--abbrev=40", "--dirty"]
    try:
        result = subprocess.run(
            [*command, "--exclude=*"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):  # no git, or an installed package
        return None
    return result.stdout.strip()


def write(path: Path, record: Record) -> None:
    """Write a record atomically; title and paper of a record that it replaces stay.

    Raises:
        UserError: The file that it would replace is no record.
    """
    if path.exists():
        earlier = read(path)
        record = record.model_copy(update={"title": earlier.title, "paper": earlier.paper})
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
            f"{path} is no record of results ({place + ': ' if place else ''}{first['msg']}); "
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
    path = root / name / "metrics.json"
    try:
        figures = json.loads(_bytes(path))
    except ValueError as error:
        raise UserError(f"{path} is damaged ({error}); measure the checkpoint again.") from None
    if not isinstance(figures, dict):
        raise UserError(f"{path} is damaged (it holds no object); measure the checkpoint again.")
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
        source=MEASURED,
    )


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
