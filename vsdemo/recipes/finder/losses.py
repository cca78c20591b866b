"""The losses of the finder: which of the proposed boxes show something, and where it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import torch
import torch.nn.functional as F
from torch import Tensor
from torchvision.ops import generalized_box_iou_loss

from vsdemo.recipes.finder.boxes import Boxes
from vsdemo.vision.backbones.finder import Proposed
from vsdemo.vision.regions import overlap

NEAREST = 9  # anchors that learn each box
MIN_OVERLAP = 0.25  # of such an anchor with the box
UNCLEAR = 0.5  # overlap from which other anchors learn nothing
CERTAINTY_WEIGHT, PLACE_WEIGHT = 1.0, 1.5
OTHER_WEIGHT = 0.75  # of anchors without a box, times the square of their certainty


@dataclass(frozen=True)
class Targets:
    """What the A anchors of N photos learn.

    Attributes:
        photos: (P,) the photo of each anchor that learns a box.
        anchors: (P,) its number.
        boxes: (P, 4) the box.
        weights: (P,) the weight of the box.
        unclear: (N, A) anchors that learn nothing.
    """

    photos: Tensor
    anchors: Tensor
    boxes: Tensor
    weights: Tensor
    unclear: Tensor

    def to(self, device: torch.device) -> Targets:
        """Copy all tensors to a device."""
        return Targets(*(getattr(self, field.name).to(device) for field in fields(self)))


def targets(anchors: Tensor, photos: Sequence[Boxes]) -> Targets:
    """Assign boxes to anchors: each to the nearest ones, the smaller of two boxes first.

    Args:
        anchors: (A, 4).
        photos: The boxes of each photo, at least one.
    """
    learned, unclear = [], []
    for row, own in enumerate(photos):
        overlaps = overlap(anchors[:, None], own.places)  # (A, G)
        nearest = overlaps.topk(NEAREST, 0)  # (NEAREST, G)
        box_of = torch.full((len(anchors),), -1)
        sides = own.places[:, 2:] - own.places[:, :2]
        for number in sides.prod(1).argsort(descending=True).tolist():
            near = nearest.values[:, number] >= MIN_OVERLAP
            near[0] = True
            box_of[nearest.indices[near, number]] = number
        learn = (box_of >= 0).nonzero()[:, 0]
        unclear.append((overlaps.amax(1) > UNCLEAR) & (box_of < 0))
        box = box_of[learn]
        learned.append((torch.full_like(learn, row), learn, own.places[box], own.weights[box]))
    photo, anchor, place, weight = (torch.cat(parts) for parts in zip(*learned, strict=True))
    return Targets(photo, anchor, place, weight, torch.stack(unclear))


def losses(proposed: Proposed, wanted: Targets) -> dict[str, Tensor]:
    """Return `loss` and its parts.

    The certainty of an anchor that learns a box is to be its overlap with it, and 0 for others
    (Zhang et al., "VarifocalNet", CVPR 2021); places have the loss of generalized IoU.
    """
    boxes = proposed.boxes[wanted.photos, wanted.anchors]
    total = wanted.weights.sum()
    place = generalized_box_iou_loss(boxes, wanted.boxes, reduction="none")
    place = (place * wanted.weights).sum() / total
    wish = torch.zeros_like(proposed.logits)
    wish[wanted.photos, wanted.anchors] = overlap(boxes.detach(), wanted.boxes)
    weights = OTHER_WEIGHT * proposed.logits.detach().sigmoid().square()
    weights = weights.masked_fill(wanted.unclear, 0)
    weights[wanted.photos, wanted.anchors] = wanted.weights * len(wanted.weights) / total
    certain = F.binary_cross_entropy_with_logits(proposed.logits, wish, reduction="none")
    certainty = (weights * certain).sum() / len(wanted.weights)
    return {
        "loss": CERTAINTY_WEIGHT * certainty + PLACE_WEIGHT * place,
        "certainty_loss": certainty.detach(),
        "place_loss": place.detach(),
    }
