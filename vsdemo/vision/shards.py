"""Tensors on disk, keyed by the content of photos: safetensors files of a few hundred rows.

A file is written whole or not at all, so an interrupted run loses at most one file. Its checksum
is compared when its tensors are read.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
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
    """Where the tensors of a photo are."""

    file: Path
    number: int


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
        rows.update(zip(keys, map(Row, repeat(file), count()), strict=False))
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


def read_rows(rows: Sequence[Row], name: str) -> Tensor:
    """Read the rows of a tensor in the given order, (N, ...), in the precision of the files.

    Raises:
        DamagedFile: A file is damaged or gone.
    """
    by_file: dict[Path, list[int]] = defaultdict(list)
    for position, row in enumerate(rows):
        by_file[row.file].append(position)
    result = torch.empty(0)
    for file, positions in by_file.items():
        tensor = _read(file, name)
        part = tensor[[rows[position].number for position in positions]]
        if not len(result):
            result = part.new_empty(len(rows), *part.shape[1:])
        result[positions] = part
    return result


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
    return {key: Row(file, number) for number, key in enumerate(keys)}
