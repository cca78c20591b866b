"""Tensors on disk, keyed by the content of photos: safetensors files of a few hundred rows.

A file is written whole or not at all, so an interrupted run loses at most one file. Its checksum
is compared when its tensors are read.
"""

from __future__ import annotations

import uuid
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from itertools import count, repeat
from pathlib import Path
from typing import NamedTuple

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from vsdemo.core import tensors
from vsdemo.core.checksums import DamagedFile

KEYS = "keys"  # entry of a file's metadata: the keys of its rows, separated by spaces


class Row(NamedTuple):
    """Where the tensors of a photo are: a file, the number of its row, and its key."""

    file: Path
    number: int
    key: str


def find_rows(
    folder: Path, names: frozenset[str], seen: Container[Path] = frozenset()
) -> dict[str, Row]:
    """Return where the tensors of each key are.

    Args:
        folder: Folder of the files.
        names: Names of the tensors that a file must have.
        seen: Files to leave out.

    Returns:
        Key -> row. Damaged files are deleted, incomplete ones ignored.
    """
    rows: dict[str, Row] = {}
    for file, keys in _keys_of_files(folder, names, seen):
        rows.update(zip(keys, map(Row, repeat(file), count(), keys), strict=True))
    return rows


def find_keys(folder: Path, names: frozenset[str]) -> set[str]:
    """Return the keys of `find_rows`."""
    return {key for _, keys in _keys_of_files(folder, names) for key in keys}


def _keys_of_files(
    folder: Path, names: frozenset[str], seen: Container[Path] = frozenset()
) -> Iterator[tuple[Path, list[str]]]:
    """Yield each complete file and its keys, except those in `seen`; delete damaged ones."""
    for file in sorted(folder.glob("*.safetensors")):
        if file in seen:
            continue
        try:
            with safe_open(file, "pt") as opened:
                if not names <= {*opened.keys()}:
                    continue
                keys = opened.metadata()[KEYS].split()
        except (SafetensorError, TypeError, KeyError):
            with suppress(OSError):
                file.unlink()
            continue
        except OSError:
            continue
        yield file, keys


class StoredRows:
    """N rows of a tensor on disk, in the precision of the files, read when they are needed.

    The files are mapped into memory, where the system keeps as much of them as there is room for.

    Args:
        rows: Where the rows are.
        name: Name of the tensor.

    Raises:
        DamagedFile: A file is damaged or gone.
    """

    def __init__(self, rows: Sequence[Row], name: str) -> None:
        files = {file: number for number, file in enumerate(dict.fromkeys(r.file for r in rows))}
        self._keys = [row.key for row in rows]
        self._tensors = [_read(file, name) for file in files]
        self._file = torch.tensor([files[row.file] for row in rows], dtype=torch.long)
        self._number = torch.tensor([row.number for row in rows], dtype=torch.long)

    def __len__(self) -> int:
        """Return N."""
        return len(self._keys)

    def __getitem__(self, rows: Tensor) -> Tensor:
        """Read some rows, by number (M,): (M, ...), on the CPU."""
        if not self._tensors:
            return torch.empty(0)
        rows = rows.cpu()
        of_rows, order = self._file[rows].sort()  # so that each file is read once
        files, counts = of_rows.unique_consecutive(return_counts=True)
        result = self._tensors[0].new_empty(len(rows), *self._tensors[0].shape[1:])
        for file, places in zip(files.tolist(), order.split(counts.tolist()), strict=True):
            result[places] = self._tensors[file][self._number[rows[places]]]
        return result

    def all(self) -> Tensor:
        """Read all rows, (N, ...)."""
        return self[torch.arange(len(self))]

    def content(self) -> Iterator[bytes]:
        """Yield what identifies the rows: their keys."""
        yield from (key.encode() for key in self._keys)


def _read(file: Path, name: str) -> Tensor:
    tensors.check(file)
    try:
        with safe_open(file, "pt") as opened:
            tensor: Tensor = opened.get_tensor(name)
    except (SafetensorError, OSError):  # it was replaced meanwhile
        raise DamagedFile(file) from None
    return tensor


def write(folder: Path, keys: Sequence[str], values: dict[str, Tensor]) -> dict[str, Row]:
    """Write tensors (N, ...) of N keys to a new file, and return where those of each key are."""
    file = folder / f"{uuid.uuid4().hex}.safetensors"
    tensors.write_checked(file, values, {KEYS: " ".join(keys)})
    return {key: Row(file, number, key) for number, key in enumerate(keys)}
