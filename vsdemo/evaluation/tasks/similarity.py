"""Similarity of sentences that describe the same photo (Socher 2014, section 6.1).

Each caption is a query and all other captions of the split are ranked; its rank is that of the
first one of the same photo. The only caption of a photo is ranked for others, but is not a query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.evaluation.metrics import caption_scores
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.metrics.ranks import best_ranks, summary
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.models.dual_encoder import DualEncoder


@dataclass(frozen=True)
class CaptionRanks:
    """The ranks of the queries of each photo that has two captions: (Q,) arrays."""

    of_photo: list[np.ndarray]

    def __len__(self) -> int:
        """Return the number of these photos."""
        return len(self.of_photo)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, float]:
        """Return the summary of the ranks."""
        rows = range(len(self)) if photos is None else photos
        return summary(np.concatenate([self.of_photo[row] for row in rows]))


def ranks(model: DualEncoder, split: CaptionSet) -> tuple[np.ndarray, np.ndarray]:
    """Return rank and photo of each of the Q queries, (Q,) each."""
    captions = caption_scores.encode(model, split)
    owner = torch.tensor(split.photo_of)
    result = []
    for rows, scores in caption_scores.blocks(model, captions):
        same_photo = (owner[rows, None] == owner) & (scores > -torch.inf)
        queries = same_photo.any(1)
        result.append(best_ranks(scores[queries], same_photo[queries]))
    is_query = owner.bincount()[owner] > 1
    return torch.cat(result).numpy(), owner[is_query].numpy()


@dataclass(frozen=True)
class Similarity(PairedTask):
    """Ranks of captions of the same photo; lower is better."""

    name: ClassVar[str] = "similarity"
    needs: ClassVar[frozenset[str]] = frozenset({"photos"})
    primary: ClassVar[str] = "meanr"

    def measure(self, model: DualEncoder, data: PhotoData) -> CaptionRanks:
        """Return the ranks by photo."""
        rank, photo = ranks(model, data.split)
        return CaptionRanks([rank[photo == number] for number in np.unique(photo)])

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return the summary of the ranks, n_captions (that were ranked), and ci95 over photos."""
        result = with_intervals(self.measure(model, data))
        ci95 = result.pop("ci95")
        return {**result, "n_captions": len(data.split.captions), "ci95": ci95}
