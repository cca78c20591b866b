"""Recurrent networks over characters, pooled by attention."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import CHARACTERS, Vocab, tokenize
from vsdemo.encoders.dropout import WordDropout
from vsdemo.encoders.heads import Head
from vsdemo.encoders.recurrent import initialise, run
from vsdemo.encoders.words import WordEncoder, Words

CELLS = {"gru": nn.GRU, "lstm": nn.LSTM}
POOLINGS = ("attention", "max")


class Attention(nn.Module):
    """States (B, T, D) -> weights of each of their numbers, (B, T, D), that sum to 1 over T.

    a_t = softmax_t(V tanh(W h_t + b_w) + b_v) (Merckx & Frank 2019, section 3.1.2), over the steps
    of the sentence only: what is padded has no weight.
    """

    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.hidden, self.out = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        logits = self.out(self.hidden(states).tanh())
        logits = logits.to(torch.promote_types(logits.dtype, torch.float32))
        return logits.masked_fill(~mask, -torch.inf).softmax(1)


class CharRNN(WordEncoder):
    """Sentences -> (N, D): a GRU or LSTM over characters in both directions, dim / 2 units each,
    its states pooled by attention, sum_t a_t * h_t, or by their maximum; length 1.

    Case and punctuation are kept; characters outside of the vocabulary are one, <unk>. attention:
    hidden units of the attention. word_dropout: share of words left out in training, see
    `WordDropout`. Recurrent weights start orthogonal, a matrix a gate, the LSTM's biases of
    forgetting at 1. Raises UserError when dim is odd.
    """

    needs = CHARACTERS

    def __init__(
        self,
        vocab: Vocab,
        char_dim: int,
        dim: int,
        cell: str,
        pooling: str,
        attention: int = 128,
        dropout: float = 0.0,
        word_dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab, char_dim)
        if dim % 2:
            raise UserError(f"A network in both directions needs an even dim, not {dim}.")
        self.dim = dim
        self.onward = CELLS[cell](char_dim, dim // 2, batch_first=True)
        self.backward = CELLS[cell](char_dim, dim // 2, batch_first=True)
        self.attention = Attention(dim, attention) if pooling == "attention" else None
        self.dropout = nn.Dropout(dropout)
        self.word_dropout = WordDropout(word_dropout, vocab.encode_characters(" ")[0])
        self.head = Head(nonnegative=False)
        for network in (self.onward, self.backward):
            initialise(network)

    def prepare(self, items: Sequence[Sentence]) -> list[Tensor]:
        return [torch.tensor(self.vocab.encode_characters(s.text)) for s in items]

    def unknown(self, sentence: Sentence) -> tuple[list[str], list[str]]:
        """(known, unknown) words; known are those of which at least one character is."""
        known: list[str] = []
        unknown: list[str] = []
        letters = set(self.vocab.words)
        for word in tokenize(sentence.text):
            (unknown if letters.isdisjoint(word) else known).append(word)
        return known, unknown

    def states(self, batch: Words) -> Tensor:
        """(B, T, D), the states of both directions after each character.

        The way back reads each sentence from its own last character, so that what is padded comes
        after it in both directions, and the networks run over plain, unpacked batches: sentences
        of like length, as `bucket` brings them together, are read faster so.
        """
        x = self.dropout(self.table(batch.ids))  # (B, T, char_dim)
        steps = torch.arange(x.shape[1], device=x.device)
        turned = batch.lengths.to(x.device)[:, None] - 1 - steps
        turned = torch.where(turned < 0, steps, turned)[..., None]  # (B, T, 1), its own inverse
        there = run(self.onward, x)[0]
        back = run(self.backward, x.take_along_dim(turned, 1))[0]
        return torch.cat([there, back.take_along_dim(turned, 1)], -1)

    def pool(self, states: Tensor, mask: Tensor) -> Tensor:
        """(B, T, D) and (B, T, 1) -> (B, D)."""
        if self.attention:
            return (self.attention(states, mask) * states).sum(1)
        return states.masked_fill(~mask, -torch.inf).amax(1)

    def forward(self, batch: Words) -> Embeddings:
        batch = self.word_dropout(batch)
        pooled = self.pool(self.states(batch), batch.mask)
        return Embeddings(self.head(self.dropout(pooled)))

    @torch.inference_mode()
    def weights(self, sentence: Sentence) -> Tensor:
        """How much of the sentence's point comes from each of its T characters, (T,), sum 1: the
        attention's mean over dimensions, or the share of them whose maximum is there."""
        was_training = self.training
        self.eval()
        batch = self.collate(self.prepare([sentence])).to(self.table.weight.device)
        states = self.states(batch)
        self.train(was_training)
        if self.attention:
            return self.attention(states, batch.mask)[0].mean(1).cpu()
        best = states[0].argmax(0)  # (D,)
        return torch.bincount(best, minlength=states.shape[1]).cpu() / self.dim
