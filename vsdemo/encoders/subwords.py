"""A GRU over words that are read as groups of letters."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from vsdemo.core.alignment import Fragment
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import CHARACTERS, tokenize
from vsdemo.encoders import TextEncoder
from vsdemo.encoders.heads import Head
from vsdemo.encoders.pooling import step_mask
from vsdemo.encoders.recurrent import initialise, run

SIZES = (2, 3, 4)  # letters of a group
START, END = "<", ">"  # of a word, so that its first and last letters differ from those within
MOST_WORDS = 64  # of a sentence; the others are not read
DENIAL = -3.5  # initial b: at first hardly any word denies anything
LEAST = 0.1  # smallest divisor of weights, for a sentence that only denies
NO_WORD = (START + END,)  # read for a sentence without words


class Subwords(NamedTuple):
    """A batch of B sentences of at most T words, W of which are different.

    Attributes:
        groups: Numbers of the groups of letters of all different words, one word after the other.
        starts: (W,) where each word begins in `groups`.
        words: (B, T) which of the different words each word is; 0 where there is none.
        lengths: (B,) words of each sentence, always on the CPU, as packed sequences require.
    """

    groups: Tensor
    starts: Tensor
    words: Tensor
    lengths: Tensor

    def to(self, device: torch.device | str) -> Subwords:
        """Copy all but the lengths to a device."""
        groups, starts, words = (x.to(device, non_blocking=True) for x in self[:3])
        return Subwords(groups, starts, words, self.lengths)

    @property
    def mask(self) -> Tensor:
        """(B, T, 1), true where there is a word."""
        return step_mask(self.words, self.lengths)


class SubwordGRU(TextEncoder):
    """The words of a sentence by a bidirectional GRU: (N, T, D).

        x_t = mean of E g over the groups g of word t        (Bojanowski et al. 2017, fastText)
        h_1 ... h_T = GRU(x_1 ... x_T), both directions
        z_t = a_t - sigma(u . h_t + b),      a = softmax(q . h_1 ... q . h_T)
        w_t = z_t / sum over words of max(0, z)
        s_t = T [|w_t| head(W_2 gelu(W_1 h_t + b_1) + b_2), w_t]

    The mean over words of a score with s_t is thus weighted by w_t. A word with a negative weight
    says what is absent, such as "cats" in "without cats"; the positive weights add up to 1. The
    groups of a word are the word itself and all its groups of 2 to 4 letters, including the `<` and
    `>` around it. So "bycicle" is near "bicycle", and no word is unknown. Groups share the rows of
    E by their hashes.

    Args:
        rows: Number of rows of E.
        word_dim: Length of x_t, and number of units of each direction.
        dim: Length D of an embedding, whose last number is T w_t.
        dropout: Share of the numbers of x_t set to 0.
    """

    needs = CHARACTERS

    def __init__(self, *, rows: int, word_dim: int, dim: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dim = dim
        self.table = nn.EmbeddingBag(rows, word_dim, mode="mean")
        nn.init.normal_(self.table.weight, std=0.5)
        self.dropout = nn.Dropout(dropout)
        self.gru = nn.GRU(word_dim, word_dim, batch_first=True, bidirectional=True)
        initialise(self.gru)
        self.out = nn.Sequential(
            nn.Linear(2 * word_dim, 2 * word_dim), nn.GELU(), nn.Linear(2 * word_dim, dim - 1)
        )
        self.share = nn.Linear(2 * word_dim, 1, bias=False)
        self.denial = nn.Linear(2 * word_dim, 1)
        nn.init.constant_(self.denial.bias, DENIAL)
        self.head = Head()

    def prepare(self, items: Sequence[Sentence]) -> list[tuple[str, ...]]:
        """Split each sentence into words."""
        return [tuple(_words(item))[:MOST_WORDS] or NO_WORD for item in items]

    def fragments(self, sentence: Sentence) -> tuple[Fragment, ...]:
        """Return the words of a sentence with a tree in the order of their embeddings.

        Raises:
            ValueError: If the sentence has no dependency tree, which fragments refer to.
        """
        if sentence.tree is None:
            raise ValueError("the sentence has no tree; parse it first")
        words = [
            Fragment("word", (number, number))
            for number, word in enumerate(sentence.tree.words)
            for _ in tokenize(word)
        ]
        return tuple(words[:MOST_WORDS])

    def collate(self, prepared: Sequence[tuple[str, ...]]) -> Subwords:
        """Look up the groups of letters of the different words, and pad the sentences."""
        numbers: dict[str, int] = {}
        rows = [
            torch.tensor([numbers.setdefault(word, len(numbers)) for word in words])
            for words in prepared
        ]
        groups = [groups_of(word, self.table.num_embeddings) for word in numbers]
        sizes = torch.tensor([len(group) for group in groups])
        return Subwords(
            groups=torch.tensor([number for group in groups for number in group]),
            starts=sizes.cumsum(0) - sizes,
            words=pad_sequence(rows, batch_first=True),
            lengths=torch.tensor([len(words) for words in prepared]),
        )

    def unknown(self, sentence: Sentence) -> tuple[list[str], list[str]]:
        """Return the (known, unknown) words; all are known, as any word can be read."""
        return _words(sentence), []

    def forward(self, batch: Subwords) -> Embeddings:
        """Embed a batch: (B, T, D) with a mask (B, T)."""
        words = self.table(batch.groups, batch.starts)  # (W, word_dim)
        states, _ = run(self.gru, self.dropout(words[batch.words]), batch.lengths)  # (B, T, 2 .)
        mask = batch.mask
        logits = self.share(states).masked_fill(~mask, -torch.inf)
        shares = logits.to(torch.promote_types(logits.dtype, torch.float32)).softmax(1)  # a
        denials = self.denial(states).to(shares).sigmoid()
        weights = (shares - denials) * mask  # z, (B, T, 1)
        weights = weights / weights.clamp(min=0).sum(1, keepdim=True).clamp(min=LEAST)
        weights = weights * mask.sum(1, keepdim=True)  # T w_t
        directions = self.head(self.out(states))  # (B, T, D - 1)
        return Embeddings(torch.cat([directions * weights.abs(), weights], -1), mask[..., 0])


def _words(sentence: Sentence) -> list[str]:
    """Return the words of a sentence; if it has a tree, those within the words of the tree."""
    texts = sentence.tree.words if sentence.tree else (sentence.text,)
    return [word for text in texts for word in tokenize(text)]


@lru_cache(maxsize=100_000)
def groups_of(word: str, rows: int) -> tuple[int, ...]:
    """Return the rows of the groups of letters of a word: itself and all of SIZES letters."""
    whole = f"{START}{word}{END}"
    parts = {whole[at : at + n] for n in SIZES for at in range(len(whole) - n + 1)}
    return tuple(crc32(part.encode()) % rows for part in sorted({whole, *parts}))
