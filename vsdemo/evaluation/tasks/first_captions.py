"""Retrieval with one caption a photo: the first of each.

Dufour 2015 tests 1,000 pairs, and the rows with a star of Karpathy 2014's Table 2 keep the first of
five sentences. With fewer captions that could be right, captions are harder to find for a photo;
with fewer wrong ones, easier.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from vsdemo.core.caption_set import CaptionSet
from vsdemo.evaluation.metrics import bootstrap, retrieval
from vsdemo.evaluation.metrics.retrieval import DIRECTIONS, Ranks
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.models.dual_encoder import DualEncoder


def first_captions(split: CaptionSet) -> CaptionSet:
    """Return a split with the first caption of each photo."""
    first = [own[0] for own in split.captions_of if own]
    return replace(
        split,
        captions=tuple(split.captions[number] for number in first),
        photo_of=tuple(split.photo_of[number] for number in first),
    )


@dataclass(frozen=True)
class FirstCaptions(PairedTask):
    """Caption-image retrieval with one caption a photo."""

    name: ClassVar[str] = "first_captions"
    needs: ClassVar[frozenset[str]] = frozenset({"photos"})
    primary: ClassVar[str] = "rsum"
    columns: ClassVar[tuple[str, ...]] = (
        *(
            f"{direction} {name}"
            for direction in DIRECTIONS
            for name in ("r1", "r5", "r10", "r20", "r50")
        ),
        "rsum",
    )

    def measure(self, model: DualEncoder, data: PhotoData) -> Ranks:
        """Return the ranks of all first captions and photos."""
        return retrieval.measure(model, first_captions(data.split), data.features)

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return i2t and t2i as `ranks.summary`, rsum, n_images and ci95."""
        ranks = self.measure(model, data)
        return {**bootstrap.with_intervals(ranks), "n_images": len(ranks)}
