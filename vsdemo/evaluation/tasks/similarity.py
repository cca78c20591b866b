"""Similarity of sentences that describe the same photo (Socher 2014, section 6.1).

Each caption is a query and all other captions of the split are ranked; its rank is that of the
first one of the same photo. Captions without a fellow are ranked for others, but are no queries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.evaluation.metrics.ranks import best_ranks, bootstrap, summary
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "meanr"
CHUNK = 1000  # queries a block


def blocks(model: DualEncoder, captions: Embeddings) -> Iterator[tuple[slice, Tensor]]:
    """(queries, their scores with all captions (q, C)); a query never finds itself."""
    for start in range(0, len(captions), CHUNK):
        rows = slice(start, min(start + CHUNK, len(captions)))
        scores = model.score.neighbours(captions[rows], captions)
        numbers = torch.arange(rows.start, rows.stop)
        scores[numbers - rows.start, numbers] = -torch.inf
        yield rows, scores


def encode(model: DualEncoder, split: CaptionSet) -> Embeddings:
    """All captions. Raises UserError when no photo has two of them."""
    if max(map(len, split.captions_of), default=0) < 2:
        raise UserError(f"{split.name} has no photo with two captions, so none to compare.")
    return model.encode_text([Sentence(c) for c in split.captions])


def ranks(model: DualEncoder, split: CaptionSet) -> tuple[np.ndarray, np.ndarray]:
    """(rank, photo) of each caption that has a fellow, (Q,) each."""
    captions, owner = encode(model, split), torch.tensor(split.photo_of)
    found = []
    for rows, scores in blocks(model, captions):
        fellows = (owner[rows, None] == owner) & (scores > -torch.inf)
        asked = fellows.any(1)
        found.append(best_ranks(scores[asked], fellows[asked]))
    with_fellow = owner.bincount()[owner] > 1
    return torch.cat(found).numpy(), owner[with_fellow].numpy()


def evaluate(model: DualEncoder, split: CaptionSet, features: Tensor) -> dict[str, Any]:
    """The summary of the ranks, n_captions (that were ranked), ci95 over photos."""
    found, photo = ranks(model, split)
    photos, row = np.unique(photo, return_inverse=True)
    of_photo = [found[row == i] for i in range(len(photos))]

    def statistic(drawn: np.ndarray) -> dict[str, float]:
        return summary(np.concatenate([of_photo[i] for i in drawn]))

    interval = bootstrap(statistic, len(photos))
    return {**summary(found), "n_captions": len(split.captions), "ci95": interval}
