"""How well Easel finds things and names what it describes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.device import autocast, device
from vsdemo.recipes.easel.batches import Batch, read
from vsdemo.recipes.easel.labels import MISSING
from vsdemo.recipes.easel.network import EaselWithHeads, Prediction
from vsdemo.recipes.easel.pictures import Pictures
from vsdemo.vision.regions import overlap

PICTURES = 25  # pictures read at a time
ENOUGH = 0.5  # intersection over union of a box that counts as found


@torch.no_grad()
def measure(model: EaselWithHeads, pictures: Pictures) -> dict[str, Any]:
    """Return recall and precision of the boxes, and the accuracy of each label, in percent.

    Things are named at their true centres.
    """
    model.eval()
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    hits = box_count = thing_count = 0
    for rows in np.split(np.arange(len(pictures)), range(PICTURES, len(pictures), PICTURES)):
        batch = read(pictures, rows).to(device())
        with autocast():
            prediction = model(batch.pixels, batch.centres)
            boxes = model.find(batch.pixels)
        _count_right(prediction, batch, right, total)
        truth = [own[present] for own, present in zip(batch.boxes, batch.present, strict=True)]
        hits += sum(map(matches, boxes, truth))
        box_count += sum(map(len, boxes))
        thing_count += sum(map(len, truth))
    return {
        "recall": _percent(hits, thing_count),
        "precision": _percent(hits, max(1, box_count)),
        "accuracy": {label: _percent(right[label], total[label]) for label in right},
    }


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2)


def _count_right(
    prediction: Prediction, batch: Batch, right: Counter[str], total: Counter[str]
) -> None:
    """Add how many things or pictures have each label, and how many of these are right."""
    for logits, classes in (
        (prediction.things, batch.things),
        (prediction.wholes, batch.wholes),
    ):
        for label, numbers in zip(logits, classes.unbind(-1), strict=True):
            right[label] += int((logits[label].argmax(-1) == numbers).sum())
            total[label] += int((numbers != MISSING).sum())


def matches(boxes: Tensor, truth: Tensor) -> int:
    """Return how many boxes of a picture are found; the best pairs are matched first.

    Args:
        boxes: The boxes that were found, (F, 4).
        truth: The true boxes, (T, 4).
    """
    overlaps = overlap(boxes[:, None].float(), truth)  # (F, T)
    count = 0
    while overlaps.numel() and overlaps.max() >= ENOUGH:
        row, column = divmod(int(overlaps.argmax()), overlaps.shape[1])
        overlaps[row], overlaps[:, column] = 0, 0
        count += 1
    return count
