"""The largest violation at which an item counts as above another, chosen by true steps on dev.

Items beyond it are neither listed nor walked to. The limit is the largest at which the given share
of the steps up is true: steps from each text and each photo of dev, or from each lower concept of
the dev pairs, to the item listed first above it. Steps that are held out for test do not count.
"""

from __future__ import annotations

import numpy as np
import torch

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.paths import AnyPath, to_path
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets, relations
from vsdemo.data.pairs import hypernyms
from vsdemo.data.pairs.hypernyms import EdgeSet, Split
from vsdemo.evaluation import worlds
from vsdemo.evaluation.evaluate import load_photos
from vsdemo.evaluation.task import PhotoData
from vsdemo.hierarchy.order import CAPTION
from vsdemo.models import checkpoint
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.limits import Limits
from vsdemo.models.scores import Order

TEXTS, PHOTOS, CONCEPTS = 0.85, 0.7, 0.985  # shares of the steps from these that are true
OF_CAPTIONS = 0.8  # the same for texts where rules decide what follows, as rules miss true steps
MAX_TEXTS = 3000  # texts that steps lead from; evenly spaced
MAX_CONCEPTS = 500  # concepts of the dev pairs; evenly spaced
NEAREST = 200  # concepts above each of them: far more than are within a limit


def calibrate(folder: AnyPath, split: str = "dev") -> Limits | None:
    """Choose the limits of a checkpoint and store them.

    Returns:
        The limits; None for a model without an order of captions above photos or of concepts, and
        for a data set without known relations.

    Raises:
        UserError: The checkpoint is damaged, or the photos or the concepts are missing.
    """
    folder = to_path(folder)
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
    """Return the limits of a model by the truths of a split."""
    truth = worlds.world(data.split)
    hierarchy, numbers = worlds.hierarchy_of(model, data, truth, worlds.known_texts(model, truth))
    texts = np.array([number for number in numbers if number >= 0])
    end = 1 + len(texts)  # after the root come texts, then photos
    depths = hierarchy.depths[1:end].numpy()
    is_caption = hierarchy.of_kind[CAPTION][1:end].numpy()
    sample = np.arange(len(texts))[:: -(-len(texts) // MAX_TEXTS)]

    x = Embeddings(hierarchy.x[1:end])
    chosen = x[torch.from_numpy(sample)]
    up, down = _both_ways(hierarchy.order, x, chosen)
    possible = (depths[:, None] < depths[sample]) & (up <= down)
    possible &= ~is_caption[:, None] | is_caption[sample]  # no caption above a concept
    costs = np.broadcast_to(-depths[:, None], up.shape)
    share = TEXTS if data.split.name in relations.EXACT else OF_CAPTIONS
    of_texts = steps_limit(
        np.where(possible, up, np.inf), costs, truth.follows[np.ix_(texts, texts[sample])], share
    )

    up, down = _both_ways(hierarchy.order, x, Embeddings(hierarchy.x[end:]))
    of_photos = steps_limit(
        np.where(up <= down, up, np.inf),
        np.broadcast_to(-depths[:, None], up.shape),
        truth.describes[texts],
        PHOTOS,
    )
    return Limits(texts=of_texts, photos=of_photos)


def choose_for_concepts(model: DualEncoder, split: Split) -> Limits:
    """Return the limit of a model of concepts by the training and dev pairs of a taxonomy."""
    count = len(split.taxonomy.names)
    dev = split.dev.pairs[split.dev.true]
    known = EdgeSet.of(np.concatenate([split.train, dev]), count)
    closure = EdgeSet.of(split.taxonomy.closure(), count)
    order, part = model.score.order, model.score.order_part
    assert order is not None
    x = Embeddings(part(model.encode_text([Sentence(name) for name in split.taxonomy.names]).x))
    depths = x.x.norm(dim=1).numpy()
    concepts = np.unique(dev[:, 1])
    concepts = concepts[:: -(-len(concepts) // MAX_CONCEPTS)]
    up, down = _both_ways(order, x, x[torch.from_numpy(concepts)])  # (C, S)
    up[(depths[:, None] >= depths[concepts]) | (up > down)] = np.inf
    nearest, rows = torch.from_numpy(up).topk(min(NEAREST, count), dim=0, largest=False)
    pairs = np.stack(np.broadcast_arrays(rows.numpy(), concepts), axis=-1)  # (K, S, 2)
    true, held_out = (edges.contains(pairs.reshape(-1, 2)) for edges in (known, closure))
    true, held_out = true.reshape(rows.shape), (held_out & ~true).reshape(rows.shape)
    violations = np.where(held_out, np.inf, nearest.numpy())
    return Limits(texts=steps_limit(violations, -depths[rows.numpy()], true, CONCEPTS))


def _both_ways(order: Order, x: Embeddings, y: Embeddings) -> tuple[np.ndarray, np.ndarray]:
    """Return E(x, y) and E(y, x), (X, Y) each."""
    return order.violation(x, y).numpy(), order.violation(y, x).T.numpy()


def steps_limit(
    violations: np.ndarray, costs: np.ndarray, true: np.ndarray, precision: float
) -> float:
    """Return the largest limit at which this share of the steps up is true; or -1.

    The step from an item leads to the text of lowest cost above it within the limit.

    Args:
        violations: E of texts and items, (G, S); infinite where no step is possible.
        costs: Costs of the same steps, (G, S).
        true: Whether a text lies above an item, (G, S).
        precision: The share, in 0..1.
    """
    order = np.argsort(violations, axis=0, kind="stable")  # texts by their violation
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
    last = np.append(ordered[1:] > ordered[:-1], True)[: len(ordered)]  # the last of equal limits
    within = np.flatnonzero((share >= precision) & last)
    return float(ordered[within[-1]]) if len(within) else -1.0
