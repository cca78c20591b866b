"""Captions of very different length for one photo (Vendrov 2016, section 4.6).

Among the pairs of captions of one photo, the 100 with the largest difference in length are taken.
`t2i`: mean rank of the photo over both captions of these pairs. `short_to_long`: with the shorter
caption as the query and all other captions ranked, the mean rank of the longer one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.data.text.vocab import tokenize
from vsdemo.evaluation.metrics import bootstrap, retrieval
from vsdemo.evaluation.metrics.pairs import photos_of, times_drawn
from vsdemo.evaluation.metrics.ranks import best_ranks
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.models.dual_encoder import DualEncoder

PAIRS = 100


@dataclass(frozen=True)
class PairRanks:
    """Ranks of caption pairs.

    Args:
        ranks: Name -> (N,) ranks.
        photo: (N,) number of the photo of each pair.
    """

    ranks: Mapping[str, np.ndarray]
    photo: np.ndarray

    def __len__(self) -> int:
        """Return the number of photos."""
        return int(self.photo.max()) + 1

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, float]:
        """Return the mean ranks of the pairs of all photos, or of a sample of them.

        The pairs of a photo are drawn together, as their ranks depend on each other.
        """
        weights = times_drawn(self.photo, photos)
        return {
            name: float(np.average(ranks, weights=weights)) for name, ranks in self.ranks.items()
        }


def longest_differences(split: CaptionSet) -> list[tuple[int, int]]:
    """Return (shorter, longer) caption numbers of PAIRS pairs; ties go to the earlier pair."""
    length = [len(tokenize(caption)) for caption in split.captions]
    pairs = [
        tuple(sorted(pair, key=length.__getitem__))
        for captions in split.captions_of
        for pair in combinations(captions, 2)
    ]
    pairs.sort(key=lambda pair: length[pair[0]] - length[pair[1]])
    return [(a, b) for a, b in pairs[:PAIRS]]


@dataclass(frozen=True)
class Lengths(PairedTask):
    """Mean ranks of captions of very different length; lower is better."""

    name: ClassVar[str] = "lengths"
    needs: ClassVar[frozenset[str]] = frozenset({"photos"})
    primary: ClassVar[str] = "t2i"

    def measure(self, model: DualEncoder, data: PhotoData) -> PairRanks:
        """Return t2i, the mean rank over a pair's two captions, and short_to_long.

        Raises:
            UserError: No photo has two captions.
        """
        captions, photos, owner = retrieval.encode(model, data.split, data.features)
        pairs = longest_differences(data.split)
        if not pairs:
            raise UserError(
                f"{data.split.name} has no photo with two captions, so none to compare."
            )
        short, long = torch.tensor(pairs).T  # (N,) each
        both = torch.cat([short, long])
        photo_scores = model.score(captions[both], photos)  # (2 N, P)
        own_photo = owner[both, None] == torch.arange(len(photos))
        caption_scores = model.score(captions[short], captions)  # (N, C)
        caption_scores[torch.arange(len(short)), short] = -torch.inf  # the query itself
        longer = long[:, None] == torch.arange(len(captions))
        return PairRanks(
            {
                "t2i": best_ranks(photo_scores, own_photo).view(2, -1).mean(0).numpy(),
                "short_to_long": best_ranks(caption_scores, longer).numpy(),
            },
            photo=photos_of(pairs, data.split),
        )

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return both mean ranks, n_pairs, and ci95 over the photos."""
        ranks = self.measure(model, data)
        result = bootstrap.with_intervals(ranks)
        ci95 = result.pop("ci95")
        return {**result, "n_pairs": len(ranks.photo), "ci95": ci95}
