"""Bag of words: the mean word vector, then one linear layer."""

from __future__ import annotations

from torch import nn

from vsdemo.data.vocab import Vocab
from vsdemo.encoders.heads import Head
from vsdemo.encoders.words import WordEncoder, Words
from vsdemo.types import Embeddings


class BagOfWords(WordEncoder):
    """Sentences -> (N, D): W mean_t(x_t) + b, then the head (the baseline of Socher 2014)."""

    def __init__(
        self, vocab: Vocab, word_dim: int, dim: int, nonnegative: bool, dropout: float = 0.0
    ) -> None:
        super().__init__(vocab, word_dim)
        self.dim = dim
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(word_dim, dim)
        self.head = Head(nonnegative)

    def forward(self, batch: Words) -> Embeddings:
        mean = (self.table(batch.ids) * batch.mask).sum(1) / batch.mask.sum(1)  # (B, word_dim)
        return Embeddings(self.head(self.linear(self.dropout(mean))))
