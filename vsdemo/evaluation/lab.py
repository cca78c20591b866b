"""The lab: the papers' claims tested on Storybook, where the right answers are known.

Each claim is a metric with its 95% bootstrap interval over scenes and a verdict by the rule of
`vsdemo.evaluation.verdicts`. A claim against chance is about how far the metric lies above it. A
claim that one group of models does better than others is judged by the difference, paired over
scenes, to the best of the others that learned by the same recipe: the same features, loss, batches,
word vectors and number of epochs (`RECIPE`). Models of other recipes are not compared, and the
others have no verdict. Intervals are about other scenes, not about other trainings; experiments
(`vsdemo.evaluation.experiments`) have several.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from tqdm import tqdm

from vsdemo.core import markdown as md
from vsdemo.core.config import Config
from vsdemo.core.errors import UserError
from vsdemo.core.paths import AnyPath, checkpoints_root, to_path
from vsdemo.evaluation.claims import CLAIMS, GROUPS, Claim, Metric
from vsdemo.evaluation.evaluate import load_photos
from vsdemo.evaluation.metrics import bootstrap
from vsdemo.evaluation.metrics.bootstrap import Measurement
from vsdemo.evaluation.task import PairedTask
from vsdemo.evaluation.tasks import task
from vsdemo.evaluation.verdicts import RULE, joint_verdict, verdict
from vsdemo.models import checkpoint

RUNS = tuple(dict.fromkeys((m.task, m.split) for c in CLAIMS for m in (*c.judged, *c.extra)))
SPLITS = tuple(dict.fromkeys(split for _, split in RUNS))
FREE = {"seed", "learning_rate", "margin", "temperature", "evaluate_every", "patience"}
RECIPE = tuple(name for name in Config.model_fields if name not in FREE)  # settings that must agree
NOTE = """\
The difference is from chance (50, or 0 points above the best baseline) or, where models are
compared, from the best other model of the same recipe. Intervals are about other scenes, not about
other trainings."""


class ModelResults:
    """Results of one model.

    Attributes:
        groups: The groups of models that it belongs to.
        recipe: The values of the settings in RECIPE.
        measured: (task, split) -> measurement, for all of RUNS; without tasks on boxes where the
            model aligns no parts.
        metrics: Split -> task -> metrics with intervals.
    """

    def __init__(self, folder: Path, progress: Any) -> None:
        model, spec, _ = checkpoint.load(folder)
        can_align = model.score.can_align
        self.groups = [name for name, has in GROUPS.items() if has(model)]
        self.recipe = [getattr(spec.config, name) for name in RECIPE]
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
        claims: name -> text, paper, group, the titles of the `figure` and of `extra` metrics, and
        rows: model -> value, ci95, verdict and `extra` metrics; where it is compared with another
        model also `compared_with` and `differences`.
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
    extra = (*claim.judged[1:], *claim.extra)
    rows: dict[str, dict[str, Any]] = {}
    for name, of_model in results.items():
        if (claim.metric.task, claim.metric.split) not in of_model.measured:
            rows[name] = {"verdict": "aligns no parts"}
            continue
        row = of_model.get(claim.metric)
        row["extra"] = {metric.title: of_model.get(metric) for metric in extra}
        row["verdict"] = ""
        if not claim.group:
            row["verdict"] = verdict([bound - claim.chance for bound in row["ci95"]])
        elif claim.group not in of_model.groups:
            pass
        elif (best := _best_other(claim, of_model, results)) is None:
            row["verdict"] = "no other model of its recipe"
        else:
            row |= {"compared_with": best, **_compare(claim, of_model, results[best])}
        rows[name] = row
    return {
        "text": claim.text,
        "paper": claim.paper,
        "figure": claim.metric.title,
        "extra": [metric.title for metric in extra],
        "group": claim.group,
        "rows": rows,
    }


def _best_other(
    claim: Claim, model: ModelResults, results: Mapping[str, ModelResults]
) -> str | None:
    """Return the model of the same recipe outside the claim's group that does best, if any."""
    others = [
        name
        for name, other in results.items()
        if claim.group not in other.groups and other.recipe == model.recipe
    ]
    last = claim.judged[-1]
    return max(others, key=lambda name: last.sign * results[name].get(last)["value"], default=None)


def _compare(claim: Claim, model: ModelResults, best: ModelResults) -> dict[str, Any]:
    differences, better = {}, []
    for metric in claim.judged:
        run = metric.task, metric.split
        gap = _read(bootstrap.difference(model.measured[run], best.measured[run]), metric)
        differences[metric.title] = gap
        better.append(sorted(metric.sign * bound for bound in gap["ci95"]))
    return {"differences": differences, "verdict": joint_verdict(better)}


def markdown(result: Mapping[str, Any]) -> str:
    """Return the result of `report` as one Markdown table for each claim."""
    parts = [f"{RULE} {NOTE}"]
    for claim in result["claims"].values():
        parts += [f"**{claim['text']}** ({claim['paper']})", _table(claim)]
    return "\n\n".join(parts)


def _table(claim: dict[str, Any]) -> str:
    titles = ["model", claim["figure"], *claim["extra"]]
    if claim["group"]:
        titles.append("minus the best other")
    rows = []
    for name, row in claim["rows"].items():
        if "value" not in row:
            rows.append([f"`{name}`", *[""] * (len(titles) - 1), row["verdict"]])
            continue
        extra = [f"{metric['value']:.1f}" for metric in row["extra"].values()]
        cells = [f"`{name}`", _cell(row), *extra]
        if claim["group"]:
            gaps = " and ".join(_cell(gap, "+") for gap in row.get("differences", {}).values())
            cells.append(f"{gaps}, `{row['compared_with']}`" if gaps else "")
        rows.append([*cells, row["verdict"]])
    return md.table([*titles, "verdict"], rows)


def _cell(metric: Mapping[str, Any], sign: str = "") -> str:
    return bootstrap.cell(metric["value"], metric["ci95"], sign=sign, to=" to ")
