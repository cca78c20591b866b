"""A table of concepts, one vector each."""

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
from vsdemo.encoders import TextEncoder
from vsdemo.encoders.words import Words

SENSE = ".n."  # between a word and the number of its sense, as in WordNet's "dog.n.01"
LONGEST = 40  # characters of a name repeated in an error message


class ConceptTable(TextEncoder):
    """Names of concepts to rows of a table (Vendrov 2016, section 3.1): (N, D).

        f(c) = max(0, v_c),  v_c drawn from N(0, 1)

    Gradients are sparse. In training the maximum is not part of the forward pass; the trainer calls
    `clamp` after each step instead.

    Args:
        vocab: Names of the concepts, the rows of the table.
        dim: Length D of the vectors.
        nonnegative: Take the maximum with 0.
    """

    needs = frozenset({"concepts"})

    def __init__(self, vocab: Vocab, dim: int, *, nonnegative: bool) -> None:
        super().__init__()
        self.names = vocab.words
        self.dim = dim
        self.nonnegative = nonnegative
        self.table = nn.Embedding(len(vocab), dim, sparse=True)

    @cached_property
    def _number(self) -> dict[str, int]:
        """Name -> row; an exact name takes precedence over a normalised one."""
        normalised = {_normalise(name): i for i, name in enumerate(self.names)}
        exact = {name: i for i, name in enumerate(self.names)}
        return normalised | exact

    @cached_property
    def _senses(self) -> dict[str, list[str]]:
        """Word -> names of its senses, the first sense first."""
        senses: dict[str, list[str]] = {}
        for name in sorted({_normalise(name) for name in self.names}):
            senses.setdefault(name.partition(SENSE)[0], []).append(name)
        return senses

    def find(self, text: str) -> int:
        """Return the row of a concept, given its name or a word (its first sense).

        Raises:
            UserError: If the word or the sense is unknown; the message lists known ones.
        """
        name = _normalise(text)
        for candidate in (text, name):
            if candidate in self._number:
                return self._number[candidate]
        word, _, sense = name.partition(SENSE)
        senses = self._senses.get(word, [])
        if senses and not sense:
            return self._number[senses[0]]
        query = repr(text[:LONGEST])
        if senses:
            raise UserError(f"There is no sense {query}; choose one of {', '.join(senses[:12])}.")
        similar = get_close_matches(word, self._senses, n=3, cutoff=0.8)
        advice = f"try {', '.join(similar)}" if similar else "try a simpler word, in the singular"
        raise UserError(f"There is no concept {query}; {advice}.")

    def prepare(self, items: Sequence[Sentence]) -> list[Tensor]:
        """Look up the row of each name, (1,). Raises UserError as `find` does."""
        return [torch.tensor([self.find(sentence.text)]) for sentence in items]

    def unknown(self, sentence: Sentence) -> tuple[list[str], list[str]]:
        """Return ([text], []) if the text names a concept, otherwise ([], [text])."""
        try:
            self.find(sentence.text)
        except UserError:
            return [], [sentence.text]
        return [sentence.text], []

    def collate(self, prepared: Sequence[Tensor]) -> Words:
        """Stack rows (1,) into one batch with ids (B, 1)."""
        lengths = torch.ones(len(prepared), dtype=torch.long)
        return Words(torch.stack(list(prepared)), lengths)

    def forward(self, batch: Words) -> Embeddings:
        """Embed a batch: (B, D)."""
        return self.rows(batch.ids[:, 0])

    def rows(self, numbers: Tensor) -> Embeddings:
        """Look up rows by number: (N,) -> (N, D)."""
        x: Tensor = self.table(numbers)
        if self.nonnegative and not self.training:
            x = x.clamp(min=0)  # f(c), section 3.1
        return Embeddings(x)

    @torch.no_grad()
    def clamp(self, numbers: Tensor) -> None:
        """Project the given rows (N,) onto nonnegative coordinates, in place."""
        if self.nonnegative:
            self.table.weight[numbers] = self.table.weight[numbers].clamp(min=0)


def _normalise(name: str) -> str:
    return "_".join(name.lower().split())
