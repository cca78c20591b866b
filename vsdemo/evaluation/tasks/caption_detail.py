"""Rank of the photo by the detail of its caption, from "An animal outside." to the fullest.

Short captions should hurt a symmetric score more, as they cannot all be near their photo, while in
an order-embedding they may lie far away and still above it (Vendrov 2016, section 4.6). A short
caption is also true of other photos: `possible` is the mean rank of an oracle that knows which
photos each caption is true of and guesses among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from vsdemo.core.caption_set import CaptionSet
from vsdemo.data.storybook.facts import entails, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.evaluation.metrics import retrieval
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.models.dual_encoder import DualEncoder


@dataclass(frozen=True)
class RanksByDetail:
    """Ranks of each photo by its captions, the shortest first.

    Args:
        ranks: (P, 5) of the model.
        possible: (P, 5) of the oracle.
    """

    ranks: np.ndarray
    possible: np.ndarray

    def __len__(self) -> int:
        return len(self.ranks)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, Any]:
        """Return metrics by level, and `ratio`, meanr of level1 by that of level5.

        For level1 to level5, and for `fullest`, which is level4 and level5 together: r1 and r10 in
        percent, meanr, possible.
        """
        rows = slice(None) if photos is None else photos
        ranks, possible = self.ranks[rows], self.possible[rows].mean(0)
        columns = {f"level{i + 1}": [i] for i in range(ranks.shape[1])} | {"fullest": [-2, -1]}
        levels = {
            name: {
                "r1": 100 * float((ranks[:, column] <= 1).mean()),
                "r10": 100 * float((ranks[:, column] <= 10).mean()),
                "meanr": float(ranks[:, column].mean()),
                "possible": float(possible[column].mean()),
            }
            for name, column in columns.items()
        }
        return {**levels, "ratio": float(ranks[:, 0].mean() / ranks[:, -1].mean())}


@lru_cache(maxsize=1)
def possible_ranks(split: CaptionSet) -> np.ndarray:
    """Return the rank of a caption's photo when all photos it is true of tie for the top, (C,)."""
    scenes, captions = stories(split)
    truths = [facts_of(scene) for scene in scenes]
    concepts_of = [
        {
            concept
            for group in scene.groups
            for concept in (group.kind, *load_lexicon().ancestors(group.kind))
        }
        for scene in scenes
    ]
    true_of = [
        sum(
            entails(truth, caption.facts)
            for truth, concepts in zip(truths, concepts_of, strict=True)
            if all(
                thing.concept in concepts for thing in caption.facts.things
            )  # a quick test first
        )
        for caption in captions
    ]
    ranks: np.ndarray = (1 + np.array(true_of)) / 2
    return ranks


@dataclass(frozen=True)
class CaptionDetail(PairedTask):
    """Ranks of the photos by the detail of the caption; lower is better."""

    name: ClassVar[str] = "detail"
    needs: ClassVar[frozenset[str]] = frozenset({"photos", "storybook"})
    primary: ClassVar[str] = "ratio"

    def measure(self, model: DualEncoder, data: PhotoData) -> RanksByDetail:
        """Return the ranks of the photos by level."""
        possible = possible_ranks(data.split)
        captions_of = np.array(data.split.captions_of)  # (P, 5)
        ranks = retrieval.measure(model, data.split, data.features).t2i
        return RanksByDetail(ranks=ranks[captions_of], possible=possible[captions_of])

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return the metrics of `RanksByDetail`, n_images, and ci95 over scenes."""
        ranks = self.measure(model, data)
        return {**with_intervals(ranks), "n_images": len(ranks)}
