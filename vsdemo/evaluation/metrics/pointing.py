"""Pointing accuracy and IoU: regions scored for phrases against the boxes of the phrases.

`pointing`: whether the point with the highest score (`regions.heat`) lies in any of the boxes.
`iou50`: whether the best region and the box around all boxes of the phrase have an intersection
over union of at least 0.5; if several regions tie, the share of them for which this holds.

Shapes: Q phrases, each with K regions and B boxes; boxes of zeros are padding.
"""

from __future__ import annotations

import torch
from torch import Tensor

from vsdemo.vision import regions

WINDOW = (0.25, 0.25, 0.75, 0.75)  # box of the baseline `centre`
MIN_IOU = 0.5

Answers = dict[str, Tensor]  # name -> (Q,), from 0 (wrong) to 1 (right)


def accuracy(scores: Tensor, boxes: Tensor, gold: Tensor) -> Answers:
    """Return pointing and iou50 of each phrase.

    Args:
        scores: (Q, K), none negative and at least one positive in each row.
        boxes: (Q, K, 4) of the regions.
        gold: (Q, B, 4) of the phrases.
    """
    points = regions.point(torch.vmap(regions.heat)(scores, boxes))  # (Q, 2)
    best = scores == scores.amax(-1, keepdim=True)
    inside = _inside(points[:, None], gold)[:, 0]
    return {"pointing": inside.float(), "iou50": _mean(_overlaps(boxes, gold), best)}


def baselines(boxes: Tensor, gold: Tensor) -> Answers:
    """Return pointing and iou50 of each phrase without a model.

    random: the mean over regions, each pointing at its centre; centre, frame: a window of half the
    width and height, and the whole photo, both pointing at the centre of the photo.

    Args:
        boxes: (Q, K, 4) of the regions.
        gold: (Q, B, 4) of the phrases.
    """
    centres = (boxes[..., :2] + boxes[..., 2:]) / 2  # (Q, K, 2)
    real = (boxes != 0).any(-1)
    result = {
        "random.pointing": _mean(_inside(centres, gold), real),
        "random.iou50": _mean(_overlaps(boxes, gold), real),
    }
    centre = torch.tensor([[[0.5, 0.5]]])
    for name, box in (("centre", WINDOW), ("frame", regions.FRAME)):
        result[f"{name}.pointing"] = _inside(centre, gold)[:, 0].float()
        result[f"{name}.iou50"] = _overlaps(torch.tensor([[box]]), gold)[:, 0].float()
    return result


def _inside(points: Tensor, gold: Tensor) -> Tensor:
    """Return whether points (Q, N, 2) lie in any of the boxes: (Q, N)."""
    points, gold = points[:, :, None], gold[:, None]
    return ((gold[..., :2] <= points) & (points <= gold[..., 2:])).all(-1).any(-1)


def _overlaps(boxes: Tensor, gold: Tensor) -> Tensor:
    """Return whether boxes (Q, N, 4) overlap enough with the box around all boxes: (Q, N)."""
    return regions.overlap(boxes, regions.around(gold)[:, None]) >= MIN_IOU


def _mean(right: Tensor, counted: Tensor) -> Tensor:
    """Return the share of counted entries that are right, (Q, N) -> (Q,)."""
    return (right & counted).sum(-1) / counted.sum(-1)
