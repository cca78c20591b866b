"""Sentences of tasks without photos: each embedded once, whatever the model knows of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.sentences import add_trees
from vsdemo.models.dual_encoder import DualEncoder


class Texts:
    """The embeddings of sentences by a model, in any order and as often as wanted.

    Raises UserError when one cannot be parsed for a model that needs trees, and where an embedding
    is not a number.
    """

    def __init__(self, model: DualEncoder, texts: Iterable[str]) -> None:
        unique = list(dict.fromkeys(texts))
        sentences = add_trees([Sentence(text) for text in unique], model.text.needs)
        self._row = {text: row for row, text in enumerate(unique)}
        self._found = model.encode_text(sentences)
        if self._found.x.isnan().any():
            raise UserError("Some embeddings are not numbers; the model's weights are damaged.")
        self._unknown = {s.text for s in sentences if not model.text.unknown(s)[0]}

    def of(self, texts: Sequence[str]) -> Embeddings:
        """The embeddings of N of the sentences, (N, D) or as sets (N, M, D)."""
        return self._found[torch.tensor([self._row[text] for text in texts])]

    def unknown(self, texts: Iterable[str]) -> int:
        """Of how many of these the model knows no word."""
        return sum(text in self._unknown for text in texts)


def points(embeddings: Embeddings) -> Tensor:
    """One point for each item, (N, D): the mean of those of a set, 0 where it is empty."""
    x, mask = embeddings.x.float(), embeddings.mask
    if mask is None:
        return x
    return (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)
