"""The lab: the papers' claims tested on Storybook, where the right answers are known.

Each claim is a figure with its 95% bootstrap interval over scenes and a verdict by rule. A claim
against chance `holds` where the interval lies above it, `does not hold` where it lies at or below
it, and is `not shown` else. A claim that one sort of model does better than others is judged by
the difference to the best of the others, paired over scenes: it `holds` where that interval lies
on the better side of 0, `does not hold` where it lies on the other or at 0, and is `not shown`
else; where two figures are judged it must hold in both, and fails in either. The others have no
verdict. Intervals speak of other scenes, not of other trainings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from vsdemo.core import markdown as md
from vsdemo.core.errors import UserError
from vsdemo.core.paths import checkpoints_root
from vsdemo.evaluation.claims import CLAIMS, SORTS, Claim, Figure
from vsdemo.evaluation.evaluate import boxes_of, split_with_features
from vsdemo.evaluation.metrics import ranks
from vsdemo.evaluation.tasks import task
from vsdemo.models import checkpoint

RUNS = tuple(dict.fromkeys((f.task, f.split) for c in CLAIMS for f in (*c.judged, *c.beside)))
SPLITS = tuple(dict.fromkeys(split for _, split in RUNS))
RULE = """\
A claim holds where the 95% interval over scenes lies above chance (50, or 0 points above a guess);
where models are compared,
where that of each difference to the best other one lies on the better side of 0. Intervals speak
of other scenes, not of other trainings."""


class Results:
    """One model's results: sorts, and by (task, split) what was measured: all of RUNS, but for
    tasks of alignments where it aligns nothing."""

    def __init__(self, folder: Path, progress: tqdm[Any]) -> None:
        model, spec, _ = checkpoint.load(folder)
        self.sorts = [name for name, is_one in SORTS.items() if is_one(model)]
        self.measured: dict[tuple[str, str], ranks.Measured] = {}
        self.figures: dict[str, dict[str, Any]] = {}
        splits = {s: split_with_features(spec, s, "storybook") for s in SPLITS}
        for name, split in RUNS:
            progress.update()
            needs_boxes = hasattr(task(name), "NEEDS_BOXES")
            if needs_boxes and not hasattr(model.score, "align"):
                continue
            where = (boxes_of(spec, splits[split][0]),) if needs_boxes else ()
            self.measured[name, split] = task(name).measure(model, *splits[split], *where)
            figures = ranks.with_intervals(self.measured[name, split])
            self.figures.setdefault(split, {})[name] = figures

    def get(self, figure: Figure) -> dict[str, Any]:
        """value and ci95: [low, high]."""
        return _read(self.figures[figure.split][figure.task], figure)


def _read(figures: Mapping[str, Any], figure: Figure) -> dict[str, Any]:
    value, interval = figures, figures["ci95"]
    for key in figure.metric.split():
        value, interval = value[key], interval[key]
    return {"value": value, "ci95": interval}


def report(folders: Sequence[Path] = ()) -> dict[str, Any]:
    """Tests all claims on checkpoints, by default those that ship for Storybook.

    claims: name -> what is claimed, its figures and a row a model: value, ci95, verdict, the
    figures beside, and where models are compared the one it is compared `with` and the
    `differences` by figure.
    figures: model -> split -> task -> all that was measured.
    Raises UserError where there is no checkpoint, and whatever `evaluate` refuses.
    """
    folders = list(dict.fromkeys(folders)) or _shipped()
    with tqdm(total=len(folders) * len(RUNS), desc="lab", leave=False, disable=None) as progress:
        found = {_name(folder): Results(folder, progress) for folder in folders}
    return {
        "claims": {claim.name: _tested(claim, found) for claim in CLAIMS},
        "figures": {name: results.figures for name, results in found.items()},
    }


def _shipped() -> list[Path]:
    folders = [f for f in checkpoint.shipped() if checkpoint.read_spec(f).dataset == "storybook"]
    if not folders:
        raise UserError(
            "No checkpoint of Storybook is here; train one with `python -m vsdemo train bow --data "
            "storybook --out runs/storybook --set crops=center` and give its folder."
        )
    return folders


def _name(folder: Path) -> str:
    root = checkpoints_root()
    return str(folder.relative_to(root) if folder.is_relative_to(root) else folder)


def _tested(claim: Claim, found: Mapping[str, Results]) -> dict[str, Any]:
    others = [n for n, r in found.items() if claim.sort not in r.sorts] if claim.sort else []
    last = claim.judged[-1]
    best = max(others, key=lambda n: last.sign * found[n].get(last)["value"], default=None)
    beside = (*claim.judged[1:], *claim.beside)
    told = {"says": claim.says, "paper": claim.paper, "figure": claim.figure.title}
    run, rows = (claim.figure.task, claim.figure.split), {}
    for name, results in found.items():
        if run not in results.measured:
            rows[name] = {"verdict": "aligns nothing"}
            continue
        more = {f.title: results.get(f) for f in beside}
        rows[name] = {**results.get(claim.figure), "beside": more, "verdict": ""}
        if not claim.sort:
            rows[name]["verdict"] = verdict([v - claim.chance for v in rows[name]["ci95"]])
        elif claim.sort in results.sorts and best is None:
            rows[name]["verdict"] = "nothing to compare with"
        elif claim.sort in results.sorts:
            rows[name] |= {"with": best, **_compared(claim, results, found[best])}
    return {**told, "beside": [f.title for f in beside], "sort": claim.sort, "rows": rows}


def _compared(claim: Claim, one: Results, best: Results) -> dict[str, Any]:
    gaps = {}
    for figure in claim.judged:
        run = figure.task, figure.split
        gap = ranks.difference(one.measured[run], best.measured[run])
        gaps[figure.title] = _read(gap, figure)
    signs = zip(claim.judged, gaps.values(), strict=True)
    better = [sorted(figure.sign * v for v in gap["ci95"]) for figure, gap in signs]
    return {
        "differences": gaps,
        "verdict": verdict([min(bounds) for bounds in zip(*better, strict=True)]),
    }


def verdict(interval: Sequence[float]) -> str:
    """Of an interval [low, high] of what should be above 0."""
    low, high = interval
    return "holds" if low > 0 else "does not hold" if high <= 0 else "not shown"


def markdown(found: dict[str, Any]) -> str:
    """What `report` found as one Markdown table a claim."""
    parts = [RULE]
    for claim in found["claims"].values():
        parts += [f"**{claim['says']}** ({claim['paper']})", _table(claim)]
    return "\n\n".join(parts)


def _table(claim: dict[str, Any]) -> str:
    titles = ["model", claim["figure"], *claim["beside"]]
    titles += ["minus the best other"] * bool(claim["sort"])
    lines = []
    for name, row in claim["rows"].items():
        if "value" not in row:
            lines.append([f"`{name}`", *[""] * (len(titles) - 1), row["verdict"]])
            continue
        cells = [f"`{name}`", _cell(row), *(f"{f['value']:.1f}" for f in row["beside"].values())]
        if claim["sort"]:
            gaps = " and ".join(_cell(gap, "+") for gap in row.get("differences", {}).values())
            cells.append(f"{gaps}, `{row['with']}`" if gaps else "")
        lines.append([*cells, row["verdict"]])
    return md.table([*titles, "verdict"], lines)


def _cell(found: dict[str, Any], sign: str = "") -> str:
    low, high = found["ci95"]
    return f"{found['value']:{sign}.1f} ({low:.1f} to {high:.1f})"
