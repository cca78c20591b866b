"""Several runs in one table: metrics over seeded splits, and paired differences between rows.

Runs of one preset with the same settings are a row, whatever the seeds of their weights and of
their split. The splits of a data set overlap, so that runs on them are not independent: the
intervals by Student's t are somewhat too narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import mean, stdev
from typing import Any

from scipy.special import stdtrit
from tqdm import tqdm

from vsdemo.core import markdown as md
from vsdemo.core.errors import UserError
from vsdemo.core.nested import flatten
from vsdemo.core.paths import AnyPath
from vsdemo.data import datasets
from vsdemo.evaluation import evaluate
from vsdemo.evaluation.metrics.ranks import DEEPER_RECALLS, RECALLS
from vsdemo.evaluation.tasks import task
from vsdemo.models import checkpoint
from vsdemo.models.checkpoint import Spec

TITLES = {f"r{k}": f"R@{k}" for k in RECALLS + DEEPER_RECALLS}
TITLES |= {"medr": "med r", "meanr": "mean r"}

Metrics = Mapping[str, float]  # name, such as "i2t r1" -> value
Rows = dict[str, dict[tuple[str, int], Metrics]]  # label -> (data set, seed) -> metrics


@dataclass(frozen=True)
class Run:
    """A measured checkpoint.

    Its data set (with the seed of the split) and the seed of its weights distinguish it from the
    others of its row.
    """

    checkpoint: str
    row: str
    dataset: str
    seed: int
    metrics: Metrics

    def record(self) -> dict[str, Any]:
        """Return the run for JSON."""
        return {
            "checkpoint": self.checkpoint,
            "row": self.row,
            "dataset": self.dataset,
            "seed": self.seed,
            "figures": dict(self.metrics),
        }


def report(
    folders: Sequence[AnyPath],
    split: str = "test",
    task_name: str = "retrieval",
    against: str | None = None,
) -> dict[str, Any]:
    """Measure checkpoints, each on its own data set's split, and summarise them by row.

    Args:
        folders: The checkpoints.
        split: Name of the split.
        task_name: Name of the task.
        against: Label of a row that the others are compared with.

    Returns:
        metrics: names of those that every run has; runs: as `Run.record`; rows: label -> n and
        `estimate` of each metric; with `against` also differences: the same for every other row
        minus that one, over the pairs of runs with the same data set and seed.

    Raises:
        UserError: The runs are of several data sets, one is given twice, there is no row
            `against`, rows have no pair, or a checkpoint cannot be measured.
    """
    specs = {folder: checkpoint.read_spec(folder) for folder in folders}
    names = sorted({datasets.base_name(spec.dataset) for spec in specs.values()})
    if len(names) > 1:
        raise UserError(f"A table is about one data set; give runs of one of {', '.join(names)}.")
    if against is not None:
        _check_row(against, [spec.label for spec in specs.values()])
    progress = tqdm(specs.items(), desc="runs", leave=False, disable=None)  # in a terminal only
    runs = [_measure(folder, spec, split, task_name) for folder, spec in progress]
    metrics = [name for name in runs[0].metrics if all(name in run.metrics for run in runs)]
    rows = group(runs)
    result: dict[str, Any] = {
        "split": split,
        "task": task_name,
        "metrics": metrics,
        "runs": [run.record() for run in runs],
        "rows": {label: _estimates([*row.values()], metrics) for label, row in rows.items()},
    }
    if against is not None:
        result |= {"against": against, "differences": differences(rows, against, metrics)}
    return result


def _check_row(against: str, labels: list[str]) -> None:
    rows = ", ".join(repr(label) for label in dict.fromkeys(labels))
    if against not in labels:
        raise UserError(f"There is no row {against!r} to compare with; use one of {rows}.")
    if len(set(labels)) == 1:
        raise UserError(f"There is only the row {rows}; give runs of another to compare with it.")


def _measure(folder: AnyPath, spec: Spec, split: str, task_name: str) -> Run:
    result = evaluate.evaluate(folder, split, task_name=task_name)
    return Run(
        checkpoint=str(folder),
        row=spec.label,
        dataset=result.get("dataset", spec.dataset),  # a task without photos names none
        seed=spec.config.seed,
        metrics=metrics_of(result),
    )


def metrics_of(result: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics of a task's result by name, such as "i2t r1"; whole numbers are counts."""
    numbers = flatten(result, separator=" ")
    return {name: value for name, value in numbers.items() if isinstance(value, float)}


def group(runs: Sequence[Run]) -> Rows:
    """Return the runs by row.

    Raises:
        UserError: A run occurs twice, which would make a deviation too small.
    """
    rows: Rows = {}
    first: dict[tuple[str, str, int], Run] = {}
    for run in runs:
        twin = first.setdefault((run.row, run.dataset, run.seed), run)
        if twin is not run:
            raise UserError(
                f"{twin.checkpoint} and {run.checkpoint} are the same run: {run.row} on "
                f"{run.dataset}, seed {run.seed}; leave one out."
            )
        rows.setdefault(run.row, {})[run.dataset, run.seed] = run.metrics
    return rows


def differences(rows: Rows, against: str, metrics: Sequence[str]) -> dict[str, Any]:
    """Return label -> n pairs and `estimate` of each metric, of every row minus `against`."""
    result, base = {}, rows[against]
    for label, row in rows.items():
        if label == against:
            continue
        gaps = [{m: row[key][m] - base[key][m] for m in metrics} for key in row if key in base]
        if not gaps:
            raise UserError(
                f"{label!r} and {against!r} have no run with the same data set and seed; "
                "train one, or leave the former out."
            )
        result[label] = _estimates(gaps, metrics)
    return result


def _estimates(runs: Sequence[Metrics], names: Sequence[str]) -> dict[str, Any]:
    return {"n": len(runs), **{name: estimate([run[name] for run in runs]) for name in names}}


def estimate(values: Sequence[float]) -> dict[str, Any]:
    """Return the mean of values, their standard deviation, and the interval of the mean.

    sd: with n - 1; ci95: [low, high] by Student's t. Both are None for a single value.
    """
    average, n = mean(values), len(values)
    if n == 1:
        return {"mean": average, "sd": None, "ci95": None}
    sd = stdev(values)
    half = float(stdtrit(n - 1, 0.975)) * sd / sqrt(n)
    return {"mean": average, "sd": sd, "ci95": [average - half, average + half]}


def markdown(result: Mapping[str, Any]) -> str:
    """Return the result of `report` as one Markdown table or two, with the task's columns."""
    columns = task(result["task"]).columns or result["metrics"]
    metrics = [name for name in result["metrics"] if name in columns]
    parts = [_table("runs", result["rows"], metrics, _mean_with_deviation)]
    if "differences" in result:
        parts += [
            f"\nMinus `{result['against']}`, paired by data set and seed, with 95% intervals by "
            "Student's t;\nthey are somewhat too narrow where splits overlap.\n",
            _table("pairs", result["differences"], metrics, _mean_with_interval),
        ]
    return "\n".join(parts)


def _table(
    unit: str, rows: dict[str, Any], metrics: list[str], cell: Callable[[dict[str, Any]], str]
) -> str:
    titles = [" ".join(TITLES.get(word, word) for word in name.split()) for name in metrics]
    lines = [
        [f"`{label}`", str(row["n"]), *(cell(row[name]) for name in metrics)]
        for label, row in rows.items()
    ]
    return md.table(["row", unit, *titles], lines)


def _mean_with_deviation(estimate: dict[str, Any]) -> str:
    deviation = f" ± {estimate['sd']:.1f}" if estimate["sd"] is not None else ""
    return f"{estimate['mean']:.1f}{deviation}"


def _mean_with_interval(estimate: dict[str, Any]) -> str:
    if not estimate["ci95"]:
        return f"{estimate['mean']:+.1f}"
    low, high = estimate["ci95"]
    return f"{estimate['mean']:+.1f} ({low:.1f} to {high:.1f})"
