"""Tensors on disk as safetensors, written so that a crash never leaves half a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import save
from torch import Tensor

from vsdemo.paths import atomic


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
