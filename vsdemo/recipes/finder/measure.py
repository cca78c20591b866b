"""How many of the things that captions mention the finder finds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from vsdemo.core.device import device
from vsdemo.recipes.finder.boxes import Boxes
from vsdemo.recipes.finder.maps import BATCH, PhotoMaps
from vsdemo.vision.backbones.finder import BoxHead, Maps, best_boxes
from vsdemo.vision.crops import MOST_FOUND
from vsdemo.vision.regions import overlap

ENOUGH = 0.5  # intersection over union of a box that is found
COUNTS = (10, 20, MOST_FOUND - 1)  # of boxes


@torch.no_grad()
def recall(
    head: BoxHead, maps: PhotoMaps, rows: Sequence[int], boxes: Sequence[Boxes]
) -> dict[str, float]:
    """Return the share of boxes that are found by the most certain 10, 20 and all, in percent.

    Boxes count by how many captions mention them.

    Args:
        head: The head.
        maps: Maps of photos.
        rows: Which of the photos.
        boxes: The boxes of each of them.
    """
    head.eval()
    right, total = dict.fromkeys(COUNTS, 0.0), 0.0
    for start in range(0, len(rows), BATCH):
        part = slice(start, start + BATCH)
        proposed = head(Maps(*(x.to(device()) for x in maps[np.asarray(rows[part])])))
        for own, best in zip(boxes[part], best_boxes(proposed, max(COUNTS)), strict=True):
            overlaps = overlap(best.boxes.cpu()[:, None], own.places)  # (K, G)
            total += float(own.weights.sum())
            for count in COUNTS:
                covered = (overlaps[:count] >= ENOUGH).any(0)
                right[count] += float(own.weights[covered].sum())
    return {f"recall{count}": round(100 * right[count] / total, 2) for count in COUNTS}
