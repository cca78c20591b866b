"""Scores of captions with each other, in blocks."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.models.dual_encoder import DualEncoder

CHUNK = 1000  # queries in a block


def encode(model: DualEncoder, split: CaptionSet) -> Embeddings:
    """Return the embeddings of all captions of a split.

    Raises:
        UserError: No photo has two captions.
    """
    if max(map(len, split.captions_of), default=0) < 2:
        raise UserError(f"{split.name} has no photo with two captions, so none to compare.")
    return model.encode_text([Sentence(caption) for caption in split.captions])


def blocks(model: DualEncoder, captions: Embeddings) -> Iterator[tuple[slice, Tensor]]:
    """Yield (numbers of Q captions, their scores with all C captions, (Q, C)).

    The score of a caption with itself is minus infinity.
    """
    for start in range(0, len(captions), CHUNK):
        rows = slice(start, min(start + CHUNK, len(captions)))
        scores = model.score.symmetric(captions[rows], captions)  # (Q, C)
        numbers = torch.arange(rows.start, rows.stop)
        scores[numbers - rows.start, numbers] = -torch.inf
        yield rows, scores
