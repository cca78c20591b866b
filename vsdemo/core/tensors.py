"""Safetensors files that are never left half-written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from vsdemo.core.paths import atomic


def to_half(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Convert matrices to half precision.

    Vectors and scalars keep their precision, because variances can be too small for it.
    """
    return {name: t.half() if t.dim() > 1 else t for name, t in tensors.items()}


def write(
    path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None
) -> None:
    """Write tensors by name.

    Unlike safetensors' `save_file`, this raises plain `OSError`s and leaves the file readable for
    other users.

    Raises:
        OSError: The disk is full or the folder is read-only.
    """
    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with atomic(path) as temporary:
        temporary.write_bytes(save(on_cpu, metadata))


def split_large(tensors: Mapping[str, Tensor], limit: int) -> Iterator[tuple[str, Tensor]]:
    """Yield (name, tensor), with tensors of more than `limit` bytes split along their rows.

    The parts are called `name#0`, `name#1` and so on.
    """
    for name, tensor in tensors.items():
        if tensor.nbytes <= limit:
            yield name, tensor
        else:
            rows = max(1, limit * len(tensor) // tensor.nbytes)
            for number, part in enumerate(tensor.split(rows)):
                yield f"{name}#{number}", part


def join_split(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Undo `split_large`."""
    parts: dict[str, dict[int, Tensor]] = {}
    for key, tensor in stored.items():
        name, _, number = key.partition("#")
        parts.setdefault(name, {})[int(number or 0)] = tensor
    return {
        name: pieces[0] if len(pieces) == 1 else torch.cat([pieces[i] for i in sorted(pieces)])
        for name, pieces in parts.items()
    }
