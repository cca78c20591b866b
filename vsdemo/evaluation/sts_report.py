"""Sentence similarity by subset, next to the paper's results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import atanh, sqrt, tanh
from pathlib import Path
from typing import Any

from vsdemo.core import markdown as md
from vsdemo.core.errors import UserError
from vsdemo.data.pairs.contamination import CLEAN
from vsdemo.evaluation import evaluate
from vsdemo.evaluation.metrics import bootstrap
from vsdemo.models import checkpoint

Results = Mapping[str, Mapping[str, Any]]  # label of a model -> metrics of each set
COLUMNS = ("BOW (GloVe)", "InferSent", "char-GRU (Flickr8k)", "char-GRU (COCO)")
# Merckx & Frank 2019, Table 5: Pearson's r x 100
PAPER = {
    "STS12.MSRpar": (42.3, 40.0, 49.1, 37.6),
    "STS12.MSRvid": (66.2, 83.6, 79.9, 82.7),
    "STS12.SMTeuroparl": (48.4, 47.1, 57.3, 54.2),
    "STS12.OnWN": (57.0, 64.5, 67.5, 65.5),
    "STS12.SMTnews": (46.3, 60.7, 51.1, 38.7),
    "STS13.FNWN": (38.2, 34.5, 23.8, 23.2),
    "STS13.headlines": (63.4, 69.0, 67.3, 64.9),
    "STS13.OnWN": (47.2, 73.1, 59.8, 58.5),
    "STS14.deft-forum": (30.0, 47.5, 50.7, 51.5),
    "STS14.deft-news": (65.0, 72.9, 67.8, 65.3),
    "STS14.headlines": (58.7, 63.6, 61.6, 60.0),
    "STS14.images": (62.4, 80.9, 81.4, 88.2),
    "STS14.OnWN": (57.7, 77.3, 68.6, 68.1),
    "STS14.tweet-news": (53.9, 75.3, 74.0, 69.6),
    "STS15.answers-forums": (36.7, 61.3, 57.6, 49.4),
    "STS15.answers-students": (63.6, 68.6, 68.8, 67.1),
    "STS15.belief": (44.8, 71.8, 71.8, 66.5),
    "STS15.headlines": (66.2, 69.6, 70.3, 67.1),
    "STS15.images": (69.1, 85.5, 89.2, 88.1),
    "STS16.answer-answer": (40.1, 62.0, 53.8, 47.8),
    "STS16.headlines": (61.4, 68.8, 70.0, 65.4),
    "STS16.plagiarism": (54.6, 80.8, 78.6, 75.8),
    "STS16.postediting": (53.9, 82.3, 84.4, 79.7),
    "STS16.question-question": (47.2, 63.3, 40.5, 49.9),
    "STS-B": (64.7, 75.7, 72.2, 70.7),
    "SICK-R": (79.9, 86.2, 81.5, 82.7),
}
PAIRS = {  # Table 1; of STS-B and SICK-R those of their test splits
    "STS12.MSRpar": 750,
    "STS12.MSRvid": 750,
    "STS12.SMTeuroparl": 459,
    "STS12.OnWN": 750,
    "STS12.SMTnews": 399,
    "STS13.FNWN": 189,
    "STS13.headlines": 750,
    "STS13.OnWN": 561,
    "STS14.deft-forum": 450,
    "STS14.deft-news": 300,
    "STS14.headlines": 750,
    "STS14.images": 750,
    "STS14.OnWN": 750,
    "STS14.tweet-news": 750,
    "STS15.answers-forums": 375,
    "STS15.answers-students": 750,
    "STS15.belief": 375,
    "STS15.headlines": 750,
    "STS15.images": 750,
    "STS16.answer-answer": 254,
    "STS16.headlines": 249,
    "STS16.plagiarism": 230,
    "STS16.postediting": 244,
    "STS16.question-question": 209,
    "STS-B": 1379,
    "SICK-R": 4927,
}


def interval(pearson: float, pairs: int) -> tuple[float, float]:
    """Return the 95% interval of a correlation by Fisher's transformation.

    Args:
        pearson: r x 100.
        pairs: Number of pairs.

    Returns:
        Its bounds, times 100; close to those of the paper's Table 5.
    """
    half = 1.96 / sqrt(pairs - 3)
    centre = atanh(pearson / 100)
    return 100 * tanh(centre - half), 100 * tanh(centre + half)


def is_higher(a: float, b: float, pairs: int) -> bool:
    """Return whether r x 100 of a model is significantly higher than that of another one.

    It is if it lies above the 95% interval of the other, the rule that the paper does not state but
    that gives all its counts (section 4.3).
    """
    return a > interval(b, pairs)[1]


def report(
    folders: Sequence[Path], split: str = "test", sts_dir: Path | None = None
) -> dict[str, dict[str, Any]]:
    """Return the metrics of each checkpoint on the task `sts`.

    Args:
        folders: The checkpoints; their labels are the last two parts of their paths.
        split: dev or test.
        sts_dir: Folder with more years, see `data.pairs.sts.load_years`.

    Raises:
        UserError: A checkpoint is given twice, or cannot be measured.
    """
    labels = ["/".join(folder.resolve().parts[-2:]) for folder in folders]
    if repeated := [label for label in labels if labels.count(label) > 1]:
        raise UserError(f"{repeated[0]} is given twice; leave one out or rename its folder.")
    for folder in folders:  # before minutes of measuring
        checkpoint.read_spec(folder)
    options = {"sts_dir": sts_dir} if sts_dir else {}
    result = {}
    for label, folder in zip(labels, folders, strict=True):
        metrics = evaluate.evaluate(folder, split, task_name="sts", options=options)
        result[label] = {name: value for name, value in metrics.items() if isinstance(value, dict)}
    return result


def markdown(results: Results) -> str:
    """Return the result of `report` as a Markdown table."""
    return table({f"`{label}`": metrics for label, metrics in results.items()})


def table(results: Results) -> str:
    """Return Pearson's r x 100 with its 95% interval as a Markdown table.

    A row for each set, a column for each model, then those of the paper.

    Args:
        results: Title of a column -> metrics of each set.
    """
    first = next(iter(results.values()))
    sets = {name: first[name] for name in _in_order(first)}
    header = ["set", "pairs", *results, *COLUMNS]
    rows = []
    for name, metrics in sets.items():
        cells = [_cell(of_model[name], metrics["n"]) for of_model in results.values()]
        rows.append([name, f"{metrics['n']:,}", *cells, *_paper(name, sets)])
    return md.table(header, rows)


def _in_order(metrics: Mapping[str, Any]) -> list[str]:
    """Return the names of the sets, each followed by its clean part."""
    names = [name for name, of_set in metrics.items() if isinstance(of_set, Mapping)]
    return sorted(names, key=lambda name: names.index(name.removesuffix(CLEAN)))


def _cell(metrics: Mapping[str, Any], pairs: int) -> str:
    """Return a correlation with its interval, and the number of pairs if it is another one."""
    correlation = bootstrap.cell(metrics["pearson"], metrics["ci95"]["pearson"], to=" to ")
    return correlation if metrics["n"] == pairs else f"{correlation}, {metrics['n']:,} pairs"


def _paper(name: str, sets: Mapping[str, Any]) -> list[str]:
    """Return the paper's results; for years the means of their subsets, if all were measured."""
    start = "STS" if name == "STS" else f"{name}."
    subsets = [
        s for s in sets if s.startswith(start) and "." in s and not s.endswith((".cosine", CLEAN))
    ]
    wanted = [name] if name in PAPER else subsets
    if not wanted or not all(s in PAPER for s in wanted):
        return [""] * len(COLUMNS)
    columns = zip(*(PAPER[s] for s in wanted), strict=True)
    return [f"{sum(column) / len(wanted):.1f}" for column in columns]
