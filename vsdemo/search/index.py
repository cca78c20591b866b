"""Exact search: the top k of stored embeddings by any score."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from vsdemo.core import tensors
from vsdemo.core.checksums import DamagedFile
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.hits import UNRELATED, BarScale, Hit, make_hits
from vsdemo.models.scores import Score

SAMPLE = 100  # items from whose similarities the scale of bars is computed


@dataclass(frozen=True)
class Index:
    """Embeddings of N items of one kind.

    Args:
        embeddings: (N, D), or sets (N, K, D); in single or half precision.
        items: The N items: names of photos, or sentences.
        score: Compares them with queries.
        scale: Scale of the bars of scores with queries of the other kind.
    """

    embeddings: Embeddings
    items: Sequence[str]
    score: Score
    scale: BarScale | None = None

    def __len__(self) -> int:
        return len(self.items)

    def top_specific(self, query: Embeddings, k: int) -> list[Hit]:
        """Return the k specific items (photos) that best match one general query (a sentence)."""
        return self.top(self.scores(query), k)

    def scores(self, query: Embeddings) -> Tensor:
        """Return the scores of one general query (a sentence) with the N specific items, (N,)."""
        return self.score.of_query(query.to(device()), self.embeddings)

    def similarities(self, query: Embeddings) -> Tensor:
        """Return the similarities of one query of their own kind with the N items, (N,)."""
        return self.score.of_query(query.to(device()), self.embeddings, symmetric=True)

    def top_general(self, query: Embeddings, k: int) -> list[Hit]:
        """Return the k general items (sentences) that best match one specific query (a photo)."""
        return self.top(self.general_scores(query), k)

    def general_scores(self, query: Embeddings) -> Tensor:
        """Return the scores of the N general items with one specific query (a photo), (N,)."""
        return self.score(self.embeddings, query.to(device()))[:, 0]

    def top(self, scores: Tensor, k: int) -> list[Hit]:
        """Return the k items of the highest scores with a query of the other kind, (N,)."""
        return self._top(scores, k, self.scale)

    def top_similar(self, query: Embeddings, k: int, exclude: int | None = None) -> list[Hit]:
        """Return the k items most similar to one query of their own kind.

        Args:
            query: (1, D), or a set (1, K, D).
            k: Number of hits.
            exclude: Number of an item to leave out.
        """
        scores = self.similarities(query)
        if exclude is not None:
            scores[exclude] = -torch.inf
            k = min(k, len(self) - 1)
        return self._top(scores, k, self.similarity_scale)

    @cached_property
    def similarity_scale(self) -> BarScale | None:
        """Scale of the bars of similarities; None if all items are equally similar.

        Bars are empty where 9 of 10 pairs of different items are below, and full at the similarity
        of an item with itself.
        """
        count = min(len(self), SAMPLE)
        numbers = torch.linspace(0, len(self) - 1, count).long()
        sample = self.embeddings[numbers.to(self.embeddings.x.device)].float()
        similarity = self.score.to_unit(self.score.symmetric(sample, sample))  # (count, count)
        different = similarity[~torch.eye(count, dtype=torch.bool, device=similarity.device)]
        if not len(different):
            return None
        empty, full = float(different.quantile(UNRELATED)), float(similarity.diagonal().median())
        return BarScale(empty, full) if empty < full else None

    def _top(self, scores: Tensor, k: int, scale: BarScale | None) -> list[Hit]:
        """Return the k best of scores (N,); ties keep the order of the items."""
        numbers = best_of(scores, k)
        best = scores[numbers]
        rows = zip(numbers.tolist(), best.tolist(), self.score.to_unit(best).tolist(), strict=True)
        return make_hits(self.items, rows, scale)

    def save(self, path: Path) -> None:
        """Write embeddings and items to one file."""
        stored = {"x": self.embeddings.x}
        if self.embeddings.mask is not None:
            stored["mask"] = self.embeddings.mask
        tensors.write_checked(path, stored, {"items": json.dumps(self.items)})

    @classmethod
    def load(cls, path: Path, score: Score, scale: BarScale | None = None) -> Index | None:
        """Read what `save` wrote, for the same score; None if it is missing or damaged."""
        try:
            tensors.check(path)
            with safe_open(path, "pt", str(device())) as file:
                items = json.loads(file.metadata()["items"])
                has_mask = "mask" in set(file.keys())
                embeddings = Embeddings(
                    x=file.get_tensor("x"),
                    mask=file.get_tensor("mask") if has_mask else None,
                )
                return cls(embeddings, items, score, scale)
        except (DamagedFile, OSError, SafetensorError):
            return None


def best_of(scores: Tensor, k: int) -> Tensor:
    """Return the numbers of the k highest of scores (N,), best first; the earlier of equal ones.

    NaN comes last. Only the best are sorted, which saves most of the time in a large index.
    """
    scores = scores.nan_to_num(nan=-torch.inf, posinf=torch.inf, neginf=-torch.inf)
    k = min(k, len(scores))
    if not k:
        return torch.zeros(0, dtype=torch.long, device=scores.device)
    least = scores.topk(k).values[-1]
    better = (scores > least).nonzero()[:, 0]
    equal = (scores == least).nonzero()[: k - len(better), 0]
    numbers = torch.cat([better, equal])
    return numbers[scores[numbers].sort(descending=True, stable=True).indices]
