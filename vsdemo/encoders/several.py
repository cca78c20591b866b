"""Several encoders as one: their mean, or their embeddings side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.encoders import Encoder, TextEncoder
from vsdemo.encoders.heads import Head


class Parts(NamedTuple):
    """What each member prepared from an item, or collated from items."""

    parts: tuple[Any, ...]

    def __len__(self) -> int:
        """Return the length of the first member's part, by which batches are sorted."""
        return len(self.parts[0])

    def to(self, device: torch.device) -> Parts:
        """Move every part to a device."""
        return Parts(tuple(part.to(device) for part in self.parts))


class SeveralEncoders(TextEncoder):
    """Base class of encoders that consist of several members, for text or for photos.

    Args:
        members: M encoders.
        dim: Length D of an embedding.
    """

    def __init__(self, members: Sequence[Encoder], dim: int) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.needs = frozenset().union(*(member.needs for member in members))
        self.dim = dim
        self.weighs_characters = all(member.weighs_characters for member in members)
        first = members[0]
        if all((m.inputs, m.vocab) == (first.inputs, first.vocab) for m in members):
            self.inputs, self.vocab = first.inputs, first.vocab

    def prepare(self, items: Any) -> list[Parts]:
        """Prepare each item for every member."""
        prepared = [encoder.prepare(items) for encoder in self._encoders()]
        return [Parts(parts) for parts in zip(*prepared, strict=True)]

    def collate(self, prepared: Sequence[Parts]) -> Parts:
        """Collate B items for every member."""
        columns = zip(*(item.parts for item in prepared), strict=True)
        members = zip(self._encoders(), columns, strict=True)
        return Parts(tuple(encoder.collate(column) for encoder, column in members))

    def batch_of(self, *tensors: Tensor) -> Parts:
        """Return the batch in which every member reads the same tensors."""
        return Parts(tuple(encoder.batch_of(*tensors) for encoder in self._encoders()))

    def embed(self, batch: Parts) -> list[Tensor]:
        """Return the embeddings of a batch by each member, (B, D_m)."""
        members = zip(self._encoders(), batch.parts, strict=True)
        return [encoder(part).x for encoder, part in members]

    def character_weights(self, sentence: Sentence) -> Tensor:
        """Return the mean of the members' weights of the T characters, (T,)."""
        weights = [encoder.character_weights(sentence) for encoder in self._text_encoders()]
        return torch.stack(weights).mean(0)

    def unknown(self, sentence: Sentence) -> tuple[list[str], list[str]]:
        """Return the (known, unknown) words of a sentence; a word is known if a member knows it."""
        results = [encoder.unknown(sentence) for encoder in self._text_encoders()]
        known = {word: None for words, _ in results for word in words}
        unknown = {word: None for _, words in results for word in words if word not in known}
        return list(known), list(unknown)

    def _encoders(self) -> list[Encoder]:
        return [cast(Encoder, member) for member in self.members]

    def _text_encoders(self) -> list[TextEncoder]:
        return [cast(TextEncoder, member) for member in self.members]


class MeanEncoder(SeveralEncoders):
    """The mean of the members' embeddings: (N, D).

        f(s) = head(1/M sum_m f_m(s))

    Args:
        members: M encoders of one dimension.
        unit: Scale the mean to length 1.
    """

    def __init__(self, members: Sequence[Encoder], *, unit: bool) -> None:
        super().__init__(members, members[0].dim)
        self.head = Head(unit=unit)

    def forward(self, batch: Parts) -> Embeddings:
        """Embed a batch: (B, D)."""
        return Embeddings(self.head(torch.stack(self.embed(batch)).mean(0)))


class SideBySide(SeveralEncoders):
    """The members' embeddings one after the other: (N, D_1 + ... + D_M).

    Args:
        members: M encoders.
        head: Applied last; by default nothing is.
    """

    def __init__(self, members: Sequence[Encoder], head: nn.Module | None = None) -> None:
        super().__init__(members, sum(member.dim for member in members))
        self.head = nn.Identity() if head is None else head

    def forward(self, batch: Parts) -> Embeddings:
        """Embed a batch: (B, D_1 + ... + D_M)."""
        return Embeddings(self.head(torch.cat(self.embed(batch), dim=-1)))
