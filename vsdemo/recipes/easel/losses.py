"""The losses of Easel: where things are, how large they are, and what all the labels are.

Centres and boxes are learned as by CenterNet (Zhou et al., "Objects as points", 2019).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from vsdemo.recipes.easel.batches import Batch
from vsdemo.recipes.easel.labels import MISSING
from vsdemo.recipes.easel.network import Prediction

WEIGHTS = {
    "centre": 1.0,
    "box": 0.5,
    "kind": 1.0,
    "colour": 1.0,
    "size": 0.5,
    "pose": 0.5,
    "facing": 0.5,
    "count": 0.3,
    "setting": 0.5,
    "time": 0.5,
    "weather": 0.5,
}
SPREAD = 1 / 6  # standard deviation of a centre's Gaussian as a share of the thing's side
NARROWEST, WIDEST = 0.5, 3.0  # that of any Gaussian, in places
SMALLEST = 0.3  # side of a thing that is to be predicted, in places
SMOOTHING = 0.02  # probability of the wrong classes, all together


def losses(prediction: Prediction, batch: Batch) -> dict[str, Tensor]:
    """Return the weighted sum, as "loss", and each of the losses, such as "kind_loss".

    Each is the mean over the things or, for the labels of wholes, over the pictures.
    """
    parts = {
        "centre": centre_loss(prediction.centres.float(), batch),
        "box": box_loss(prediction.shifts.float(), batch),
    }
    for logits, classes in (
        (prediction.things, batch.things),
        (prediction.wholes, batch.wholes),
    ):
        for label, numbers in zip(logits, classes.unbind(-1), strict=True):
            parts[label] = _class_loss(logits[label].float(), numbers)
    total = torch.stack([WEIGHTS[name] * loss for name, loss in parts.items()]).sum()
    return {"loss": total} | {f"{name}_loss": loss for name, loss in parts.items()}


def centre_loss(logits: Tensor, batch: Batch) -> Tensor:
    """Return the focal loss of centres, which forgives places near a centre.

        sum over centres of -(1 - p)^2 log p + sum over other places of -(1 - y)^4 p^2 log(1 - p)

    divided by the number of things, where y is `centre_map` and p the probability of a centre.

    Args:
        logits: Logits of a centre at each place, (B, h, h).
        batch: The pictures.
    """
    wanted = centre_map(batch, logits.shape[-1])
    chance = logits.sigmoid()
    at_centre = F.logsigmoid(logits) * (1 - chance) ** 2
    elsewhere = F.logsigmoid(-logits) * chance**2 * (1 - wanted) ** 4
    return -at_centre.where(wanted == 1, elsewhere).sum() / batch.present.sum()


def centre_map(batch: Batch, side: int) -> Tensor:
    """Return how near to a centre each place is: 1 at a centre's own place, (B, side, side).

    Around it the value falls as a Gaussian, as wide and as high as the thing. Where those of
    several things meet, the largest value counts.
    """
    width = (batch.sides * side * SPREAD).clamp(NARROWEST, WIDEST)  # (B, K, 2)
    places = torch.arange(side, device=width.device)
    distance = (places - centre_places(batch, side)[..., None]) / width[..., None]  # (B, K, 2, S)
    across, down = (-distance.square() / 2).exp().unbind(2)
    values = down[..., :, None] * across[..., None, :] * batch.present[..., None, None]
    return values.amax(1)


def centre_places(batch: Batch, side: int) -> Tensor:
    """Return the column and the row of each thing's centre on a map, (B, K, 2)."""
    return (batch.centres * side).long().clamp(0, side - 1)


def box_loss(shifts: Tensor, batch: Batch) -> Tensor:
    """Return the smooth L1 loss of the shifts at the centres of things.

    Args:
        shifts: Shifts at all places, (B, 4, h, h).
        batch: The pictures.
    """
    side = shifts.shape[-1]
    columns, rows = centre_places(batch, side).unbind(-1)
    pictures = torch.arange(len(batch), device=shifts.device)[:, None]
    predicted = shifts.permute(0, 2, 3, 1)[pictures, rows, columns]  # (B, K, 4)
    loss = F.smooth_l1_loss(predicted, box_shifts(batch, side), reduction="none").sum(-1)
    return (loss * batch.present).sum() / batch.present.sum()


def box_shifts(batch: Batch, side: int) -> Tensor:
    """Return the shifts that `Easel.decode` turns into the boxes of things, (B, K, 4)."""
    from_place = batch.centres * side - centre_places(batch, side) - 0.5
    return torch.cat([from_place, (batch.sides * side).clamp(min=SMALLEST).log()], -1)


def _class_loss(logits: Tensor, numbers: Tensor) -> Tensor:
    """Return the mean cross-entropy of logits (..., C) and numbers of classes (...); 0 of none."""
    total = F.cross_entropy(
        logits.flatten(0, -2),
        numbers.flatten(),
        ignore_index=MISSING,
        label_smoothing=SMOOTHING,
        reduction="sum",
    )
    return total / (numbers != MISSING).sum().clamp(min=1)
