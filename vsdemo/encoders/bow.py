"""Bag of words: the mean word vector, then one linear layer."""

from __future__ import annotations

from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.heads import Head
from vsdemo.encoders.words import WordEncoder, Words


class BagOfWords(WordEncoder):
    """Sentences -> (N, D): W mean_t(x_t) + b, then the head (the baseline of Socher 2014).

    layer: (B, word_dim) -> (B, dim), in place of W and b. unit: whether results have length 1.
    """

    def __init__(
        self,
        vocab: Vocab,
        word_dim: int,
        dim: int,
        nonnegative: bool,
        dropout: float = 0.0,
        unit: bool = True,
        layer: nn.Module | None = None,
    ) -> None:
        super().__init__(vocab, word_dim)
        self.dim = dim
        self.dropout = nn.Dropout(dropout)
        self.linear = layer or nn.Linear(word_dim, dim)
        self.head = Head(nonnegative, unit)

    def mean(self, batch: Words) -> Tensor:
        """The mean word vector of each sentence, (B, word_dim)."""
        return (self.table(batch.ids) * batch.mask).sum(1) / batch.mask.sum(1)

    def forward(self, batch: Words) -> Embeddings:
        return Embeddings(self.head(self.linear(self.dropout(self.mean(batch)))))
