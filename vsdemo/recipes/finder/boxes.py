"""The boxes that the finder learns: what captions mention, wherever it is known."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.evaluation.phrases import Phrase, phrases
from vsdemo.vision.regions import around

ONE_OF_SEVERAL = 0.3  # weight of each of several boxes of a phrase; the box around them has 1
MOST_BOXES = 8  # of a phrase that count one by one
MOST_WEIGHT = 4.0  # of a box that many captions mention


@dataclass(frozen=True)
class Boxes:
    """The boxes of one photo.

    Attributes:
        places: (G, 4), as fractions.
        weights: (G,), how often captions mention each.
    """

    places: Tensor
    weights: Tensor

    def mirrored(self) -> Boxes:
        """Return the boxes of the photo's mirror image."""
        x0, y0, x1, y1 = self.places.unbind(1)
        return Boxes(torch.stack([1 - x1, y0, 1 - x0, y1], 1), self.weights)


def of_photos(split: CaptionSet) -> tuple[list[Path], list[Boxes]]:
    """Return the photos of a split that have boxes, and the boxes of each.

    Raises:
        UserError: The data set has no boxes.
    """
    by_photo: dict[int, list[Phrase]] = defaultdict(list)
    for phrase in phrases(split):
        by_photo[split.photo_of[phrase.caption]].append(phrase)
    numbers = sorted(by_photo)
    return [split.photos[n] for n in numbers], [of_phrases(by_photo[n]) for n in numbers]


def of_phrases(named: Sequence[Phrase]) -> Boxes:
    """Return the boxes of a photo's phrases: that around all boxes of a phrase, and each of them.

    A box counts once for each phrase that names it, at most MOST_WEIGHT times.
    """
    weights: dict[tuple[float, ...], float] = defaultdict(float)
    for phrase in named:
        boxes = phrase.boxes
        weights[tuple(around(boxes).tolist())] += 1
        if len(boxes) > 1:
            for box in boxes[:MOST_BOXES].tolist():
                weights[tuple(box)] += ONE_OF_SEVERAL
    places = torch.tensor(list(weights)).reshape(-1, 4)
    return Boxes(places, torch.tensor(list(weights.values())).clamp(max=MOST_WEIGHT))
