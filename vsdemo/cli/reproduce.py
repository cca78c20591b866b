"""`reproduce`: the experiments behind the page of results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vsdemo.cli.output import print_table

if TYPE_CHECKING:
    from vsdemo.evaluation.experiments.experiment import Experiment


def reproduce(
    experiment: Annotated[
        str | None, typer.Argument(help="Name of the experiment; without it, all are listed.")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder of the trainings; finished ones are not repeated.")
    ] = Path("runs"),
    rows: Annotated[
        list[str] | None, typer.Option("--row", help="Train only this row; repeatable.")
    ] = None,
    *,
    train: Annotated[bool, typer.Option("--train", help="Train only, measure nothing.")] = False,
) -> None:
    """Train and measure an experiment of the papers, and write its record for `report`.

    Ctrl-C saves and stops; the same command resumes.
    """
    from vsdemo.evaluation.experiments import experiment as experiments
    from vsdemo.evaluation.report import records
    from vsdemo.recipes.reproduction import Reproduction

    if experiment is None:
        header = ("experiment", "trainings", "measured", "what")
        print_table([_summary(each) for each in experiments.load_all()], header=header)
        return
    chosen = experiments.load(experiment)
    reproduction = Reproduction(chosen, out / chosen.name, rows or [])
    reproduction.train()
    if train or rows:
        return
    records.write(reproduction.path, reproduction.record())
    print(reproduction.path)


def _summary(experiment: Experiment) -> tuple[str, str, str, str]:
    from vsdemo.core.paths import checkpoints_root
    from vsdemo.evaluation.report import records

    rows = experiment.rows
    count = sum(len(experiment.tuning(row)) + len(experiment.trainings(row)) for row in rows)
    path = records.experiment_path(checkpoints_root(), experiment.name)
    measured = str(records.read(path).date) if path.is_file() else "no"
    return experiment.name, str(count), measured, experiment.title
