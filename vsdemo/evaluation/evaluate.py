"""Measure a checkpoint on a task, or the difference between two checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.paths import AnyPath
from vsdemo.data import datasets
from vsdemo.data.pairs.contamination import normalized_all
from vsdemo.data.text.vectors import corpus_sentences
from vsdemo.evaluation.metrics import bootstrap
from vsdemo.evaluation.task import ConceptData, PhotoData, Result, SentenceData, Task
from vsdemo.evaluation.tasks import task
from vsdemo.evaluation.tasks.lengths import Lengths
from vsdemo.evaluation.tasks.retrieval import Retrieval
from vsdemo.models import checkpoint
from vsdemo.models.checkpoint import Spec
from vsdemo.vision.backbones.leaks import check_unseen


def evaluate(
    folder: AnyPath,
    split: str = "test",
    dataset: AnyPath | None = None,
    task_name: str | None = None,
    options: Mapping[str, Any] | None = None,
) -> Result:
    """Return the metrics of a checkpoint on a split.

    Args:
        folder: The checkpoint.
        split: Name of the split.
        dataset: Name of the data set; that of the training by default.
        task_name: Name of the task; that of the training by default.
        options: Values of options that the task declares.

    Raises:
        UserError: The checkpoint is damaged or not for this task, data are missing, features are
            from another backbone, or the task has no such option.
    """
    model, spec, _ = checkpoint.load(folder)
    measured = task(task_name or spec.config.task, **(options or {}))
    measured.check(model)
    data = load_data(measured, spec, split, dataset)
    result: Result = {"checkpoint": str(folder)}
    if isinstance(data, PhotoData):
        result["dataset"] = data.split.name
    return {**result, "split": split, "task": measured.name, **measured.evaluate(model, data)}


def load_data(
    measured: Task, spec: Spec, split: str, dataset: AnyPath | None = None
) -> PhotoData | SentenceData | ConceptData:
    """Return the data of a split that a task needs.

    Args:
        measured: The task.
        spec: Spec of the checkpoint, whose backbone reads the photos.
        split: Name of the split.
        dataset: Name of the data set; that of the training by default.

    Raises:
        UserError: Data are missing, or a data set is given to a task with its own data.
    """
    own = measured.own_photos()
    if "photos" in measured.needs and own is None:
        return load_photos(spec, split, dataset, boxes="boxes" in measured.needs)
    if dataset:
        raise UserError(f"The task {measured.name} has its own data; leave --data out.")
    if own is not None:
        return _photo_data(spec, own)
    if "concepts" in measured.needs:
        return ConceptData(split=split, dataset=spec.dataset, protocol=spec.config.protocol)
    if "seen" in measured.needs:
        return SentenceData(split, seen=normalized_all(_captions_read(spec)))
    return SentenceData(split)


def _captions_read(spec: Spec) -> Iterator[str]:
    """Yield the captions by people that a model learned from, as far as they are at hand."""
    if spec.dataset and not datasets.is_generated(spec.dataset):
        with suppress(UserError):  # it is missing, or has no captions
            yield from datasets.load(spec.dataset, "train").captions
    if spec.config.reads_other_captions:
        with suppress(UserError):
            yield from corpus_sentences()


def load_photos(
    spec: Spec, split: str, dataset: AnyPath | None = None, *, boxes: bool = False
) -> PhotoData:
    """Return a split and the features of its photos by the backbone of a checkpoint.

    Args:
        spec: Spec of the checkpoint.
        split: Name of the split.
        dataset: Name of the data set; that of the training by default.
        boxes: Whether to return the boxes of the regions, too.
    """
    checkpoint.check_photos(spec)  # before a data set is read or drawn
    name = str(dataset or spec.gallery)
    check_unseen(spec.network, name)
    return _photo_data(spec, datasets.load(name, split), boxes=boxes)


def _photo_data(spec: Spec, captions: CaptionSet, *, boxes: bool = False) -> PhotoData:
    checkpoint.check_photos(spec)
    cache = checkpoint.feature_cache(spec)
    readable, features, _ = cache.get_readable(captions)
    return PhotoData(
        split=readable,
        features=features,
        boxes=cache.boxes(readable.photos) if boxes else None,
    )


def difference(
    a: AnyPath, b: AnyPath, split: str = "test", dataset: AnyPath | None = None
) -> Result:
    """Return the metrics of checkpoint a minus those of b, with paired intervals.

    Both are measured on retrieval and on `lengths` on the same split, by default of a's data set;
    their backbones and crops may differ.
    """
    dataset = dataset or checkpoint.read_spec(a).dataset
    ranks, pair_ranks = [], []
    for folder in (a, b):
        model, spec, _ = checkpoint.load(folder)
        data = load_photos(spec, split, dataset)
        ranks.append(Retrieval().measure(model, data))
        pair_ranks.append(Lengths().measure(model, data))
    lengths = bootstrap.difference(pair_ranks[0], pair_ranks[1])
    return {
        "a": str(a),
        "b": str(b),
        "split": split,
        "retrieval": bootstrap.difference(ranks[0], ranks[1]),
        "lengths": {**lengths, "n_pairs": len(pair_ranks[0].photo)},
    }
