"""Boxes in a photo: (x0, y0, x1, y1) as fractions of its width and height, from the top left.

The last box of each photo is the whole frame. A box of zeros stands for a missing one.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from vsdemo.core.errors import UserError

FRAME = (0.0, 0.0, 1.0, 1.0)
# Width, height, columns and rows of evenly spaced windows: the 20 that best cover the boxes that
# people drew in the training photos of Flickr8k.
SHAPES = (
    (0.5, 0.7, 3, 2),
    (0.25, 0.6, 6, 1),
    (0.8, 0.35, 1, 4),
    (0.25, 0.4, 1, 4),
)
CELLS = 12  # of the grid, in each direction
CELL = 0.16  # width and height of a cell
LEAST = 1e-4  # width and height of a box
# Numbers of a region's vector that say where it is, the last ones: its box, and the logarithm of
# how certain it is that people mention what it shows.
PLACE = 5


def windows() -> Tensor:
    """Return 20 windows of several shapes, then the frame: (21, 4)."""
    boxes = [
        (x, y, x + width, y + height)
        for width, height, columns, rows in SHAPES
        for y in _starts(height, rows)
        for x in _starts(width, columns)
    ]
    return torch.tensor([*boxes, FRAME])


def grid() -> Tensor:
    """Return 144 overlapping cells row by row, then the frame: (145, 4)."""
    edges = [(start, start + CELL) for start in _starts(CELL, CELLS)]
    boxes = [(x0, y0, x1, y1) for y0, y1 in edges for x0, x1 in edges]
    return torch.tensor([*boxes, FRAME])


def _starts(size: float, count: int) -> list[float]:
    """Return where `count` boxes of a size start, from edge to edge; a single one is centred."""
    room = 1 - size
    return [room / 2] if count == 1 else [room * i / (count - 1) for i in range(count)]


def check(boxes: Tensor, owner: str) -> None:
    """Check boxes (..., 4); boxes of zeros are missing ones.

    Args:
        boxes: The boxes.
        owner: Where they come from, for the error message.

    Raises:
        UserError: If a coordinate is not finite, a box is inverted or empty, or an edge lies
            outside the photo.
    """
    present = boxes[(boxes != 0).any(-1)]
    width, height = present[:, 2] - present[:, 0], present[:, 3] - present[:, 1]
    if not present.isfinite().all():
        problem = "a coordinate that is not a number"
    elif ((width < LEAST) | (height < LEAST)).any():
        problem = "no width or no height, or a right edge left of its left edge"
    elif ((present < 0) | (present > 1)).any():
        problem = "an edge outside the photo"
    else:
        return
    raise UserError(
        f"A box of {owner} has {problem}; boxes are x0 y0 x1 y1 as fractions from 0 to 1."
    )


def pad(boxes: Sequence[Sequence[float]], count: int) -> Tensor:
    """Return the first count - 1 boxes, zeros for missing ones, then the frame: (count, 4)."""
    padded = torch.zeros(count, 4)
    for row, box in enumerate(boxes[: count - 1]):
        padded[row] = torch.tensor(box)
    padded[-1] = torch.tensor(FRAME)
    return padded


def in_frames(boxes: Tensor, frames: Tensor) -> Tensor:
    """Return where boxes of photos lie in views that show a part of them.

    Args:
        boxes: (B, K, 4); zeros for missing ones.
        frames: (B, 5), see `vsdemo.vision.crops.Frame`; the last number is 1 for mirrored views.

    Returns:
        (B, K, 4), cut off at the edges of the view; zeros for those of which less than half is
        visible.
    """
    low, high, is_mirrored = frames[:, None, :2], frames[:, None, 2:4], frames[:, None, 4:] > 0
    x0, y0, x1, y1 = torch.cat(
        [(edge - low) / (high - low) for edge in (boxes[..., :2], boxes[..., 2:])], -1
    ).split(1, -1)
    x0, x1 = torch.where(is_mirrored, 1 - x1, x0), torch.where(is_mirrored, 1 - x0, x1)
    inside = torch.cat([x0, y0, x1, y1], -1)
    visible = inside.clamp(0, 1)
    is_seen = 2 * _area(visible) > _area(inside)
    return visible * is_seen[..., None]


def covered(start: Tensor, stop: Tensor, places: int) -> Tensor:
    """Return how much ranges cover of each of some equally long places: (...) -> (..., places)."""
    edges = torch.arange(places + 1, device=start.device) / places
    low = torch.maximum(start[..., None], edges[:-1])
    high = torch.minimum(stop[..., None], edges[1:])
    return (high - low).clamp(min=0)


def heat(scores: Tensor, boxes: Tensor, side: int = 28) -> Tensor:
    """Spread the scores of boxes over a map.

    A place gets the sum over the boxes of max(0, score) times its share of the box's area.

    Args:
        scores: (..., K).
        boxes: (K, 4).
        side: Width and height of the map.

    Returns:
        (..., side, side), rows from the top.
    """
    along = covered(boxes[..., :2], boxes[..., 2:], side)  # (K, 2, side), along x and y
    share = along / along.sum(-1, keepdim=True).clamp(min=LEAST)
    across, down = share.to(scores).unbind(-2)  # (K, side) each
    return torch.einsum("...k,ky,kx->...yx", scores.clamp(min=0), down, across)


def point(heat: Tensor) -> Tensor:
    """Return the hottest place of maps (..., side, side), the centre of those that tie.

    Returns:
        (..., 2), x and y as fractions.
    """
    side = heat.shape[-1]
    most = heat.flatten(-2).amax(-1)[..., None, None]
    best = (heat >= (1 - 1e-5) * most).to(heat.dtype)  # sums differ in their last digits
    centres = (torch.arange(side, device=heat.device, dtype=heat.dtype) + 0.5) / side
    count = best.sum((-2, -1))
    x = (best * centres).sum((-2, -1)) / count
    y = (best * centres[:, None]).sum((-2, -1)) / count
    return torch.stack([x, y], -1)


def around(boxes: Tensor) -> Tensor:
    """Return the box around several: (..., B, 4) -> (..., 4). Boxes of zeros are missing ones."""
    missing = (boxes == 0).all(-1, keepdim=True)
    low = boxes[..., :2].masked_fill(missing, torch.inf).amin(-2)
    return torch.cat([low, boxes[..., 2:].amax(-2)], -1)


def overlap(a: Tensor, b: Tensor) -> Tensor:
    """Return the intersection over union of boxes (..., 4), broadcast against each other."""
    low = torch.maximum(a[..., :2], b[..., :2])
    high = torch.minimum(a[..., 2:], b[..., 2:])
    both = (high - low).clamp(min=0).prod(-1)
    return both / (_area(a) + _area(b) - both).clamp(min=1e-12)


def _area(boxes: Tensor) -> Tensor:
    return (boxes[..., 2:] - boxes[..., :2]).clamp(min=0).prod(-1)
