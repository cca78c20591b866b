"""Up to which violation an item counts as above another one: chosen on known relations of dev.

Nothing that lies beyond is listed or walked to. The limit is the largest at which the given share
of all pairs within it are true.

Of concepts these are all pairs of a concept and one of those below in the dev pairs. True pairs
that are held out for test do not count, neither as true nor as false.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets, relations
from vsdemo.data.pairs import hypernyms
from vsdemo.data.pairs.hypernyms import EdgeSet, Split
from vsdemo.data.relations import FALSE, TRUE, UNKNOWN
from vsdemo.encoders import TextEncoder
from vsdemo.evaluation.evaluate import load_photos
from vsdemo.evaluation.task import PhotoData
from vsdemo.models import checkpoint
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.limits import Limits

TEXTS, PHOTOS = 0.97, 0.75  # share of pairs within the limit that are true
OF_CAPTIONS = 0.95  # likewise, where relations are known by grammar, and some of them are wrong
CONCEPTS = 0.95  # likewise, of concepts
MAX_TEXTS = 3000  # of which the model knows all words; evenly spaced
MAX_CONCEPTS = 500  # of the dev pairs; evenly spaced
NEAREST = 200  # concepts above each of them: far more than are within a limit


def calibrate(folder: Path, split: str = "dev") -> Limits | None:
    """Choose the limits of a checkpoint and store them.

    Returns:
        The limits; None for a model without an order of captions above photos or of concepts, and
        for a data set without known relations.

    Raises:
        UserError: The checkpoint is damaged, or the photos or the concepts are missing.
    """
    model, spec, _ = checkpoint.load(folder)
    order = model.score.order
    if order is None or order.reversed:
        return None
    if "concepts" in model.text.needs:
        limits = choose_for_concepts(model, hypernyms.split(spec.config.protocol, spec.dataset))
    elif model.image is not None and _has_relations(spec.dataset, split):
        limits = choose(model, load_photos(spec, split))
    else:
        return None
    checkpoint.save_limits(folder, limits)
    return limits


def _has_relations(dataset: str, split: str) -> bool:
    return relations.is_available(dataset) and split in datasets.splits(dataset)


def choose(model: DualEncoder, data: PhotoData) -> Limits:
    """Return the limits of a model by the relations of a split."""
    known = relations.load(data.split)
    encoder = cast(TextEncoder, model.text)
    rows = [i for i, text in enumerate(known.texts) if not encoder.unknown(Sentence(text))[1]]
    texts = np.array(rows)[:: -(-len(rows) // MAX_TEXTS)]
    photos = np.arange(len(data.split.photos))
    general = model.encode_text([Sentence(known.texts[text]) for text in texts])
    violations = (
        _violations(model, general, general),
        _violations(model, general, model.encode_image(data.features)),
    )
    of_texts, of_photos = known.among_texts(texts, texts), known.above_photos(texts, photos)
    np.fill_diagonal(of_texts, UNKNOWN)  # a text lies above itself, whatever the model
    return Limits(
        texts=largest_limit(violations[0], of_texts, _precision(data.split.name)),
        photos=largest_limit(violations[1], of_photos, PHOTOS),
    )


def _precision(dataset: str) -> float:
    return TEXTS if dataset in relations.EXACT else OF_CAPTIONS


def choose_for_concepts(model: DualEncoder, split: Split) -> Limits:
    """Return the limit of a model of concepts by the training and dev pairs of a taxonomy."""
    count = len(split.taxonomy.names)
    dev = split.dev.pairs[split.dev.true]
    known = EdgeSet.of(np.concatenate([split.train, dev]), count)
    closure = EdgeSet.of(split.taxonomy.closure(), count)
    embeddings = model.encode_text([Sentence(name) for name in split.taxonomy.names])
    concepts = np.unique(dev[:, 1])
    concepts = concepts[:: -(-len(concepts) // MAX_CONCEPTS)]
    violations = _violations(model, embeddings, embeddings[torch.from_numpy(concepts)])  # (C, S)
    near, rows = torch.from_numpy(violations).topk(min(NEAREST, count), dim=0, largest=False)
    pairs = np.stack(np.broadcast_arrays(rows.numpy(), concepts), axis=-1).reshape(-1, 2)
    labels = np.where(closure.contains(pairs), UNKNOWN, FALSE)
    labels[known.contains(pairs)] = TRUE
    labels[pairs[:, 0] == pairs[:, 1]] = UNKNOWN  # a concept lies above itself, whatever the model
    return Limits(texts=largest_limit(near.numpy().ravel(), labels, CONCEPTS))


def _violations(model: DualEncoder, general: Embeddings, specific: Embeddings) -> np.ndarray:
    """Return E of all pairs, (G, S)."""
    order, part = model.score.order, model.score.order_part
    assert order is not None
    sides = Embeddings(part(general.x)), Embeddings(part(specific.x))
    result: np.ndarray = order.violation(*sides).numpy()
    return result


def steps_limit(
    violations: np.ndarray, costs: np.ndarray, true: np.ndarray, precision: float
) -> float:
    """Return the largest limit at which this share of the steps up is true; or -1.

    The step from an item leads to the text of least cost within the limit above it.

    Args:
        violations: E of texts and items, (G, S); infinite where no step is possible.
        costs: Of the same steps, (G, S).
        true: Whether a text lies above an item, (G, S).
        precision: In 0..1.
    """
    order = np.argsort(violations, axis=0, kind="stable")  # how texts come within the limit
    cost = np.take_along_axis(costs, order, axis=0)
    least = np.minimum.accumulate(cost, axis=0)
    before = np.vstack([np.full(cost.shape[1], np.inf), least[:-1]])
    at = np.take_along_axis(violations, order, axis=0)
    changes = (cost < before) & np.isfinite(at)  # the step leads to another text
    right = np.take_along_axis(true, order, axis=0).astype(np.int64)
    gain, first = np.zeros_like(right), np.zeros_like(right)
    for item in range(right.shape[1]):
        rows = np.flatnonzero(changes[:, item])
        gain[rows, item] = np.diff(right[rows, item], prepend=0)
        first[rows[:1], item] = 1
    limits = at[changes]
    by_limit = np.argsort(limits, kind="stable")
    ordered = limits[by_limit]
    share = np.cumsum(gain[changes][by_limit]) / np.cumsum(first[changes][by_limit])
    last = np.append(ordered[1:] > ordered[:-1], True)[: len(ordered)]  # of equal limits
    within = np.flatnonzero((share >= precision) & last)
    return float(ordered[within[-1]]) if len(within) else -1.0


def largest_limit(violations: np.ndarray, labels: np.ndarray, precision: float) -> float:
    """Return the largest violation up to which this share of the known pairs is true; or -1.

    Args:
        violations: Of pairs, of any shape.
        labels: `TRUE`, `FALSE` or `UNKNOWN` of the same pairs.
        precision: In 0..1.
    """
    known = labels != UNKNOWN
    order = np.argsort(violations[known], kind="stable")
    ordered, true = violations[known][order], labels[known][order] == relations.TRUE
    right = np.cumsum(true) / np.arange(1, len(true) + 1)
    last = np.append(ordered[1:] > ordered[:-1], True)  # of equal violations
    within = np.flatnonzero((right >= precision) & last)
    return float(ordered[within[-1]]) if len(within) else -1.0
