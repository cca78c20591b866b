"""Matrices with 4 bits a number.

Each row x becomes whole numbers q of levels, and the size s of a level:

    q = round(x / s),      s = max |x| / 7

The rounding error is at most half a level. Two numbers q + 8 share a byte, the first one in its
lower half.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

LEVELS = 7  # in each direction
ZERO = 8  # how 0 is stored
SCALE, SHAPE = ".scale", ".shape"  # end the names of the sizes of a level, and of the shapes


def encode(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return tensors by name: the bytes of matrices and, under longer names, their s and shapes.

    Vectors and scalars, of which there are few, stay as they are.
    """
    result = {}
    for name, tensor in tensors.items():
        if tensor.dim() < 2:
            result[name] = tensor
            continue
        rows = tensor.detach().float().flatten(1)
        scale = rows.abs().amax(1) / LEVELS  # (rows,)
        levels = (rows / scale[:, None].clamp(min=torch.finfo(scale.dtype).tiny)).round() + ZERO
        shape = torch.tensor(tensor.shape, dtype=torch.int32)
        result |= {name: _pack(levels.byte()), name + SCALE: scale, name + SHAPE: shape}
    return result


def decode(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Undo `encode`, up to rounding; tensors that were not encoded stay as they are."""
    result = dict(stored)
    for name in stored:
        if name + SHAPE in stored:
            scale, shape = result.pop(name + SCALE), result.pop(name + SHAPE).tolist()
            levels = _unpack(result[name])[:, : math.prod(shape[1:])]
            result[name] = ((levels.float() - ZERO) * scale[:, None]).view(shape)
    return result


def _pack(numbers: Tensor) -> Tensor:
    """Put two numbers below 16 into each byte: (R, N) -> (R, ceil(N / 2))."""
    first, second = numbers[:, ::2], numbers[:, 1::2]
    packed = first.clone()
    packed[:, : second.shape[1]] |= second << 4
    return packed


def _unpack(packed: Tensor) -> Tensor:
    """Undo `_pack`, except that N is even: (R, M) -> (R, 2 M)."""
    return torch.stack([packed & 15, packed >> 4], dim=-1).flatten(1)
