"""Rank of the photo by how much its caption tells, from "An animal outside." to all of it.

Short captions should hurt a symmetric score more, as they cannot all be near their photo, where an
order-embedding may lie far away and still above it (Vendrov 2016, section 4.6). A short caption is
also true of other photos: `possible` is the mean rank of who knows all captions' truth and guesses
among the photos that they are true of.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.data.storybook.facts import entails, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.evaluation.metrics.ranks import with_intervals
from vsdemo.evaluation.tasks.retrieval import encode, ranks
from vsdemo.evaluation.tasks.storybook_facts import stories
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "ratio"


@dataclass(frozen=True)
class ByDetail:
    """ranks: (P, 5) of each photo by its captions, the shortest first; possible: (P, 5)."""

    ranks: np.ndarray
    possible: np.ndarray

    def __len__(self) -> int:
        return len(self.ranks)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, Any]:
        """level1 to level5, and `fullest`, which is level4 and level5 together: r1 and r10 in
        percent, meanr, possible; ratio: meanr of level1 by that of level5."""
        rows = slice(None) if photos is None else photos
        drawn, possible = self.ranks[rows], self.possible[rows].mean(0)
        columns = {**{f"level{i + 1}": [i] for i in range(drawn.shape[1])}, "fullest": [-2, -1]}
        levels = {
            name: {
                "r1": 100 * float((drawn[:, which] <= 1).mean()),
                "r10": 100 * float((drawn[:, which] <= 10).mean()),
                "meanr": float(drawn[:, which].mean()),
                "possible": float(possible[which].mean()),
            }
            for name, which in columns.items()
        }
        return {**levels, "ratio": float(drawn[:, 0].mean() / drawn[:, -1].mean())}


@lru_cache(maxsize=1)
def possible(split: CaptionSet) -> np.ndarray:
    """(C,) rank of a caption's photo when all photos that it is true of tie, and no other."""
    scenes, captions = stories(split)
    truths = [facts_of(scene) for scene in scenes]
    named = [{c for g in s.groups for c in (g.kind, *load_lexicon().above(g.kind))} for s in scenes]
    true_of = [
        sum(
            entails(truth, facts)
            for truth, concepts in zip(truths, named, strict=True)
            if all(thing.what in concepts for thing in facts.things)  # what can be told quickly
        )
        for facts in (caption.facts for caption in captions)
    ]
    return (1 + np.array(true_of)) / 2


def measure(model: DualEncoder, split: CaptionSet, features: Tensor) -> ByDetail:
    """Ranks of the photos by level."""
    best = possible(split)
    captions_of = np.array(split.captions_of)  # (P, 5)
    found = ranks(model, *encode(model, split, features)).t2i
    return ByDetail(found[captions_of], best[captions_of])


def evaluate(model: DualEncoder, split: CaptionSet, features: Tensor) -> dict[str, Any]:
    """What `ByDetail.metrics` tells, n_images, ci95 over scenes."""
    found = measure(model, split, features)
    return {**with_intervals(found), "n_images": len(found)}
