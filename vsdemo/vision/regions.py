"""Where to look in a photo: boxes as (x0, y0, x1, y1), in shares of its width and height.

Choices: `windows`, 20 of several scales and shapes, the same in each photo; `grid`, 144 small
ones; `detector`, the 19 surest boxes of a network that finds things; `entities`, those that people
drew (Flickr30k Entities, for analysis). The last box of each photo is the whole frame.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from vsdemo.core.errors import UserError

FRAME = (0.0, 0.0, 1.0, 1.0)
REGIONS = {"windows": 21, "grid": 145, "detector": 20, "entities": 20}  # boxes a photo
SHAPES = (  # width, height, how many stand side by side, how many one above the other: such
    # regular rows of 20 as meet most of the boxes that people drew in Flickr8k's training photos
    *((0.5, 0.7, 3, 2), (0.25, 0.6, 6, 1)),
    *((0.8, 0.35, 1, 4), (0.25, 0.4, 1, 4)),
)
CELLS, CELL = 12, 0.16  # of the grid, in each direction, and their width and height
LEAST = 1e-4  # of a box's width and height


def windows() -> Tensor:
    """(21, 4): upright and lying ones at even distances, then the frame."""
    boxes = [
        (x, y, x + width, y + height)
        for width, height, columns, rows in SHAPES
        for y in _starts(height, rows)
        for x in _starts(width, columns)
    ]
    return torch.tensor([*boxes, FRAME])


def _starts(size: float, count: int) -> list[float]:
    """Where `count` boxes of a size begin, from edge to edge; a single one is in the middle."""
    room = 1 - size
    return [room / 2] if count == 1 else [room * i / (count - 1) for i in range(count)]


def grid() -> Tensor:
    """(145, 4): cells that overlap their neighbours, row by row, then the frame."""
    edges = [(start, start + CELL) for start in _starts(CELL, CELLS)]
    return torch.tensor([*((x0, y0, x1, y1) for y0, y1 in edges for x0, x1 in edges), FRAME])


FIXED = {"windows": windows, "grid": grid}


def check(boxes: Tensor, whose: str) -> None:
    """Raises UserError for boxes (..., 4) that are no numbers, inverted or outside of their photo.

    A box of zeros stands for none.
    """
    real = boxes[(boxes != 0).any(-1)]
    width, height = real[:, 2] - real[:, 0], real[:, 3] - real[:, 1]
    if not real.isfinite().all():
        wrong = "a coordinate that is no number"
    elif ((width < LEAST) | (height < LEAST)).any():
        wrong = "no width or no height, or a right edge left of its left one"
    elif ((real < 0) | (real > 1)).any():
        wrong = "an edge outside of the photo"
    else:
        return
    raise UserError(f"A box of {whose} has {wrong}; boxes are x0 y0 x1 y1 in shares from 0 to 1.")


def padded(boxes: Sequence[Sequence[float]], count: int) -> Tensor:
    """(count, 4): the first count - 1 boxes, zeros where there are fewer, then the frame."""
    found = torch.zeros(count, 4)
    for row, box in enumerate(boxes[: count - 1]):
        found[row] = torch.tensor(box)
    found[-1] = torch.tensor(FRAME)
    return found


def heat(scores: Tensor, boxes: Tensor, side: int = 28) -> Tensor:
    """Where scores (..., K) of boxes (K, 4) are high: (..., side, side), from the top left on.

    A place has the sum over the boxes of max(0, score) times its share of the box, so that each box
    spreads its score over its places.
    """
    edges = torch.arange(side + 1, device=boxes.device) / side
    low, high = (
        torch.maximum(boxes[..., :2, None], edges[:-1]),
        torch.minimum(boxes[..., 2:, None], edges[1:]),
    )
    covered = (high - low).clamp(min=0)  # (K, 2, side)
    share = covered / covered.sum(-1, keepdim=True).clamp(min=LEAST)
    across, down = share.to(scores).unbind(-2)
    return torch.einsum("...k,ky,kx->...yx", scores.clamp(min=0), down, across)


def point(heat: Tensor) -> Tensor:
    """The hottest place of each map (..., side, side), the middle of those that tie: (..., 2),
    x and y in shares."""
    side = heat.shape[-1]
    most = heat.flatten(-2).amax(-1)[..., None, None]
    best = (heat >= (1 - 1e-5) * most).to(heat.dtype)  # sums differ in their last digits
    centres = (torch.arange(side, device=heat.device, dtype=heat.dtype) + 0.5) / side
    count = best.sum((-2, -1))
    x = (best * centres).sum((-2, -1)) / count
    y = (best * centres[:, None]).sum((-2, -1)) / count
    return torch.stack([x, y], -1)


def overlap(a: Tensor, b: Tensor) -> Tensor:
    """Intersection over union of boxes (..., 4), of one shape or to be broadcast."""
    low, high = torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])
    both = (high - low).clamp(min=0).prod(-1)
    each = [(x[..., 2:] - x[..., :2]).clamp(min=0).prod(-1) for x in (a, b)]
    return both / (each[0] + each[1] - both).clamp(min=1e-12)
