"""Embeddings of the photos of an index, on disk in half precision, one file a checkpoint.

They speed up the start: the file is mapped into memory, and only photos that are new since it was
written are embedded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from vsdemo.core import locks, tensors
from vsdemo.core.checksums import DamagedFile
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.paths import home

X, KEYS = "x", "keys"  # tensors of a file
MIN_PHOTOS = 1000  # fewer are embedded in less than a second


def stored_path(name: str, content_hash: str) -> Path:
    """Return the file with the embeddings of an index by a checkpoint."""
    return home() / "embeddings" / name / f"{content_hash}.safetensors"


def read_or_embed(
    path: Path, keys: Sequence[str], embed: Callable[[Sequence[int]], Embeddings]
) -> Embeddings:
    """Return the embeddings of N photos in half precision, (N, D).

    Args:
        path: The file of `stored_path`; it is written if it lacks photos.
        keys: The content hash of each photo.
        embed: Returns the embeddings of the photos with some numbers. It is not called if the file
            has all.
    """
    wanted = _to_tensor(keys)
    stored = _read(path)
    if stored is None or not torch.equal(stored[1], wanted):
        with locks.turn(path):
            stored = _read(path)  # another process may have written it meanwhile
            if stored is None or not torch.equal(stored[1], wanted):
                stored = _write(path, stored, keys, embed), wanted
    return Embeddings(stored[0])


def _write(
    path: Path,
    stored: tuple[Tensor, Tensor] | None,
    keys: Sequence[str],
    embed: Callable[[Sequence[int]], Embeddings],
) -> Tensor:
    """Write and return the embeddings of photos by key; those already stored are copied."""
    rows: dict[str, int] = {}
    if stored is not None:
        rows = {bytes(key).hex(): row for row, key in enumerate(stored[1].numpy())}
    missing = [number for number, key in enumerate(keys) if key not in rows]
    known = [number for number, key in enumerate(keys) if key in rows]
    x = torch.empty(0, 0, dtype=torch.half)
    if missing:
        new = embed(missing).x.half()
        x = new.new_empty(len(keys), new.shape[1])
        x[missing] = new
    if known and stored is not None:
        old = stored[0][[rows[keys[number]] for number in known]]
        x = x if len(x) else old.new_empty(len(keys), old.shape[1])
        x[known] = old
    tensors.write_checked(path, {X: x, KEYS: _to_tensor(keys)})
    written = _read(path)  # memory that is mapped is shared with other processes
    return x if written is None else written[0]


def _read(path: Path) -> tuple[Tensor, Tensor] | None:
    """Return embeddings (N, D), mapped into memory, and keys (N, 16); None if there are none."""
    try:
        tensors.check(path)
        with safe_open(path, "pt") as file:
            return file.get_tensor(X), file.get_tensor(KEYS)
    except (DamagedFile, OSError, SafetensorError):
        return None


def _to_tensor(keys: Sequence[str]) -> Tensor:
    """Return N keys of 32 hexadecimal digits as (N, 16) bytes."""
    return torch.frombuffer(bytearray.fromhex("".join(keys)), dtype=torch.uint8).view(-1, 16)
