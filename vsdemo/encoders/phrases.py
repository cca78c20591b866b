"""An encoder that embeds the phrases of a sentence, each in the context of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from vsdemo.core.alignment import WHOLE, Fragment
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.noun_phrases import PARTICLE, noun_phrases
from vsdemo.data.text.vocab import PAD, Vocab
from vsdemo.encoders.pooling import maximum, step_mask
from vsdemo.encoders.recurrent import initialise, run
from vsdemo.encoders.words import WordEncoder

NOUN_PHRASE, WORD = "phrase", "word"


@dataclass(frozen=True)
class Phrases:
    """The words and phrases of one sentence, or of B sentences.

    Attributes:
        ids: Of the words, (T,) or (B, T), padded with `PAD`.
        spans: First word of each phrase and the one after its last, (M, 2) or (B, M, 2), padded
            with 0.
    """

    ids: Tensor
    spans: Tensor

    def __len__(self) -> int:
        """Return T, or B."""
        return len(self.ids)

    def to(self, device: torch.device | str) -> Phrases:
        """Copy both tensors to a device."""
        return Phrases(self.ids.to(device), self.spans.to(device))


class PhraseGRU(WordEncoder):
    """The phrases of a sentence by a bidirectional GRU over all of its words: (N, M, D).

        h_1 ... h_T = GRU(x_1 ... x_T), both directions
        s_m = [u / |u|, c]       u = W mean_t h_t + b,  over the words t of phrase m
        s_0 = n [u / |u|, c]     u = W' max_t h_t + b', over all words

    The first phrase is the whole sentence, which counts as much as all n others. These follow from
    left to right: noun phrases, and the other words that are no function words, such as verbs.

    Args:
        vocab: The known words.
        word_dim: Length of a word vector.
        units: Length of a state of each direction.
        dim: Length D of an embedding.
        certainty: The number c, see `vsdemo.encoders.regions.PlacedRegions`.
        dropout: Share of word vectors and of mean states set to 0.
    """

    needs = frozenset({"dep_tree"})

    def __init__(
        self,
        vocab: Vocab,
        *,
        word_dim: int,
        units: int,
        dim: int,
        certainty: float,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab, word_dim)
        self.dim, self.certainty = dim, certainty
        self.gru = nn.GRU(word_dim, units, batch_first=True, bidirectional=True)
        initialise(self.gru)
        self.out, self.whole = nn.Linear(2 * units, dim - 1), nn.Linear(2 * units, dim - 1)
        self.dropout = nn.Dropout(dropout)

    def fragments(self, sentence: Sentence) -> tuple[Fragment, ...]:
        """Return the phrases of a sentence in the order of their embeddings.

        Raises:
            ValueError: The sentence has no dependency tree.
        """
        if sentence.tree is None:
            raise ValueError("the sentence has no tree; parse it first")
        return fragments(sentence.tree)

    def prepare(self, items: Sequence[Sentence]) -> list[Phrases]:
        """Look up the words and phrases of each sentence."""
        result = []
        for sentence in items:
            spans = [(f.words[0], f.words[-1] + 1) for f in self.fragments(sentence)]
            assert sentence.tree is not None
            ids = self.vocab.ids(sentence.tree.words)
            result.append(Phrases(torch.tensor(ids), torch.tensor(spans)))
        return result

    def collate(self, prepared: Sequence[Phrases]) -> Phrases:
        """Pad the words and phrases of B sentences into one batch."""
        ids = pad_sequence([p.ids for p in prepared], batch_first=True, padding_value=PAD)
        return Phrases(ids, pad_sequence([p.spans for p in prepared], batch_first=True))

    def forward(self, batch: Phrases) -> Embeddings:
        """Embed a batch of B sentences: (B, M, D) with a mask (B, M)."""
        lengths = batch.spans[:, 0, 1]  # of whole sentences
        words = self.dropout(self.table(batch.ids))  # (B, T, word_dim)
        states, _ = run(self.gru, words, lengths.cpu())  # (B, T, 2 units)
        mask, means = _means(states, batch.spans)
        whole = self.dropout(maximum(states, step_mask(states, lengths)))  # (B, 2 units)
        u = torch.cat([self.whole(whole)[:, None], self.out(self.dropout(means[:, 1:]))], 1)
        x = F.pad(F.normalize(u.float(), dim=-1), (0, 1), value=self.certainty)  # (B, M, D)
        times = torch.cat([counts(mask), mask[:, 1:]], 1)  # (B, M)
        return Embeddings(x * times[..., None], mask)


def counts(mask: Tensor) -> Tensor:
    """Return how often whole sentences count, which are the first of phrases (B, M): (B, 1)."""
    return (mask.sum(1, keepdim=True) - 1).clamp(min=1)


def _means(states: Tensor, spans: Tensor) -> tuple[Tensor, Tensor]:
    """Return which of spans (B, M, 2) exist, and the means over them of states (B, T, D)."""
    starts, stops = spans.unbind(-1)  # (B, M)
    step = torch.arange(states.shape[1], device=states.device)
    inside = (starts[..., None] <= step) & (step < stops[..., None])  # (B, M, T)
    shares = inside / (stops - starts).clamp(min=1)[..., None]
    return stops > starts, shares.to(states) @ states  # (B, M, D)


def fragments(tree: Tree) -> tuple[Fragment, ...]:
    """Return the whole sentence, then its noun phrases and other content words in order.

    Function words, and particles such as "up" in "sits up", are parts of the whole sentence only.
    """
    phrases = [Fragment(NOUN_PHRASE, phrase.words) for phrase in noun_phrases(tree)]
    left_out = {word for phrase in phrases for word in phrase.words} | tree.function_words
    left_out |= {word for word, label in enumerate(tree.labels) if label == PARTICLE}
    others = [Fragment(WORD, (i,)) for i in range(len(tree.words)) if i not in left_out]
    whole = Fragment(WHOLE, tuple(range(len(tree.words))))
    return (whole, *sorted([*phrases, *others], key=lambda fragment: fragment.words))
