"""The lab: the papers' claims tested on Storybook, where the right answers are known.

Each claim is a metric with its 95% bootstrap interval over scenes and a verdict by rule. A claim
against chance `holds` where the interval lies above it, `does not hold` where it lies at or below
it, and is `not shown` otherwise. A claim that one group of models does better than others is judged
by the difference to the best of the others, paired over scenes: it `holds` where that interval lies
on the better side of 0, `does not hold` where it lies on the other or at 0, and is `not shown`
otherwise; where two metrics are judged it must hold in both, and fails in either. The others have
no verdict. Intervals are about other scenes, not about other trainings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from tqdm import tqdm

from vsdemo.core import markdown as md
from vsdemo.core.errors import UserError
from vsdemo.core.paths import AnyPath, checkpoints_root, to_path
from vsdemo.evaluation.claims import CLAIMS, GROUPS, Claim, Metric
from vsdemo.evaluation.evaluate import load_photos
from vsdemo.evaluation.metrics import bootstrap
from vsdemo.evaluation.metrics.bootstrap import Measurement
from vsdemo.evaluation.task import PairedTask
from vsdemo.evaluation.tasks import task
from vsdemo.models import checkpoint

RUNS = tuple(dict.fromkeys((m.task, m.split) for c in CLAIMS for m in (*c.judged, *c.beside)))
SPLITS = tuple(dict.fromkeys(split for _, split in RUNS))
RULE = """\
A claim holds where the 95% interval over scenes lies above chance (50, or 0 points above the best
baseline); where models are compared, where that of each difference to the best other one lies on
the better side of 0. Intervals are about other scenes, not about other trainings."""


class ModelResults:
    """Results of one model.

    Attributes:
        groups: The groups of models that it belongs to.
        measured: (task, split) -> measurement, for all of RUNS; without tasks on boxes where the
            model aligns no parts.
        metrics: Split -> task -> metrics with intervals.
    """

    def __init__(self, folder: Path, progress: Any) -> None:
        model, spec, _ = checkpoint.load(folder)
        can_align = model.score.can_align
        self.groups = [name for name, has in GROUPS.items() if has(model)]
        self.measured: dict[tuple[str, str], Measurement] = {}
        self.metrics: dict[str, dict[str, Any]] = {}
        data = {split: load_photos(spec, split, "storybook", boxes=can_align) for split in SPLITS}
        for name, split in RUNS:
            progress.update()
            measured_task = cast(PairedTask, task(name))
            if "boxes" in measured_task.needs and not can_align:
                continue
            measurement = measured_task.measure(model, data[split])
            self.measured[name, split] = measurement
            self.metrics.setdefault(split, {})[name] = bootstrap.with_intervals(measurement)

    def get(self, metric: Metric) -> dict[str, Any]:
        """Return value and ci95 of a metric."""
        return _read(self.metrics[metric.split][metric.task], metric)


def _read(metrics: Mapping[str, Any], metric: Metric) -> dict[str, Any]:
    value, interval = metrics, metrics["ci95"]
    for key in metric.key.split():
        value, interval = value[key], interval[key]
    return {"value": value, "ci95": interval}


def report(folders: Sequence[AnyPath] = ()) -> dict[str, Any]:
    """Test all claims on checkpoints.

    Args:
        folders: The checkpoints; those that ship for Storybook by default.

    Returns:
        claims: name -> the claim, its metrics, and a row for each model: value, ci95, verdict, the
        metrics `beside`, and where models are compared the model `with` and the `differences`.
        figures: model -> split -> task -> all metrics.

    Raises:
        UserError: There is no checkpoint, or one cannot be measured.
    """
    chosen = list(dict.fromkeys(map(to_path, folders))) or _shipped()
    with tqdm(total=len(chosen) * len(RUNS), desc="lab", leave=False, disable=None) as progress:
        results = {_name(folder): ModelResults(folder, progress) for folder in chosen}
    return {
        "claims": {claim.name: _test(claim, results) for claim in CLAIMS},
        "figures": {name: of_model.metrics for name, of_model in results.items()},
    }


def _shipped() -> list[Path]:
    folders = [f for f in checkpoint.shipped() if checkpoint.read_spec(f).dataset == "storybook"]
    if not folders:
        raise UserError(
            "There is no checkpoint of Storybook; train one with `python -m vsdemo train bow "
            "--data storybook --out runs/storybook --set crops=center` and give its folder."
        )
    return folders


def _name(folder: Path) -> str:
    root = checkpoints_root()
    return str(folder.relative_to(root) if folder.is_relative_to(root) else folder)


def _test(claim: Claim, results: Mapping[str, ModelResults]) -> dict[str, Any]:
    best = _best_other(claim, results)
    beside = (*claim.judged[1:], *claim.beside)
    rows: dict[str, dict[str, Any]] = {}
    for name, of_model in results.items():
        if (claim.metric.task, claim.metric.split) not in of_model.measured:
            rows[name] = {"verdict": "aligns no parts"}
            continue
        row = of_model.get(claim.metric)
        row["beside"] = {metric.title: of_model.get(metric) for metric in beside}
        row["verdict"] = ""
        if not claim.group:
            row["verdict"] = verdict([bound - claim.chance for bound in row["ci95"]])
        elif claim.group not in of_model.groups:
            pass
        elif best is None:
            row["verdict"] = "nothing to compare with"
        else:
            row |= {"with": best, **_compare(claim, of_model, results[best])}
        rows[name] = row
    return {
        "says": claim.text,
        "paper": claim.paper,
        "figure": claim.metric.title,
        "beside": [metric.title for metric in beside],
        "sort": claim.group,
        "rows": rows,
    }


def _best_other(claim: Claim, results: Mapping[str, ModelResults]) -> str | None:
    """Return the model outside the claim's group that does best; None if there is none."""
    if not claim.group:
        return None
    others = [name for name, of_model in results.items() if claim.group not in of_model.groups]
    last = claim.judged[-1]
    return max(others, key=lambda name: last.sign * results[name].get(last)["value"], default=None)


def _compare(claim: Claim, model: ModelResults, best: ModelResults) -> dict[str, Any]:
    differences, better = {}, []
    for metric in claim.judged:
        run = metric.task, metric.split
        gap = _read(bootstrap.difference(model.measured[run], best.measured[run]), metric)
        differences[metric.title] = gap
        better.append(sorted(metric.sign * bound for bound in gap["ci95"]))
    low, high = (min(bounds) for bounds in zip(*better, strict=True))
    return {"differences": differences, "verdict": verdict([low, high])}


def verdict(interval: Sequence[float]) -> str:
    """Return the verdict on an interval [low, high] of what should be above 0."""
    low, high = interval
    if low > 0:
        return "holds"
    return "does not hold" if high <= 0 else "not shown"


def markdown(result: Mapping[str, Any]) -> str:
    """Return the result of `report` as one Markdown table for each claim."""
    parts = [RULE]
    for claim in result["claims"].values():
        parts += [f"**{claim['says']}** ({claim['paper']})", _table(claim)]
    return "\n\n".join(parts)


def _table(claim: dict[str, Any]) -> str:
    titles = ["model", claim["figure"], *claim["beside"]]
    if claim["sort"]:
        titles.append("minus the best other")
    rows = []
    for name, row in claim["rows"].items():
        if "value" not in row:
            rows.append([f"`{name}`", *[""] * (len(titles) - 1), row["verdict"]])
            continue
        beside = [f"{metric['value']:.1f}" for metric in row["beside"].values()]
        cells = [f"`{name}`", _cell(row), *beside]
        if claim["sort"]:
            gaps = " and ".join(_cell(gap, "+") for gap in row.get("differences", {}).values())
            cells.append(f"{gaps}, `{row['with']}`" if gaps else "")
        rows.append([*cells, row["verdict"]])
    return md.table([*titles, "verdict"], rows)


def _cell(metric: Mapping[str, Any], sign: str = "") -> str:
    return bootstrap.cell(metric["value"], metric["ci95"], sign=sign, to=" to ")
