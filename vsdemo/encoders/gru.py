"""A GRU over words."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.heads import Head
from vsdemo.encoders.pooling import maximum
from vsdemo.encoders.recurrent import initialise, run
from vsdemo.encoders.words import SequenceEncoder, Words

POOLINGS = ("last", "max", "mean")


class WordGRU(SequenceEncoder):
    """A GRU over words (Cho et al. 2014, as in Vendrov 2016, section 4.2).

        h_1 ... h_T = GRU(x_1 ... x_T)        f(s) = head(pool(h_1 ... h_T))

    With `lexical_dim` L, max_t V x_t is appended to the pooled states. These coordinates do not
    depend on the context of words, so leaving words out of a sentence never makes them larger.

    Args:
        vocab: The known words.
        word_dim: Length of a word vector.
        dim: Length D of the embeddings; D - L is that of the states.
        pooling: One of `POOLINGS`: the last state, or the maximum or mean over all states.
        bidirectional: Read in both directions, each with (D - L) / 2 units, and concatenate. The
            last state is then that after the last word of each direction.
        lexical_dim: L.
        head: Applied last; by default it normalises to length 1.
        dropout: Share of word vectors and of pooled states set to 0.

    Raises:
        UserError: If `bidirectional` and D - L is odd.
    """

    def __init__(  # noqa: PLR0913 -- hyperparameters, keyword-only
        self,
        vocab: Vocab,
        *,
        word_dim: int,
        dim: int,
        pooling: str = "last",
        bidirectional: bool = False,
        lexical_dim: int = 0,
        head: nn.Module | None = None,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab, word_dim)
        size = dim - lexical_dim
        if bidirectional and size % 2:
            raise UserError(
                f"A bidirectional GRU needs an even dim, not {size}; set dim to {dim + 1}."
            )
        self.dim = dim
        self.pooling = pooling
        units = size // 2 if bidirectional else size
        self.gru = nn.GRU(word_dim, units, batch_first=True, bidirectional=bidirectional)
        self.lexical = nn.Linear(word_dim, lexical_dim) if lexical_dim else None
        if self.lexical is not None:  # word vectors start small; different words should differ
            nn.init.normal_(self.lexical.weight)
        self.dropout = nn.Dropout(dropout)
        self.head = Head() if head is None else head
        initialise(self.gru)

    def _run(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """Run the GRU over (B, T, word_dim): states (B, T, D) and last states (B, D)."""
        states, last = run(self.gru, x, lengths)  # last: (directions, B, units)
        return states, last.transpose(0, 1).flatten(1)

    def forward(self, batch: Words) -> Embeddings:
        """Embed a batch: (B, D)."""
        words = self.table(batch.ids)  # (B, T, word_dim)
        states, last = self._run(self.dropout(words), batch.lengths)  # (B, T, D - L)
        if self.pooling == "max":
            pooled = maximum(states, batch.mask)
        elif self.pooling == "mean":
            pooled = (states * batch.mask).sum(1) / batch.mask.sum(1)
        else:
            pooled = last
        pooled = self.dropout(pooled)
        if self.lexical is not None:
            pooled = torch.cat([pooled, maximum(self.lexical(words), batch.mask)], dim=-1)
        return Embeddings(self.head(pooled))  # (B, D)
