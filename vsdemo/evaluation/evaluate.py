"""A checkpoint on a task: figures for the terminal, for metrics.json and for the model card."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from vsdemo.core import events
from vsdemo.core import markdown as md
from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.paths import write_text
from vsdemo.data import datasets
from vsdemo.evaluation.metrics import ranks
from vsdemo.evaluation.tasks import lengths, retrieval, sts, task
from vsdemo.models import checkpoint
from vsdemo.models.checkpoint import Spec
from vsdemo.models.dual_encoder import DualEncoder

_WAY = ("R@1", "R@5", "R@10", "med r", "mean r")
HEADER = ("split", f"i2t {_WAY[0]}", *_WAY[1:], f"t2i {_WAY[0]}", *_WAY[1:], "rsum")

LICENCES = {
    "flickr8k": "non-commercial research and education; cite Hodosh et al. 2013",
    "pascal1k": "Flickr's terms of use",
    "storybook": "MIT, as it is part of vsdemo",
}
VECTORS = """
Word vectors: first our own (PPMI and SVD) of captions of Flickr30k, without those of dev and test
photos of Flickr8k, and of the train split; then {how}. Licence of that text: non-commercial
research and education.
"""


def split_with_features(
    spec: Spec, split: str, dataset: str | None = None
) -> tuple[CaptionSet, torch.Tensor]:
    """A split and its photos' features, (P, F) or of regions (P, K, F), as the backbone of the
    checkpoint makes them."""
    checkpoint.check_photos(spec)
    found = datasets.load(dataset or spec.dataset, split)
    return found, checkpoint.feature_cache(spec).get(found.photos)


def boxes_of(spec: Spec, split: CaptionSet) -> torch.Tensor:
    """The boxes of the regions of a split's photos, (P, K, 4) in shares."""
    return checkpoint.feature_cache(spec).boxes(split.photos)


def evaluate(
    folder: Path,
    split: str = "test",
    dataset: str | None = None,
    task_name: str | None = None,
    folds: bool = False,
    sts_dir: Path | None = None,
) -> dict[str, Any]:
    """The figures of a checkpoint on a split; task and data set are its training's unless named.

    A task that is TEXT_ONLY has data of its own and needs neither photos nor a backbone. sts_dir:
    more data for the task `sts`, see `data.sts.years`.
    Raises UserError for a damaged checkpoint, missing data, another backbone's features, and
    options that are not for this task.
    """
    model, spec, _ = checkpoint.load(folder)
    task_name = task_name or spec.config.task
    measured = task(task_name)
    if folds and measured is not retrieval:
        raise UserError("Folds of 1,000 photos are a protocol of the task retrieval only.")
    if sts_dir and measured is not sts:
        raise UserError("A folder of STS is for the task sts only; leave --sts-dir out.")
    if hasattr(measured, "TEXT_ONLY"):
        if dataset:
            raise UserError(f"The task {task_name} has data of its own; leave --data out.")
        figures = measured.evaluate(model, split, **_own_data(measured, model, spec, sts_dir))
        return {"checkpoint": str(folder), "split": split, "task": task_name, **figures}
    options: dict[str, Any] = {"folds": True} if folds else {}
    if needs_boxes := hasattr(measured, "NEEDS_BOXES"):
        measured.check(model)  # before there are features
    found, features = split_with_features(spec, split, dataset)
    if needs_boxes:
        options["boxes"] = boxes_of(spec, found)
    return {
        "checkpoint": str(folder),
        "dataset": found.name,
        "split": split,
        "task": task_name,
        **measured.evaluate(model, found, features, **options),
    }


def _own_data(
    measured: ModuleType, model: DualEncoder, spec: Spec, sts_dir: Path | None
) -> dict[str, Any]:
    """What a task that is TEXT_ONLY is told of its data."""
    if not hasattr(measured, "OF_CONCEPTS"):
        return {"sts_dir": sts_dir} if sts_dir else {}
    measured.check(model)  # before its configuration is asked
    return {"dataset": spec.dataset, "learnt": spec.config.protocol}


def difference(a: Path, b: Path, split: str = "test", dataset: str | None = None) -> dict[str, Any]:
    """Retrieval and length-study figures of checkpoint a minus those of b, with paired intervals.

    Both are measured on the same split, by default of a's data set; their backbones and crops may
    differ.
    """
    dataset = dataset or checkpoint.read_spec(a).dataset
    by_photo, by_pair = [], []
    for folder in (a, b):
        model, spec, _ = checkpoint.load(folder)
        found, features = split_with_features(spec, split, dataset)
        by_photo.append(retrieval.ranks(model, *retrieval.encode(model, found, features)))
        by_pair.append(lengths.pair_ranks(model, found, features))
    gap = {k: by_pair[0][k] - by_pair[1][k] for k in by_pair[0]}
    return {
        "a": str(a),
        "b": str(b),
        "split": split,
        "retrieval": ranks.difference(*by_photo),
        "lengths": lengths.summary(gap),
    }


def matrices(folder: Path) -> list[dict[str, Any]]:
    """What a tree network composes with: each relation's (or position's) matrices, those of the
    largest Frobenius norm first (Socher 2014, section 6.7).

    norm: |W|; start: |1|, as matrices start near the identity, and change: |W - 1|; both None
    where they do not.
    Raises UserError for a model without such matrices.
    """
    model, spec, _ = checkpoint.load(folder)
    text: Any = model.text
    if not hasattr(text, "shape"):
        raise UserError(
            f"{spec.model} has no matrices of relations; a checkpoint of sdt_rnn or dt_rnn has."
        )
    rows = []
    for name, matrix in zip(text.shape.names, text.weights.detach().cpu(), strict=True):
        row = {"name": name, "norm": float(matrix.norm()), "start": None, "change": None}
        if matrix.shape[0] == matrix.shape[1]:
            first = torch.eye(len(matrix))
            row |= {"start": float(first.norm()), "change": float((matrix - first).norm())}
        rows.append(row)
    return sorted(rows, key=lambda row: -row["norm"])


def finish(folder: Path) -> dict[str, Any]:
    """Measures a trained checkpoint on dev and, where there is one, test; writes metrics.json and
    the model card."""
    dataset = checkpoint.read_spec(folder).dataset
    return report(folder, [s for s in ("dev", "test") if _has(dataset, s)], card)


def report(folder: Path, splits: Sequence[str], card: Callable[..., str]) -> dict[str, Any]:
    """Measures a checkpoint on splits; writes metrics.json, and what `card` makes of name, spec,
    figures by split and log."""
    spec = checkpoint.read_spec(folder)
    metrics = {s: evaluate(folder, s) for s in splits}
    for figures in metrics.values():
        del figures["checkpoint"]
    write_text(folder / "metrics.json", json.dumps(metrics, indent=1) + "\n")
    write_text(folder / "README.md", card(folder.name, spec, metrics, folder / "events.jsonl"))
    return metrics


def _has(dataset: str, split: str) -> bool:
    try:
        return bool(datasets.load(dataset, split).captions)
    except UserError:
        return False


def card(name: str, spec: Spec, metrics: dict[str, Any], log: Path) -> str:
    """The model card: data, command, seed, figures, licence."""
    licence = LICENCES.get(datasets.base_name(spec.dataset), "see the data set's own terms")
    how = spec.config.vectors
    vectors = "" if how == "learned" else VECTORS.format(how=how)
    return f"""---
library_name: vsdemo
tags: [visual-semantic-embeddings, image-retrieval]
---
# {name}

{_origin(name, spec, list(events.read(log)))}
Photo features: {spec.config.backbone} (weights {spec.backbone_hash}), crops `{spec.config.crops}`;
the backbone's weights are not part of this checkpoint.
{vectors}
Matrices are stored in half precision; the figures are of these.

{table(metrics)}

Recalls in percent with 95% bootstrap intervals over photos, all captions by correspondence list;
a tie counts half.

Licence of the training data: {licence}.
The checkpoint holds weights and a list of words, no sentence and no photo.
"""


def _origin(name: str, spec: Spec, log: list[dict[str, Any]]) -> str:
    """The card's paragraphs on how a checkpoint came about."""
    if spec.members:
        members = " ".join(next((e["members"] for e in log if "members" in e), ()))
        seeds = ", ".join(str(member.config.seed) for member in spec.members)
        shared = ", ".join(f"`{member.of}`" for member in spec.members if member.of)
        beside = f"\nWeights that are not here are read from {shared}." if shared else ""
        return f"""The {spec.preset} of vsdemo: the mean of its members' points, of length 1 again
where the score needs that. Members were trained on the train split of {spec.dataset} and chosen on
its dev split; seeds {seeds}.{beside}

    python -m vsdemo ensemble {members} --out {name}{" --share" if shared else ""}
"""
    settings = "".join(f" --set {k}={v}" for k, v in spec.changed.items())
    done = [e for e in log if e["kind"] == "done"]
    minutes = f"{done[-1]['seconds'] / 60:.1f} minutes" if done else "unknown"
    return f"""Preset `{spec.preset}` of vsdemo ({spec.model}),
trained on the train split of {spec.dataset}; the epoch was chosen on its dev split.

    python -m vsdemo train {spec.preset} --data {spec.dataset} --out {name}{settings}

Seed {spec.config.seed}; training and dev evaluations took {minutes} on {platform.machine()},
threads: {torch.get_num_threads()}.
"""


def table(metrics: dict[str, dict[str, Any]]) -> str:
    """Retrieval figures with intervals as a Markdown table, a row a split or model."""
    return md.table(HEADER, [_row(label, figures) for label, figures in metrics.items()])


def _row(label: str, figures: dict[str, Any]) -> list[str]:
    cells = [label]
    for way in ("i2t", "t2i"):
        for k in ranks.RECALLS:
            low, high = figures["ci95"][way][f"r{k}"]
            cells.append(f"{figures[way][f'r{k}']:.1f} ({low:.1f}-{high:.1f})")
        cells += [f"{figures[way]['medr']:.0f}", f"{figures[way]['meanr']:.1f}"]
    low, high = figures["ci95"]["rsum"]
    cells.append(f"**{figures['rsum']:.1f}** ({low:.1f}-{high:.1f})")
    return cells
