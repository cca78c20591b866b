"""Matrices with 8 bits a number.

Each row x becomes whole numbers q of levels, and the size s of a level:

    q = round(x / s),      s = max |x| / 127

The rounding error is at most half a level.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

LEVELS = 127  # in each direction
SCALE = ".scale"  # ends the names of the sizes of a level


def encode(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors by name: of matrices q and, under names that end in SCALE, s.

    Vectors and scalars, of which there are few, stay as they are.
    """
    result = {}
    for name, tensor in tensors.items():
        if tensor.dim() < 2:
            result[name] = tensor
            continue
        values = tensor.detach().float()
        scale = values.flatten(1).abs().amax(1) / LEVELS  # (rows,)
        levels = values / _column(scale, values).clamp(min=torch.finfo(scale.dtype).tiny)
        result |= {name: levels.round().to(torch.int8), name + SCALE: scale}
    return result


def decode(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Undo `encode`, up to rounding; tensors that were not encoded stay as they are."""
    result = dict(stored)
    for name in stored:
        if name + SCALE in stored:
            scale = result.pop(name + SCALE)
            result[name] = result[name].float() * _column(scale, result[name])
    return result


def _column(scale: Tensor, tensor: Tensor) -> Tensor:
    """Return one number a row in the shape of a tensor with such rows."""
    return scale.view(-1, *(1,) * (tensor.dim() - 1))
