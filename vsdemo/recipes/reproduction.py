"""Reproduce an experiment: train its models, measure them, and write its record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from tqdm import tqdm

from vsdemo import models
from vsdemo.core import events
from vsdemo.core.config import Config, override
from vsdemo.core.errors import UserError
from vsdemo.core.nested import unflatten
from vsdemo.core.paths import checkpoints_root
from vsdemo.evaluation import cards
from vsdemo.evaluation.evaluate import load_data
from vsdemo.evaluation.experiments import comparison
from vsdemo.evaluation.experiments.comparison import Estimate, RunResult
from vsdemo.evaluation.experiments.experiment import Experiment, Settings, Training
from vsdemo.evaluation.report import records
from vsdemo.evaluation.report.recording import commit
from vsdemo.evaluation.report.records import Record, RunLog
from vsdemo.evaluation.task import PairedTask
from vsdemo.evaluation.tasks import task
from vsdemo.models import checkpoint, ensemble
from vsdemo.training import materials
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.trainer import Trainer


@dataclass(frozen=True)
class RowResult:
    """What the trainings of a row gave.

    Args:
        results: Task -> the results of each training.
        logs: The log of each training.
        tried: The log of each training that only chose settings.
    """

    results: dict[str, list[RunResult]]
    logs: list[RunLog]
    tried: list[RunLog]


class Reproduction:
    """Trains and measures an experiment in a folder. What is there already is not repeated.

    Args:
        experiment: The experiment.
        out: Folder of its trainings.
        rows: Names of the rows to train; all by default.

    Raises:
        UserError: There is no such row.
    """

    def __init__(self, experiment: Experiment, out: Path, rows: Sequence[str] = ()) -> None:
        self.experiment, self.out = experiment, out
        self.rows = list(rows or experiment.rows)
        if unknown := [row for row in self.rows if row not in experiment.rows]:
            valid = ", ".join(experiment.rows)
            raise UserError(f"{experiment.name} has no row {unknown[0]!r}; use one of {valid}.")

    def train(self) -> None:
        """Run the trainings that are missing, one after the other.

        Raises:
            UserError: A training failed, or was stopped.
        """
        for row in self.rows:
            for training in self.experiment.tuning(row):
                self._train(training)
            for training in self.experiment.trainings(row, self.chosen(row)):
                self._train(training)

    def _train(self, training: Training) -> None:
        folder = self.out / training.name
        if self._events(training):
            return
        print(_command(training, folder), flush=True)
        data = training.data or None
        material = materials.create(training.preset, _config(training), dataset=data)
        if Trainer(folder, material).run() == "stopped":
            raise UserError(f"Stopped and saved in {folder}; run the same command to resume.")
        if training.is_measured:
            cards.finish(folder)

    def chosen(self, row: str) -> Settings:
        """Return the settings that are best on dev; none if nothing is tuned."""
        logs = [self._log(training) for training in self.experiment.tuning(row)]
        return self.experiment.best_choice(row, [max(log.dev.values()) for log in logs])

    def record(self) -> Record:
        """Measure all rows and return the record of the experiment.

        Raises:
            UserError: A training is missing.
        """
        experiment = self.experiment
        rows = {row: self._measure(row) for row in tqdm(experiment.rows, desc="rows", disable=None)}
        claims = {}
        for claim in experiment.claims:
            a, b = rows[claim.a].results, rows[claim.b].results
            claims[claim.name] = {
                name: _by_name(comparison.differences(a[name], b[name]))
                for name in sorted(claim.tasks)
            }
        figures = {
            row: {
                name: _by_name(comparison.estimates(runs)) for name, runs in result.results.items()
            }
            for row, result in rows.items()
        }
        logs = [log for result in rows.values() for log in (*result.tried, *result.logs)]
        return Record(
            title=experiment.title,
            command=experiment.command,
            data=", ".join(experiment.data) or None,
            split=experiment.split,
            seeds=list(experiment.seeds),
            commit=commit(),
            minutes=sum(log.minutes for log in logs),
            date=date.today(),
            checkpoint=None,
            figures={"rows": figures, "claims": claims},
            paper={"rows": {row: of_row.paper for row, of_row in experiment.rows.items()}},
            runs={row: [*result.tried, *result.logs] for row, result in rows.items()},
        )

    def _measure(self, row: str) -> RowResult:
        trained = self.experiment.rows[row].snapshots_of or row
        results: dict[str, list[RunResult]] = {name: [] for name in self.experiment.tasks}
        for training in self.experiment.trainings(trained, self.chosen(trained)):
            folder = self.out / training.name
            with nullcontext(folder) if row == trained else _ensemble(folder) as measured:
                for name, result in self._results(measured, training):
                    results[name].append(result)
        return RowResult(
            results=results,
            logs=[
                self._log(training) for training in self.experiment.trainings(row, self.chosen(row))
            ],
            tried=[self._log(training) for training in self.experiment.tuning(row)],
        )

    def _results(self, folder: Path, training: Training) -> Iterable[tuple[str, RunResult]]:
        """Return the results of the model in a folder, which comes from this training."""
        model, spec, _ = checkpoint.load(folder)
        for name in self.experiment.tasks:
            measured = cast(PairedTask, task(name))
            data = load_data(measured, spec, self.experiment.split)
            measurement = measured.measure(model, data)
            yield name, RunResult.of(measurement, training.data, spec.config.seed)

    def _events(self, training: Training) -> list[dict[str, Any]]:
        """Return the events of a training that is complete; none otherwise.

        Raises:
            UserError: Its folder holds a training with other settings.
        """
        folder = self.out / training.name
        log = list(events.read(folder / "events.jsonl"))
        is_done = any(event["kind"] == "done" for event in log)
        is_measured = (folder / checkpoint.METRICS).is_file()
        if not is_done or (training.is_measured and not is_measured):
            return []
        spec = checkpoint.read_spec(folder)
        if spec.config != _config(training) or training.data not in ("", spec.dataset):
            raise UserError(
                f"{folder} holds a training with other settings than {self.experiment.name} has "
                "now; remove it, or choose another --out."
            )
        return log

    def _log(self, training: Training) -> RunLog:
        """Return the log of a training.

        Raises:
            UserError: It is not complete.
        """
        folder = self.out / training.name
        if not self._events(training):
            raise UserError(f"{folder} is not trained yet; run `{self.experiment.command}`.")
        return records.read_log(
            folder,
            name=training.name,
            command=_command(training, Path("runs") / self.experiment.name / training.name),
            curves=self.experiment.curves,
        )

    @property
    def path(self) -> Path:
        """The file of the record."""
        return records.experiment_path(checkpoints_root(), self.experiment.name)


@contextmanager
def _ensemble(folder: Path) -> Iterator[Path]:
    """Yield the checkpoint of a training's two best snapshots together, in a temporary folder."""
    with TemporaryDirectory() as parent:
        combined = Path(parent) / folder.name
        ensemble.make([folder], combined)
        yield combined


def _config(training: Training) -> Config:
    return override(models.preset(training.preset)[1], training.settings)


def _command(training: Training, folder: Path) -> str:
    spec = JobSpec(training.preset, training.data or None, training.settings)
    return spec.command(folder)


def _by_name(estimates: dict[str, Estimate]) -> dict[str, Any]:
    rounded = {name: comparison.record_of(estimate) for name, estimate in estimates.items()}
    return unflatten(rounded, separator=" ")
