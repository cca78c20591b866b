"""Is it the right place? Regions of a photo, scored for phrases, against the boxes of the phrases.

`pointing`: whether the hottest place (`regions.heat`) lies in any of the boxes. `iou50`: whether
the best region and the box around all boxes of the phrase have an intersection over union of at
least one half; of regions that tie, the share for which it is so.

Shapes: Q phrases, of which each has K regions and B boxes; boxes of zeros are none.
"""

from __future__ import annotations

import torch
from torch import Tensor

from vsdemo.vision import regions

WINDOW = (0.25, 0.25, 0.75, 0.75)  # of the baseline `centre`
HALF = 0.5

Answers = dict[str, Tensor]  # name -> (Q,), how right


def judged(scores: Tensor, boxes: Tensor, gold: Tensor) -> Answers:
    """pointing and iou50 of scores (Q, K), none below zero and one of each row above it, of
    regions (Q, K, 4). gold: (Q, B, 4)."""
    points = regions.point(torch.vmap(regions.heat)(scores, boxes))
    best = scores == scores.amax(-1, keepdim=True)
    right = _inside(points[:, None], gold)[:, 0]
    return {"pointing": right.float(), "iou50": _mean(_fits(boxes, gold), best)}


def baselines(boxes: Tensor, gold: Tensor) -> Answers:
    """What needs no model. random: the mean over regions (Q, K, 4), each pointing at its middle.
    centre, frame: the middle window of half the width and height, and the whole photo; both point
    at the photo's middle. gold: (Q, B, 4)."""
    middles = (boxes[..., :2] + boxes[..., 2:]) / 2
    real = (boxes != 0).any(-1)
    found = {
        "random.pointing": _mean(_inside(middles, gold), real),
        "random.iou50": _mean(_fits(boxes, gold), real),
    }
    middle = torch.tensor([[[0.5, 0.5]]])
    for name, box in (("centre", WINDOW), ("frame", regions.FRAME)):
        found[f"{name}.pointing"] = _inside(middle, gold)[:, 0].float()
        found[f"{name}.iou50"] = _fits(torch.tensor([[box]]), gold)[:, 0].float()
    return found


def _inside(points: Tensor, gold: Tensor) -> Tensor:
    """Whether points (Q, N, 2) lie in any of the boxes: (Q, N)."""
    points, gold = points[:, :, None], gold[:, None]
    return ((gold[..., :2] <= points) & (points <= gold[..., 2:])).all(-1).any(-1)


def _fits(boxes: Tensor, gold: Tensor) -> Tensor:
    """Whether boxes (Q, N, 4) overlap by half with the box around all boxes: (Q, N)."""
    none = (gold == 0).all(-1, keepdim=True)
    low = gold[..., :2].masked_fill(none, torch.inf).amin(1)
    around = torch.cat([low, gold[..., 2:].amax(1)], -1)
    return regions.overlap(boxes, around[:, None]) >= HALF


def _mean(right: Tensor, counted: Tensor) -> Tensor:
    """The share of those that count, (Q, N) -> (Q,)."""
    return (right & counted).sum(-1) / counted.sum(-1)
