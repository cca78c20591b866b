"""Several models as one: the mean of their points. It is not trained, so it has no presets.

Merckx & Frank, "Learning semantic sentence representations from visually grounded language without
lexical knowledge", Natural Language Engineering, 2019, section 3.3; after Huang, Li, Pleiss, Liu,
Hopcroft & Weinberger, "Snapshot ensembles: train 1, get M for free", ICLR 2017.

    f(s) = sum_m f_m(s) / |sum_m f_m(s)|        g(v) likewise

The paper ensembles "the caption embeddings of multiple networks" and does not say how; its released
code adds the embeddings of captions, and those of photos, over the networks. Here they are brought
to length 1 again where the members' points have that length (cosine, orders), and are a mean
otherwise (inner product, distance), so that scores keep their size. A score of two sums also holds
the scores of one member's captions with another's photos: snapshots of one run share a space,
independent runs do not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.encoders import Encoder, TextEncoder
from vsdemo.encoders.heads import Head
from vsdemo.models.dual_encoder import DualEncoder


class Batches(NamedTuple):
    """What each member prepared of an item, or collated of items."""

    parts: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.parts[0])  # for batches of like length

    def to(self, device: torch.device) -> Batches:
        return Batches(tuple(part.to(device) for part in self.parts))


class Mean(TextEncoder):
    """A tower: items -> (N, D), the mean of what its members make of them; unit: at length 1."""

    def __init__(self, members: Sequence[Any], unit: bool) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.needs = frozenset().union(*(member.needs for member in members))
        self.dim = members[0].dim
        self.head = Head(unit=unit)

    def _of_each(self) -> list[Encoder]:
        return list(self.members)  # type: ignore[arg-type]

    def prepare(self, items: Sequence[Any]) -> list[Batches]:
        prepared = [member.prepare(items) for member in self._of_each()]
        return [Batches(parts) for parts in zip(*prepared, strict=True)]

    def collate(self, prepared: Sequence[Batches]) -> Batches:
        columns = zip(*(item.parts for item in prepared), strict=True)
        members = zip(self._of_each(), columns, strict=True)
        return Batches(tuple(member.collate(column) for member, column in members))

    def forward(self, batch: Batches) -> Embeddings:
        members = zip(self._of_each(), batch.parts, strict=True)
        points = [member(part).x for member, part in members]
        return Embeddings(self.head(torch.stack(points).mean(0)))

    def unknown(self, sentence: Sentence) -> tuple[list[str], list[str]]:
        """(known, unknown) words of a sentence; known to one member is known."""
        found = [member.unknown(sentence) for member in self.members]
        known = {word: None for words, _ in found for word in words}
        unknown = {word: None for _, words in found for word in words if word not in known}
        return list(known), list(unknown)


def build(members: Sequence[DualEncoder]) -> DualEncoder:
    """The ensemble of models with the same score and size of their space."""
    score = members[0].score
    text = Mean([member.text for member in members], not score.unbound)
    image = Mean([member.image for member in members], not score.unbound)
    return DualEncoder(text, image, score)


def named(state: Mapping[str, Tensor], number: int) -> dict[str, Tensor]:
    """A member's weights as the ensemble names them: of the first, text.x is text.members.0.x."""
    return {name.replace(".", f".members.{number}.", 1): t for name, t in state.items()}
