"""Tensors on disk as safetensors, written so that a crash never leaves half a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetensors.torch import save
from torch import Tensor

from vsdemo.paths import atomic


def write(
    path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None
) -> None:
    """Writes tensors by name. Raises OSError when the disk is full or the folder is read-only;
    safetensors' own `save_file` raises another error then, and lets nobody else read the file."""
    kept = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with atomic(path) as temporary:
        temporary.write_bytes(save(kept, metadata))
