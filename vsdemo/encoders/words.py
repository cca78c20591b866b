"""What the towers over words share: numbers, padding, the word table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import PAD, Vocab


class Words(NamedTuple):
    """A batch of sentences: ids (B, T) padded with <pad>, lengths (B,) on the CPU."""

    ids: Tensor
    lengths: Tensor

    def to(self, device: torch.device) -> Words:
        return Words(self.ids.to(device, non_blocking=True), self.lengths)

    @property
    def mask(self) -> Tensor:
        """(B, T, 1), true where there is a word."""
        steps = torch.arange(self.ids.shape[1], device=self.ids.device)
        return (steps < self.lengths.to(self.ids.device)[:, None])[..., None]


class WordEncoder(nn.Module):
    """Base of the word towers: the vocabulary and the word table (V, word_dim), U(-0.1, 0.1)."""

    needs = frozenset({"words"})

    def __init__(self, vocab: Vocab, word_dim: int) -> None:
        super().__init__()
        self.vocab = vocab
        self.table = nn.Embedding(len(vocab), word_dim, padding_idx=PAD)
        nn.init.uniform_(self.table.weight, -0.1, 0.1)
        with torch.no_grad():
            self.table.weight[PAD] = 0

    def prepare(self, items: Sequence[Sentence]) -> list[Tensor]:
        return [torch.tensor(self.vocab.encode(s.text)) for s in items]

    def unknown(self, sentence: Sentence) -> tuple[list[str], list[str]]:
        """(known, unknown) words of a sentence; the tower passes over the latter."""
        return self.vocab.split_known(sentence)

    def collate(self, prepared: Sequence[Tensor]) -> Words:
        lengths = torch.tensor([len(ids) for ids in prepared])
        return Words(pad_sequence(list(prepared), batch_first=True, padding_value=PAD), lengths)
