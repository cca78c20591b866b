"""A table of concepts: each has a vector of its own (Vendrov 2016, section 3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import cached_property

import torch
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.words import Words

SENSE = ".n."  # between a word and the number of its sense


class ConceptTable(nn.Module):
    """Names of concepts -> (N, D): f(c) is a row of a table, drawn from N(0, 1) at first.

    nonnegative: below 0 counts as 0 once it has learnt; meanwhile the trainer calls `clamp`.
    """

    needs = frozenset({"concepts"})

    def __init__(self, vocab: Vocab, dim: int, nonnegative: bool) -> None:
        super().__init__()
        self.names, self.dim, self.nonnegative = vocab.words, dim, nonnegative
        self.table = nn.Embedding(len(vocab), dim, sparse=True)

    @cached_property
    def _number(self) -> dict[str, int]:
        found = {_plain(name): i for i, name in enumerate(self.names)}
        return found | {name: i for i, name in enumerate(self.names)}  # as written comes first

    @cached_property
    def _senses(self) -> dict[str, list[str]]:
        """Word -> names of its senses, the first sense first."""
        found: dict[str, list[str]] = {}
        for name in sorted(set(map(_plain, self.names))):
            found.setdefault(name.partition(SENSE)[0], []).append(name)
        return found

    def find(self, text: str) -> int:
        """The number of a concept by its name, or of a word's first sense.

        Raises UserError for an unknown word or sense; it says which are known.
        """
        name = _plain(text)
        for known in (text, name):
            if known in self._number:
                return self._number[known]
        word, _, sense = name.partition(SENSE)
        senses = self._senses.get(word, [])
        if senses and not sense:
            return self._number[senses[0]]
        if senses:
            raise UserError(f"There is no sense {text[:40]!r}; there are {', '.join(senses[:12])}.")
        near = get_close_matches(word, self._senses, 3, 0.8)
        told = f"near are {', '.join(near)}" if near else "try a simpler word, in the singular"
        raise UserError(f"No concept is called {text[:40]!r}; {told}.")

    def prepare(self, items: Sequence[Sentence]) -> list[Tensor]:
        """Raises UserError as `find` does."""
        return [torch.tensor([self.find(s.text)]) for s in items]

    def unknown(self, sentence: Sentence) -> tuple[list[str], list[str]]:
        """The sentence as known, or as unknown."""
        try:
            self.find(sentence.text)
        except UserError:
            return [], [sentence.text]
        return [sentence.text], []

    def collate(self, prepared: Sequence[Tensor]) -> Words:
        return Words(torch.stack(list(prepared)), torch.ones(len(prepared), dtype=torch.long))

    def forward(self, batch: Words) -> Embeddings:
        return self.rows(batch.ids[:, 0])

    def rows(self, numbers: Tensor) -> Embeddings:
        """(N,) -> (N, D)."""
        x = self.table(numbers)
        return Embeddings(x if self.training or not self.nonnegative else x.clamp(min=0))

    @torch.no_grad()
    def clamp(self, numbers: Tensor) -> None:
        """Puts rows back where coordinates are at least 0."""
        if self.nonnegative:
            self.table.weight[numbers] = self.table.weight[numbers].clamp(min=0)


def _plain(name: str) -> str:
    return "_".join(name.lower().split())
