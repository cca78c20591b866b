"""Sentence towers that embed parts: dependency triplets, words, pairs of neighbours."""

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
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.words import WordEncoder

PARTS = ("triplets", "words", "bigrams")
ROOT, UNSEEN = "root", ("punct",)  # no photo shows a full stop


class Fragments(WordEncoder):
    """Sentences -> (N, M, D), the embeddings of their M parts (Karpathy 2014, Eq. 1):

        s = f(W_R [W_e w_1; W_e w_2] + b_R)

    parts: `triplets` (R, w_1, w_2) are the edges of the dependency tree from head to dependent,
    those of relations kept in the vocabulary, and (root, w, w) for its root; `words` (w, w) and
    `bigrams` of neighbours have one R. shared: one W and b for all relations, as in the paper's
    code. f is a ReLU.
    """

    needs = frozenset({"dep_tree"})

    def __init__(
        self,
        vocab: Vocab,
        word_dim: int,
        dim: int,
        parts: str = "triplets",
        shared: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__(vocab, word_dim)
        self.dim, self.parts = dim, parts
        self.dropout = nn.Dropout(dropout)
        kept = [r for r in vocab.relations if r not in UNSEEN]
        self.relations = [ROOT, *kept] if parts == "triplets" else [parts]
        self.group = {r: 0 if shared else i for i, r in enumerate(self.relations)}
        groups, bound = max(self.group.values()) + 1, math.sqrt(6 / (2 * word_dim + dim))
        drawn = torch.empty(groups, dim, 2 * word_dim).uniform_(-bound, bound)
        self.weights = nn.ParameterList(drawn.unbind())  # apart: one of all would exceed 10 MB
        self.biases = nn.Parameter(torch.zeros(groups, dim))

    def fragments(self, sentence: Sentence) -> tuple[Fragment, ...]:
        """The parts of a parsed sentence, in the order of their embeddings."""
        tree = sentence.tree
        if tree is None:
            raise ValueError("the sentence has no tree")
        seen = [i for i, label in enumerate(tree.labels) if label not in UNSEEN] or [tree.root]
        if self.parts == "bigrams" and len(seen) > 1:
            return tuple(Fragment("bigram", pair) for pair in pairwise(seen))
        if self.parts != "triplets":
            return tuple(Fragment("word", (i, i)) for i in seen)
        edges = ((tree.labels[i], tree.heads[i] - 1, i) for i in seen if i != tree.root)
        found = [Fragment(r, (head, word)) for r, head, word in edges if r in self.group]
        return Fragment(ROOT, (tree.root, tree.root)), *found

    def prepare(self, items: Sequence[Sentence]) -> list[Tensor]:
        """For each sentence its parts as (M, 3): group of the relation, numbers of both words."""
        return [self._numbers(sentence) for sentence in items]

    def _numbers(self, sentence: Sentence) -> Tensor:
        ids = self.vocab.ids(sentence.tree.words if sentence.tree else ())
        rows = [(f.relation, *(ids[word] for word in f.words)) for f in self.fragments(sentence)]
        return torch.tensor([(self.group.get(r, 0), head, word) for r, head, word in rows])

    def collate(self, prepared: Sequence[Tensor]) -> Tensor:
        """(B, M, 3), -1 where a sentence has fewer parts."""
        return pad_sequence(list(prepared), batch_first=True, padding_value=-1)

    def forward(self, batch: Tensor) -> Embeddings:
        mask = batch[..., 0] >= 0  # (B, M)
        found = self._embed(batch[mask]).float()
        x = found.new_zeros(*mask.shape, self.dim)
        x[mask] = found
        return Embeddings(x, mask)

    def _embed(self, parts: Tensor) -> Tensor:
        """Parts (R, 3) -> (R, D), those of one relation together."""
        words = self.dropout(self.table(parts[:, 1:])).flatten(1)  # (R, 2 word_dim)
        found = words.new_zeros(len(parts), self.dim)
        for group, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            own = parts[:, 0] == group
            found[own] = F.linear(words[own], weight, bias).to(found.dtype)
        return found.relu()
