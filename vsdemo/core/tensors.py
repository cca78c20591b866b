"""Safetensors files that are never left half-written, and whose damage is detected."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import torch
from safetensors.torch import save
from torch import Tensor

from vsdemo.core import json_files
from vsdemo.core.checksums import DamagedFile
from vsdemo.core.paths import atomic

METADATA, CHECKSUM = "__metadata__", "sha256"  # keys in the header of a file
LENGTH = 8  # bytes of the header's length, at the beginning of a file
CHUNK = 1 << 20  # bytes that are read at a time


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
    with atomic(path) as temporary:
        temporary.write_bytes(to_bytes(tensors, metadata))


def to_bytes(tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """Return the content of a file of tensors by name; shared ones are stored under each name."""
    on_cpu: dict[str, Tensor] = {}
    stored: set[int] = set()
    for name, tensor in tensors.items():
        own = tensor.detach().cpu().contiguous()
        place = own.untyped_storage().data_ptr()
        on_cpu[name] = own.clone() if place in stored else own  # safetensors refuses shared ones
        stored.add(place)
    return save(on_cpu, metadata)


def write_checked(
    path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None
) -> None:
    """Write tensors by name, with a checksum over all for `check`. Raises OSError as `write`."""
    content = to_bytes(tensors, metadata)
    start = LENGTH + int.from_bytes(content[:LENGTH], "little")
    header = json.loads(content[LENGTH:start])
    digest = hashlib.sha256(_header_bytes(header))
    digest.update(memoryview(content)[start:])
    header[METADATA] = {**header.get(METADATA, {}), CHECKSUM: digest.hexdigest()}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % LENGTH)  # tensors are aligned
    with atomic(path) as temporary, temporary.open("wb") as file:
        file.write(len(text).to_bytes(LENGTH, "little") + text)
        file.write(memoryview(content)[start:])


def check(path: Path) -> None:
    """Compare a file with the checksum that `write_checked` stored in it.

    Raises:
        DamagedFile: The file is missing, has changed, or has no checksum, as `write` leaves it.
    """
    try:
        with path.open("rb") as file:
            header = _read_header(file)
            stored = header[METADATA].pop(CHECKSUM, None)
            digest = hashlib.sha256(_header_bytes(header))
            while chunk := file.read(CHUNK):
                digest.update(chunk)
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise DamagedFile(path) from None
    if digest.hexdigest() != stored:
        raise DamagedFile(path)


def _read_header(file: BinaryIO) -> Any:
    size = int.from_bytes(file.read(LENGTH), "little")
    if size > Path(file.name).stat().st_size:
        raise ValueError("the header is longer than the file")
    return json_files.parse(file.read(size))


def _header_bytes(header: dict[str, Any]) -> bytes:
    """Return what a checksum begins with: names, types, shapes, places and metadata."""
    return json.dumps({**header, METADATA: header.get(METADATA, {})}, sort_keys=True).encode()


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
