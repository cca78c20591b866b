"""Encoders that embed the parts of a sentence: dependency triplets, words or bigrams."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from vsdemo.core.alignment import Fragment
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.words import WordEncoder

PARTS = ("triplets", "words", "bigrams")
ROOT = "root"
INVISIBLE = ("punct",)  # relations left out: no photo shows a full stop


class Fragments(WordEncoder):
    """The embeddings of the M parts of a sentence (Karpathy 2014, Eq. 1): (N, M, D).

        s = f(W_R [W_e w_1; W_e w_2] + b_R),  f a ReLU

    Args:
        vocab: The known words and relations.
        word_dim: Length of a word vector W_e w.
        dim: Length D of an embedding.
        parts: One of `PARTS`. "triplets" (R, w_1, w_2) are the edges of the dependency tree from
            head to dependent, for the relations in the vocabulary, and (root, w, w) for its root;
            "words" (w, w) and "bigrams" of neighbours have one R.
        shared: Use one W and b for all relations, as the released code of the paper does.
        dropout: Share of word vectors set to 0.
    """

    needs = frozenset({"dep_tree"})

    def __init__(
        self,
        vocab: Vocab,
        *,
        word_dim: int,
        dim: int,
        parts: str = "triplets",
        shared: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab, word_dim)
        self.dim = dim
        self.parts = parts
        self.dropout = nn.Dropout(dropout)
        if parts == "triplets":
            self.relations = [ROOT, *(r for r in vocab.relations if r not in INVISIBLE)]
        else:
            self.relations = [parts]
        self.group = {r: 0 if shared else i for i, r in enumerate(self.relations)}
        groups = max(self.group.values()) + 1
        bound = math.sqrt(6 / (2 * word_dim + dim))
        weights = torch.empty(groups, dim, 2 * word_dim).uniform_(-bound, bound)
        self.weights = nn.ParameterList(weights.unbind())  # one tensor of all would exceed 10 MB
        self.biases = nn.Parameter(torch.zeros(groups, dim))

    def fragments(self, sentence: Sentence) -> tuple[Fragment, ...]:
        """Return the parts of a sentence in the order of their embeddings.

        Raises:
            ValueError: If the sentence has no dependency tree.
        """
        tree = _tree(sentence)
        visible = [i for i, label in enumerate(tree.labels) if label not in INVISIBLE]
        visible = visible or [tree.root]
        if self.parts == "bigrams" and len(visible) > 1:
            return tuple(Fragment("bigram", pair) for pair in pairwise(visible))
        if self.parts != "triplets":
            return tuple(Fragment("word", (i, i)) for i in visible)
        root = Fragment(ROOT, (tree.root, tree.root))
        edges = [
            Fragment(tree.labels[i], (tree.heads[i] - 1, i))
            for i in visible
            if i != tree.root and tree.labels[i] in self.group
        ]
        return (root, *edges)

    def prepare(self, items: Sequence[Sentence]) -> list[Tensor]:
        """Look up the parts of each sentence, (M, 3): group of the relation, ids of both words."""
        return [self._rows(sentence) for sentence in items]

    def _rows(self, sentence: Sentence) -> Tensor:
        ids = self.vocab.ids(_tree(sentence).words)
        rows = []
        for fragment in self.fragments(sentence):
            head, dependent = fragment.words
            rows.append((self.group.get(fragment.relation, 0), ids[head], ids[dependent]))
        return torch.tensor(rows)

    def collate(self, prepared: Sequence[Tensor]) -> Tensor:
        """Pad parts (M_i, 3) with -1 into one batch (B, M, 3)."""
        return pad_sequence(list(prepared), batch_first=True, padding_value=-1)

    def forward(self, batch: Tensor) -> Embeddings:
        """Embed a batch of parts (B, M, 3): (B, M, D) with a mask (B, M)."""
        mask = batch[..., 0] >= 0  # (B, M)
        parts = self._embed(batch[mask]).float()
        x = parts.new_zeros(*mask.shape, self.dim)
        x[mask] = parts
        return Embeddings(x, mask)

    def _embed(self, parts: Tensor) -> Tensor:
        """Embed parts (R, 3), those of one group together: (R, D)."""
        words: Tensor = self.dropout(self.table(parts[:, 1:]))  # (R, 2, word_dim)
        words = words.flatten(1)  # (R, 2 word_dim)
        x = words.new_zeros(len(parts), self.dim)
        for group, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            rows = parts[:, 0] == group
            x[rows] = F.linear(words[rows], weight, bias).to(x.dtype)  # Eq. 1
        return x.relu()  # f


def _tree(sentence: Sentence) -> Tree:
    if sentence.tree is None:
        raise ValueError("the sentence has no tree; parse it first")
    return sentence.tree
