"""Tensors on disk as safetensors, written so that a crash never leaves half a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from vsdemo.core.paths import atomic


def halved(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Matrices in half precision; the rest as it is: variances are too small for that."""
    return {name: t.half() if t.dim() > 1 else t for name, t in tensors.items()}


def write(
    path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None
) -> None:
    """Writes tensors by name. Raises OSError when the disk is full or the folder is read-only;
    safetensors' own `save_file` raises another error then, and lets nobody else read the file."""
    kept = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with atomic(path) as temporary:
        temporary.write_bytes(save(kept, metadata))


def pieces(tensors: Mapping[str, Tensor], limit: int) -> Iterator[tuple[str, Tensor]]:
    """Tensors by name; one of more than `limit` bytes in pieces of its rows, name#0, name#1."""
    for name, tensor in tensors.items():
        if tensor.nbytes <= limit:
            yield name, tensor
        else:
            rows = max(1, limit * len(tensor) // tensor.nbytes)
            yield from ((f"{name}#{i}", part) for i, part in enumerate(tensor.split(rows)))


def whole(stored: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """What `pieces` cut, together again."""
    parts: dict[str, dict[int, Tensor]] = {}
    for key, tensor in stored.items():
        name, _, number = key.partition("#")
        parts.setdefault(name, {})[int(number or 0)] = tensor
    return {
        name: found[0] if len(found) == 1 else torch.cat([found[i] for i in sorted(found)])
        for name, found in parts.items()
    }
