"""Several runs in one table: figures over seeded splits, and paired differences of its rows.

Runs of one preset with the same settings are a row, whatever the seeds of their weights and of
their split. The splits of a data set overlap, so that runs on them are not independent: the
intervals by Student's t are somewhat too narrow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from scipy.stats import t
from tqdm import tqdm

from vsdemo.core import markdown as md
from vsdemo.core.errors import UserError
from vsdemo.core.nested import flatten
from vsdemo.data import datasets
from vsdemo.evaluation import evaluate
from vsdemo.evaluation.metrics.ranks import DEEPER, RECALLS
from vsdemo.evaluation.tasks import task
from vsdemo.models import checkpoint
from vsdemo.models.checkpoint import Spec

TITLES = {
    **{f"r{k}": f"R@{k}" for k in RECALLS + DEEPER},
    "medr": "med r",
    "meanr": "mean r",
}
Rows = dict[str, dict[tuple[str, int], dict[str, float]]]  # label -> (data set, seed) -> figures
LEFT_OUT = {f"{way} r{k}" for way in ("i2t", "t2i") for k in DEEPER}  # as `evaluate.table` does


@dataclass(frozen=True)
class Run:
    """A measured checkpoint; its data set (with the seed of the split) and the seed of its weights
    tell it from the others of its row. figures: metric -> value."""

    checkpoint: str
    row: str
    dataset: str
    seed: int
    figures: dict[str, float]


def report(
    folders: Sequence[Path],
    split: str = "test",
    task_name: str = "retrieval",
    against: str | None = None,
) -> dict[str, Any]:
    """Measures checkpoints, each on its own data set's split, and sums them up by row.

    metrics: names of those that every run has; runs: as `Run`; rows: label -> n and `estimate` of
    each metric; with `against`, the label of a row, also differences: the same of every other row
    minus that one, over the pairs of runs with the same data set and seed.
    Raises UserError for several data sets, the same run twice, a label that is none, rows without
    a pair, and whatever `evaluate.evaluate` refuses.
    """
    specs = {folder: checkpoint.read_spec(folder) for folder in folders}
    names = sorted({datasets.base_name(spec.dataset) for spec in specs.values()})
    if len(names) > 1:
        raise UserError(f"A table is of one data set; give runs of one of {', '.join(names)}.")
    if against is not None:
        _check(against, [spec.label for spec in specs.values()])
    progress = tqdm(specs.items(), desc="runs", leave=False, disable=None)  # in a terminal only
    runs = [_measure(folder, spec, split, task_name) for folder, spec in progress]
    metrics = [m for m in runs[0].figures if all(m in run.figures for run in runs)]
    rows = grouped(runs)
    found: dict[str, Any] = {
        "split": split,
        "task": task_name,
        "metrics": metrics,
        "runs": [asdict(run) for run in runs],
        "rows": {name: _estimates([*row.values()], metrics) for name, row in rows.items()},
    }
    if against is not None:
        found |= {"against": against, "differences": differences(rows, against, metrics)}
    return found


def _check(against: str, labels: list[str]) -> None:
    rows = ", ".join(repr(name) for name in dict.fromkeys(labels))
    if against not in labels:
        raise UserError(f"There is no row {against!r} to compare with; valid are {rows}.")
    if len(set(labels)) == 1:
        raise UserError(f"There is only the row {rows}; give runs of another to compare with it.")


def _measure(folder: Path, spec: Spec, split: str, task_name: str) -> Run:
    found = evaluate.evaluate(folder, split, task_name=task_name)
    dataset = found.get("dataset", spec.dataset)  # a task of texts alone names none
    return Run(str(folder), spec.label, dataset, spec.config.seed, metrics_of(found))


def metrics_of(result: dict[str, Any]) -> dict[str, float]:
    """Return the metrics of a task's result by name, such as "i2t r1"; whole numbers are counts."""
    numbers = flatten(result, separator=" ")
    return {name: value for name, value in numbers.items() if isinstance(value, float)}


def grouped(runs: Sequence[Run]) -> Rows:
    """Sorts runs into rows. Raises UserError when a run comes twice, which would
    make a deviation too small."""
    first: dict[tuple[str, str, int], Run] = {}
    rows: Rows = {}
    for run in runs:
        twin = first.setdefault((run.row, run.dataset, run.seed), run)
        if twin is not run:
            raise UserError(
                f"{twin.checkpoint} and {run.checkpoint} are the same run: {run.row} on "
                f"{run.dataset}, seed {run.seed}; leave one out."
            )
        rows.setdefault(run.row, {})[run.dataset, run.seed] = run.figures
    return rows


def differences(rows: Rows, against: str, metrics: Sequence[str]) -> dict[str, Any]:
    """Row -> n pairs and `estimate` of each metric, of every other row minus the row `against`."""
    found, base = {}, rows[against]
    for name, row in rows.items():
        if name == against:
            continue
        gaps = [{m: row[key][m] - base[key][m] for m in metrics} for key in row if key in base]
        if not gaps:
            raise UserError(
                f"{name!r} and {against!r} have no run with the same data set and seed; "
                "train one, or leave the former out."
            )
        found[name] = _estimates(gaps, metrics)
    return found


def _estimates(figures: Sequence[dict[str, float]], metrics: Sequence[str]) -> dict[str, Any]:
    return {"n": len(figures), **{m: estimate([f[m] for f in figures]) for m in metrics}}


def estimate(values: Sequence[float]) -> dict[str, Any]:
    """mean; sd, the standard deviation (n - 1); ci95 of the mean by Student's t: [low, high].
    One value has neither of the latter: None."""
    middle, n = mean(values), len(values)
    if n == 1:
        return {"mean": middle, "sd": None, "ci95": None}
    sd = stdev(values)
    half = float(t.ppf(0.975, n - 1)) * sd / sqrt(n)
    return {"mean": middle, "sd": sd, "ci95": [middle - half, middle + half]}


def markdown(found: dict[str, Any]) -> str:
    """What `report` found as one Markdown table, or two; of a task that names figures as SHOWN
    only these."""
    shown = getattr(task(found["task"]), "SHOWN", found["metrics"])
    metrics = [m for m in found["metrics"] if m in shown and m not in LEFT_OUT]
    parts = [_table("runs", found["rows"], metrics, _with_deviation)]
    if "differences" in found:
        parts += [
            f"\nMinus `{found['against']}`, paired by data set and seed, with 95% intervals by "
            "Student's t;\nthey are somewhat too narrow where splits overlap.\n",
            _table("pairs", found["differences"], metrics, _with_interval),
        ]
    return "\n".join(parts)


def _table(
    unit: str, rows: dict[str, Any], metrics: list[str], cell: Callable[[dict[str, Any]], str]
) -> str:
    titles = [" ".join(TITLES.get(word, word) for word in m.split()) for m in metrics]
    lines = [
        [f"`{name}`", str(row["n"]), *(cell(row[m]) for m in metrics)] for name, row in rows.items()
    ]
    return md.table(["row", unit, *titles], lines)


def _with_deviation(found: dict[str, Any]) -> str:
    return f"{found['mean']:.1f}" + (f" ± {found['sd']:.1f}" if found["sd"] is not None else "")


def _with_interval(found: dict[str, Any]) -> str:
    between = " ({:.1f} to {:.1f})".format(*found["ci95"]) if found["ci95"] else ""
    return f"{found['mean']:+.1f}{between}"
