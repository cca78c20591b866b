"""A GRU over words."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_packed_sequence

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.heads import Head
from vsdemo.encoders.recurrent import initialise, run
from vsdemo.encoders.words import WordEncoder, Words

POOLINGS = ("last", "max", "mean")


class WordGRU(WordEncoder):
    """Sentences -> (N, D): a GRU's last state, or the masked max or mean over its states.

    Bidirectional: dim / 2 units a direction, both concatenated; `last` takes the state after the
    last word of each direction. Recurrent weights start orthogonal, a matrix a gate.
    """

    def __init__(
        self,
        vocab: Vocab,
        word_dim: int,
        dim: int,
        pooling: str,
        bidirectional: bool,
        nonnegative: bool,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab, word_dim)
        if bidirectional and dim % 2:
            raise UserError(f"A GRU in both directions needs an even dim, not {dim}.")
        self.dim, self.pooling = dim, pooling
        units = dim // 2 if bidirectional else dim
        self.gru = nn.GRU(word_dim, units, batch_first=True, bidirectional=bidirectional)
        self.dropout = nn.Dropout(dropout)
        self.head = Head(nonnegative)
        initialise(self.gru)

    def _run(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """(B, T, word_dim) -> states (B, T, D) and last states (B, D)."""
        packed_states, last = run(self.gru, x, lengths)
        states, _ = pad_packed_sequence(packed_states, batch_first=True)
        return states, last.transpose(0, 1).flatten(1)

    def forward(self, batch: Words) -> Embeddings:
        states, last = self._run(self.dropout(self.table(batch.ids)), batch.lengths)
        if self.pooling == "max":
            pooled = states.masked_fill(~batch.mask, -torch.inf).amax(1)
        elif self.pooling == "mean":
            pooled = (states * batch.mask).sum(1) / batch.mask.sum(1)
        else:
            pooled = last
        return Embeddings(self.head(self.dropout(pooled)))
