"""Up to which violation an item counts as above another one: chosen on known relations of dev.

Nothing that lies beyond is listed or walked to. The limit is the largest at which the given share
of all pairs within it are true.
"""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets, relations
from vsdemo.data.relations import UNKNOWN
from vsdemo.encoders import TextEncoder
from vsdemo.evaluation.evaluate import load_photos
from vsdemo.evaluation.task import PhotoData
from vsdemo.models import checkpoint
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.limits import Limits

TEXTS, PHOTOS = 0.97, 0.75  # share of pairs within the limit that are true
MAX_TEXTS = 3000  # of which the model knows all words; evenly spaced


def calibrate(folder: Path, split: str = "dev") -> Limits | None:
    """Choose the limits of a checkpoint and store them.

    Returns:
        The limits; None for a model without an order of captions above photos, and for a data set
        without known relations.

    Raises:
        UserError: The checkpoint is damaged, or the photos are missing.
    """
    model, spec, _ = checkpoint.load(folder)
    order = model.score.order
    if order is None or order.reversed or model.image is None:
        return None
    if not relations.is_available(spec.dataset) or split not in datasets.splits(spec.dataset):
        return None
    limits = choose(model, load_photos(spec, split))
    checkpoint.save_limits(folder, limits)
    return limits


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
        texts=largest_limit(violations[0], of_texts, TEXTS),
        photos=largest_limit(violations[1], of_photos, PHOTOS),
    )


def _violations(model: DualEncoder, general: Embeddings, specific: Embeddings) -> np.ndarray:
    """Return E of all pairs, (G, S)."""
    order, part = model.score.order, model.score.order_part
    assert order is not None
    sides = Embeddings(part(general.x)), Embeddings(part(specific.x))
    result: np.ndarray = order.violation(*sides).numpy()
    return result


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
