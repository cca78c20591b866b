"""Embeddings of the sentences of tasks without photos."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.sentences import add_trees
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.scores import Score

TINY = 1e-8


class TextEmbeddings:
    """The embeddings of sentences by a model, each computed once.

    Attributes:
        score: The score of the model.

    Args:
        model: Encodes the sentences.
        texts: The sentences, possibly repeated.

    Raises:
        UserError: A sentence cannot be parsed for a model that needs trees, or an embedding is NaN.
    """

    def __init__(self, model: DualEncoder, texts: Iterable[str]) -> None:
        unique = list(dict.fromkeys(texts))
        encoder: Any = model.text
        sentences = add_trees([Sentence(text) for text in unique], encoder.needs)
        self._row = {text: row for row, text in enumerate(unique)}
        self.score = model.score
        self._embeddings = model.encode_text(sentences)
        if self._embeddings.x.isnan().any():
            raise UserError("Some embeddings are NaN; the model's weights are damaged.")
        self._unknown = {s.text for s in sentences if not encoder.unknown(s)[0]}

    def of(self, texts: Sequence[str]) -> Embeddings:
        """Return the embeddings of N of the sentences, (N, D) or as sets (N, M, D)."""
        return self._embeddings[torch.tensor([self._row[text] for text in texts])]

    def count_unknown(self, texts: Iterable[str]) -> int:
        """Return in how many of these sentences the model knows no word."""
        return sum(text in self._unknown for text in texts)


def pooled(embeddings: Embeddings, score: Score) -> Tensor:
    """Return a vector for each item whose cosines say how similar items are, (N, D).

    It is the `angle_part` of a vector, or the mean of those of a set, 0 for an empty one.
    """
    parts = score.angle_part(embeddings.float().x)
    return parts if embeddings.mask is None else Embeddings(parts, embeddings.mask).mean()


def similarity(a: Embeddings, b: Embeddings, score: Score) -> Tensor:
    """Return how similar matching rows are, (N,): the cosine; for sets, the one of their parts.

        sim(A, B) = (c(A, B) + c(B, A)) / 2
        c(A, B) = sum_i |a_i| max_j cos(a_i, b_j) / sum_i |a_i|

    a_i and b_j are the parts, as `Score.angle_part` returns them. After Zhang et al., "BERTScore",
    ICLR 2020; the length of a part is its weight. An empty set has similarity 0 with any other.
    """
    if a.mask is None or b.mask is None:
        return F.cosine_similarity(pooled(a, score), pooled(b, score))
    x, y = score.angle_part(a.x.float()), score.angle_part(b.x.float())
    cosines = F.normalize(x, dim=-1) @ F.normalize(y, dim=-1).transpose(1, 2)
    cosines = cosines.masked_fill(~(a.mask[:, :, None] & b.mask[:, None]), -1.0)  # (N, I, J)
    both = (_weighted(cosines.amax(2), x) + _weighted(cosines.amax(1), y)) / 2
    return both * (a.mask.any(1) & b.mask.any(1))


def _weighted(best: Tensor, parts: Tensor) -> Tensor:
    """Return the means of numbers (N, K), weighted by the lengths of parts (N, K, D), (N,)."""
    weights = parts.norm(dim=-1)  # 0 where a part is missing
    mean: Tensor = (best * weights).sum(1) / weights.sum(1).clamp(min=TINY)
    return mean
