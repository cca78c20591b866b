"""Exact search: the top k of stored embeddings by any score."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from vsdemo.core import tensors
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.hits import Hit
from vsdemo.models.scores import Score


@dataclass(frozen=True)
class Index:
    """Embeddings of N items of one kind, with the items' names."""

    embeddings: Embeddings
    items: Sequence[str]
    score: Score

    def __len__(self) -> int:
        return len(self.items)

    def below(self, query: Embeddings, k: int) -> list[Hit]:
        """The k specific items (photos) that fit one general query (a sentence)."""
        return self._top(self.score(query.to(device()), self.embeddings)[0], k)

    def above(self, query: Embeddings, k: int) -> list[Hit]:
        """The k general items (sentences) that fit one specific query (a photo)."""
        return self._top(self.score(self.embeddings, query.to(device()))[:, 0], k)

    def near(self, query: Embeddings, k: int, without: int | None = None) -> list[Hit]:
        """The k items most like a query of their own kind; `without` leaves one item out."""
        scores = self.score.symmetric(query.to(device()), self.embeddings)[0]
        if without is not None:
            scores[without] = -torch.inf
            k = min(k, len(self) - 1)
        return self._top(scores, k)

    def _top(self, scores: Tensor, k: int) -> list[Hit]:
        """Ties keep the order of the items."""
        best, number = scores.sort(descending=True, stable=True)
        fit = self.score.to_unit(best[:k]).tolist()
        return [
            Hit(rank, n, self.items[n], s, f)
            for rank, (n, s, f) in enumerate(
                zip(number[:k].tolist(), best[:k].tolist(), fit, strict=True), start=1
            )
        ]

    def save(self, path: Path) -> None:
        """Writes embeddings and items to one file."""
        kept = {"x": self.embeddings.x, "mask": self.embeddings.mask}
        found = {name: tensor for name, tensor in kept.items() if tensor is not None}
        tensors.write(path, found, {"items": json.dumps(self.items)})

    @classmethod
    def load(cls, path: Path, score: Score) -> Index | None:
        """Reads what `save` wrote, for the same score; None when it is missing or damaged."""
        try:
            with safe_open(path, "pt", str(device())) as file:
                items = json.loads(file.metadata()["items"])
                mask = file.get_tensor("mask") if "mask" in file.keys() else None  # noqa: SIM118
                return cls(Embeddings(file.get_tensor("x"), mask), items, score)
        except (OSError, SafetensorError):
            return None
