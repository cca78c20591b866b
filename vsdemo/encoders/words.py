"""Base classes of the encoders with a vocabulary: word ids, padding, the word table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import PAD, Vocab
from vsdemo.encoders import TextEncoder
from vsdemo.encoders.pooling import step_mask


class Words(NamedTuple):
    """A batch of B sentences of at most T words (or characters).

    Attributes:
        ids: (B, T), padded with `PAD`.
        lengths: (B,), always on the CPU, as packed sequences require.
    """

    ids: Tensor
    lengths: Tensor

    def to(self, device: torch.device | str) -> Words:
        """Copy the ids to a device."""
        return Words(self.ids.to(device, non_blocking=True), self.lengths)

    @property
    def mask(self) -> Tensor:
        """(B, T, 1), true where there is a word."""
        return step_mask(self.ids, self.lengths)


class WordEncoder(TextEncoder):
    """Base class of encoders with a vocabulary of V entries.

    The table of word vectors, (V, word_dim), starts uniform in [-0.1, 0.1]; that of `PAD` is zero.
    """

    vocab: Vocab

    def __init__(self, vocab: Vocab, word_dim: int) -> None:
        super().__init__()
        self.vocab = vocab
        self.table = nn.Embedding(len(vocab), word_dim, padding_idx=PAD)
        nn.init.uniform_(self.table.weight, -0.1, 0.1)
        with torch.no_grad():
            self.table.weight[PAD] = 0

    def unknown(self, sentence: Sentence) -> tuple[list[str], list[str]]:
        """Return the (known, unknown) words of a sentence; unknown words are read as `<unk>`."""
        return self.vocab.split_known(sentence)


class SequenceEncoder(WordEncoder):
    """Base class of encoders that read a sentence as a sequence of ids."""

    needs = frozenset({"words"})
    inputs = ("ids", "lengths")

    def prepare(self, items: Sequence[Sentence]) -> list[Tensor]:
        """Look up the ids of each sentence, (T,)."""
        return [torch.tensor(self.vocab.encode(sentence.text)) for sentence in items]

    def collate(self, prepared: Sequence[Tensor]) -> Words:
        """Pad ids (T_i,) into one batch."""
        lengths = torch.tensor([len(ids) for ids in prepared])
        ids = pad_sequence(list(prepared), batch_first=True, padding_value=PAD)  # (B, T)
        return Words(ids, lengths)

    def batch_of(self, *tensors: Tensor) -> Words:
        """Return the batch of padded ids (B, T) and lengths (B,)."""
        return Words(*tensors)
