"""Today's results as records: an evaluation, a difference, a row of a table, or the lab."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from vsdemo.core.errors import UserError
from vsdemo.core.nested import unflatten
from vsdemo.core.paths import ROOT, checkpoints_root
from vsdemo.evaluation import cards
from vsdemo.evaluation.report import records
from vsdemo.evaluation.report.records import Record, training_minutes
from vsdemo.models import checkpoint

# Changes of these files do not change what is measured; as git's pathspecs.
EXCEPT_RESULTS = (":!checkpoints/results", ":!checkpoints/README.md")


def of_evaluation(folder: Path, result: Mapping[str, Any], *, command: str) -> Record:
    """Return the result of measuring a checkpoint as a record.

    Args:
        folder: The checkpoint.
        result: As `evaluate.evaluate` returns it.
        command: The command that has measured it.
    """
    spec = checkpoint.read_spec(folder)
    name = shipped_name(folder)
    return _measured(
        title=f"`{name or spec.label}`",
        command=_with_training([folder], command),
        data=result.get("dataset"),
        split=result.get("split"),
        seeds=_seeds([folder]),
        minutes=training_minutes(folder),
        checkpoint=name,
        figures=result,
        runs=_logs([folder]),
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
        command=_with_training([a, b], command),
        data=data or checkpoint.read_spec(a).dataset,
        split=result["split"],
        seeds=_seeds([a, b]),
        figures=result,
        runs=_logs([a, b]),
    )


def of_lab(folder: Path, result: Mapping[str, Any], *, command: str) -> Record:
    """Return the metrics of one checkpoint by split and task, as `lab.report` returns them."""
    (figures,) = result["figures"].values()
    return _measured(
        title=f"`{shipped_name(folder) or checkpoint.read_spec(folder).label}`",
        command=_with_training([folder], command),
        data="storybook",
        split=None,
        seeds=_seeds([folder]),
        minutes=training_minutes(folder),
        checkpoint=shipped_name(folder),
        figures=figures,
        runs=_logs([folder]),
    )


def check_one_row(folders: Sequence[Path], against: str | None) -> None:
    """Raise UserError if a table of these runs has several rows, or several rows of differences."""
    labels = dict.fromkeys(checkpoint.read_spec(folder).label for folder in folders)
    rows = [label for label in labels if label != against]
    if len(rows) != 1:
        names = ", ".join(map(repr, rows)) or "none"
        raise UserError(
            f"A record is about one row of the table, not about {names}; give fewer runs."
        )


def of_table(folders: Sequence[Path], result: Mapping[str, Any], *, command: str) -> Record:
    """Return a row of a table over several runs as a record, or its difference to another row.

    Args:
        folders: The runs, see `check_one_row`.
        result: As `tables.report` returns it.
        command: The command that has measured it.
    """
    against = result.get("against")
    ((label, row),) = result["rows" if against is None else "differences"].items()
    runs = [run for run in result["runs"] if run["row"] == label]
    return _measured(
        title=f"`{label}`" if against is None else f"`{label}` minus `{against}`",
        command=_with_training(folders, command),
        data=", ".join(dict.fromkeys(run["dataset"] for run in runs)),
        split=result["split"],
        seeds=[run["seed"] for run in runs],
        figures=unflatten({name: row[name] for name in result["metrics"]}, separator=" "),
        runs=_logs(folders),
    )


def _measured(*, figures: Mapping[str, Any], **values: Any) -> Record:
    """Return a record with today's date and a result's numbers, without its texts and examples."""
    numbers = {k: v for k, v in figures.items() if isinstance(v, Mapping | int | float)}
    empty: dict[str, Any] = {"seeds": [], "minutes": None, "checkpoint": None}
    return Record(**{**empty, **values}, commit=commit(), date=date.today(), figures=numbers)


def _logs(folders: Sequence[Path]) -> dict[str, list[records.RunLog]] | None:
    """Return the logs of the trainings that do not ship, by folder; None if there is none."""
    logs = {}
    for folder in dict.fromkeys(folders):
        if shipped_name(folder) is None and training_minutes(folder) is not None:
            command = cards.train_command(checkpoint.read_spec(folder), out=str(folder))
            logs[folder.name] = [records.read_log(folder, name=folder.name, command=command)]
    return logs or None


def _with_training(folders: Sequence[Path], command: str) -> str:
    """Return a command, preceded by those that train the checkpoints that do not ship."""
    commands = []
    for folder in dict.fromkeys(folders):
        spec = checkpoint.read_spec(folder)
        if shipped_name(folder) is None and not spec.members:
            commands.append(cards.train_command(spec, out=str(folder)))
    return " && ".join([*commands, command])


def _seeds(folders: Sequence[Path]) -> list[int]:
    """Return the seeds of checkpoints; for ensembles, those of their members."""
    specs = [checkpoint.read_spec(folder) for folder in folders]
    return [member.config.seed for spec in specs for member in spec.members or (spec,)]


def shipped_name(folder: Path) -> str | None:
    """Return the path of a checkpoint below checkpoints/, such as "flickr8k/gru"."""
    root, path = checkpoints_root().resolve(), folder.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else None


def commit() -> str | None:
    """Return the commit of this checkout, followed by "-dirty" if files differ from it.

    Results that were measured before and are not committed yet make no difference.
    """
    try:
        head = _git("rev-parse", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *EXCEPT_RESULTS)
    except (OSError, subprocess.CalledProcessError):  # no git, or an installed package
        return None
    return head + "-dirty" * bool(changed)


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return result.stdout.strip()
