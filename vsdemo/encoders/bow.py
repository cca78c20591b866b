"""Bags of words: encoders that do not read the order of words."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.heads import Head
from vsdemo.encoders.pooling import maximum
from vsdemo.encoders.words import SequenceEncoder, Words


class BagOfWords(SequenceEncoder):
    """The mean word vector through a linear layer, the baseline of Socher 2014, section 6.2.

        f(s) = head(W mean_t(x_t) + b)

    Args:
        vocab: The known words.
        word_dim: Length of a word vector.
        dim: Length D of the embeddings.
        head: Applied last; by default it normalises to length 1.
        dropout: Share of the mean vector set to 0.
        layer: (B, word_dim) -> (B, dim), used instead of W and b.
    """

    def __init__(
        self,
        vocab: Vocab,
        *,
        word_dim: int,
        dim: int,
        head: Head | None = None,
        dropout: float = 0.0,
        layer: nn.Module | None = None,
    ) -> None:
        super().__init__(vocab, word_dim)
        self.dim = dim
        self.dropout = nn.Dropout(dropout)
        self.linear = nn.Linear(word_dim, dim) if layer is None else layer
        self.head = Head() if head is None else head

    def mean(self, batch: Words) -> Tensor:
        """Average the word vectors of each sentence: (B, word_dim)."""
        vectors: Tensor = self.table(batch.ids) * batch.mask  # (B, T, word_dim)
        return vectors.sum(1) / batch.mask.sum(1)

    def forward(self, batch: Words) -> Embeddings:
        """Embed a batch: (B, D)."""
        return Embeddings(self.head(self.linear(self.dropout(self.mean(batch)))))


class DeepSet(SequenceEncoder):
    """A network over the set of words (Zaheer et al., "Deep sets", NeurIPS 2017).

        h_t = max(0, A x_t + a)        f(s) = head(W (mean_t h_t + max_t h_t) + b)

    Args:
        vocab: The known words.
        word_dim: Length of a word vector.
        dim: Length D of the h_t and of the embeddings.
        head: Applied last; by default it normalises to length 1.
        dropout: Share of word vectors and of pooled h_t set to 0.
    """

    def __init__(
        self,
        vocab: Vocab,
        *,
        word_dim: int,
        dim: int,
        head: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab, word_dim)
        self.dim = dim
        self.hidden = nn.Linear(word_dim, dim)
        self.linear = nn.Linear(dim, dim)
        self.dropout = nn.Dropout(dropout)
        self.head = Head() if head is None else head

    def forward(self, batch: Words) -> Embeddings:
        """Embed a batch: (B, D)."""
        words = self.dropout(self.table(batch.ids))  # (B, T, word_dim)
        hidden = F.relu(self.hidden(words))  # (B, T, D)
        mean = (hidden * batch.mask).sum(1) / batch.mask.sum(1)
        pooled = self.dropout(mean + maximum(hidden, batch.mask))
        return Embeddings(self.head(self.linear(pooled)))
