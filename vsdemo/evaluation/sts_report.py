"""Sentence similarity, subset by subset: a table beside the paper's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from vsdemo.core import markdown as md
from vsdemo.core.errors import UserError
from vsdemo.evaluation import evaluate
from vsdemo.models import checkpoint

Figures = Mapping[str, Mapping[str, Any]]  # label of a model -> what the task `sts` found
COLUMNS = ("BOW (GloVe)", "InferSent", "char-GRU (Flickr8k)")
# Merckx & Frank 2019, Table 5: Pearson's r x 100
PAPER = {
    "STS12.MSRpar": (42.3, 40.0, 49.1),
    "STS12.MSRvid": (66.2, 83.6, 79.9),
    "STS12.SMTeuroparl": (48.4, 47.1, 57.3),
    "STS12.OnWN": (57.0, 64.5, 67.5),
    "STS12.SMTnews": (46.3, 60.7, 51.1),
    "STS13.FNWN": (38.2, 34.5, 23.8),
    "STS13.headlines": (63.4, 69.0, 67.3),
    "STS13.OnWN": (47.2, 73.1, 59.8),
    "STS14.deft-forum": (30.0, 47.5, 50.7),
    "STS14.deft-news": (65.0, 72.9, 67.8),
    "STS14.headlines": (58.7, 63.6, 61.6),
    "STS14.images": (62.4, 80.9, 81.4),
    "STS14.OnWN": (57.7, 77.3, 68.6),
    "STS14.tweet-news": (53.9, 75.3, 74.0),
    "STS15.answers-forums": (36.7, 61.3, 57.6),
    "STS15.answers-students": (63.6, 68.6, 68.8),
    "STS15.belief": (44.8, 71.8, 71.8),
    "STS15.headlines": (66.2, 69.6, 70.3),
    "STS15.images": (69.1, 85.5, 89.2),
    "STS16.answer-answer": (40.1, 62.0, 53.8),
    "STS16.headlines": (61.4, 68.8, 70.0),
    "STS16.plagiarism": (54.6, 80.8, 78.6),
    "STS16.postediting": (53.9, 82.3, 84.4),
    "STS16.question-question": (47.2, 63.3, 40.5),
    "STS-B": (64.7, 75.7, 72.2),
    "SICK-R": (79.9, 86.2, 81.5),
}


def report(
    folders: Sequence[Path], split: str = "test", sts_dir: Path | None = None
) -> dict[str, dict[str, Any]]:
    """What the task `sts` finds for each checkpoint, by its folder's name and its parent's.

    Raises UserError for a checkpoint that is given twice, and whatever `evaluate.evaluate` refuses.
    """
    labels = ["/".join(folder.resolve().parts[-2:]) for folder in folders]
    if twice := [label for label in labels if labels.count(label) > 1]:
        raise UserError(f"{twice[0]} is given twice; leave one out or rename its folder.")
    for folder in folders:  # before minutes of measuring
        checkpoint.read_spec(folder)
    found = {}
    for label, folder in zip(labels, folders, strict=True):
        figures = evaluate.evaluate(folder, split, task_name="sts", sts_dir=sts_dir)
        found[label] = {k: v for k, v in figures.items() if isinstance(v, dict)}
    return found


def markdown(found: Figures) -> str:
    """Pearson's r x 100 with its 95% interval as Markdown: a row a set, a column a model, then
    those of the paper."""
    sets = next(iter(found.values()))
    header = ["set", "pairs", *(f"`{label}`" for label in found), *COLUMNS]
    rows = []
    for name, figures in sets.items():
        cells = [_cell(of[name]) for of in found.values()]
        rows.append([name, f"{figures['n']:,}", *cells, *_paper(name, sets)])
    return md.table(header, rows)


def _cell(figures: Mapping[str, Any]) -> str:
    low, high = figures["ci95"]["pearson"]
    return f"{figures['pearson']:.1f} ({low:.1f} to {high:.1f})"


def _paper(name: str, sets: Mapping[str, Any]) -> list[str]:
    """The paper's figures; of years the means of its subsets, where it has all those here."""
    start = "STS" if name == "STS" else f"{name}."
    subsets = [s for s in sets if s.startswith(start) and "." in s and not s.endswith(".cosine")]
    wanted = [name] if name in PAPER else subsets
    if not wanted or not all(s in PAPER for s in wanted):
        return [""] * len(COLUMNS)
    columns = zip(*(PAPER[s] for s in wanted), strict=True)
    return [f"{sum(column) / len(wanted):.1f}" for column in columns]
