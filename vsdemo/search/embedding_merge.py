"""Merges the blocks of all shards into the layout that clip-retrieval and autofaiss read.

    img_emb/img_emb_0.npy        embeddings, (N, D), float16
    metadata/metadata_0.parquet  a row for each of them, in the same order, with the columns of
                                 `embedding_blocks`, except `caption` if no photo has one
    unreadable.csv               photos without an embedding, and why
    embeddings.json              where all of this comes from; it is written last

Each pair of files has up to a million rows; the others are called img_emb_1.npy and so on, with as
many digits as clip-retrieval uses. One block is in memory at a time.
"""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from vsdemo.core.checksums import DamagedFile
from vsdemo.core.errors import UserError
from vsdemo.core.paths import atomic, write_text
from vsdemo.core.progress import Progress
from vsdemo.data.photo_files import Place, Shard
from vsdemo.search import embedding_blocks
from vsdemo.search.embedding_blocks import BlockInfo, Origin, block_path
from vsdemo.search.export import to_matrix
from vsdemo.search.stores.addresses import ABOUT

ROWS = 1_000_000  # rows of a file
GROUP = 250  # rows of a table that are read at a time, even for the path of only one
UNREADABLE = "unreadable.csv"


class _Blocks(NamedTuple):
    """The blocks of all shards.

    Attributes:
        paths: Each with its shard, in the order of the photos.
        origin: Where they come from.
        shards: How many shards there are.
        photos: Rows of all.
        captions: How many of them have a caption.
        unreadable: Photos, tar files and folders that cannot be read.
    """

    paths: list[tuple[Path, Shard]]
    origin: Origin
    shards: int
    photos: int
    captions: int
    unreadable: int


def merge(folder: Path, progress: Progress) -> dict[str, str | int]:
    """Check that the blocks of all shards are there, and merge them. Older files are replaced.

    Args:
        folder: The folder of the blocks, and of the merged files.
        progress: Called with the number of merged photos and the total.

    Returns:
        What embeddings.json says.

    Raises:
        UserError: A block is missing, damaged, there twice, or of another checkpoint or other
            photos than the first one; no photo could be read, or the disk is full.
    """
    blocks = _check(folder)
    (folder / ABOUT).unlink(missing_ok=True)
    try:
        return _write(folder, blocks, progress)
    except OSError as error:
        raise UserError(
            f"{folder} cannot be written ({error.strerror or error}); make room there, and merge "
            "again."
        ) from None


def _check(folder: Path) -> _Blocks:
    """Return the blocks of all shards.

    Raises:
        UserError: As `merge`.
    """
    names = _blocks_by_shard(folder)
    count = next(iter(names)).total
    if missing := [shard for shard in _shards(count) if shard not in names]:
        more = f" (and {len(missing) - 1:,} more)" if len(missing) > 1 else ""
        raise UserError(
            f"Shard {missing[0]}{more} is missing in {folder}; run `python -m vsdemo embed-photos` "
            f"with --shard {missing[0]}, or copy its blocks there."
        )
    origin = _read(block_path(folder, Shard(1, count), 0), Shard(1, count), 0).origin
    paths: list[tuple[Path, Shard]] = []
    photos = captions = unreadable = 0
    for shard in _shards(count):
        for path, info in _chain(folder, shard, names[shard], origin):
            paths.append((path, shard))
            photos += info.photos
            captions += info.captions
            unreadable += len(info.unreadable)
    if not photos:
        raise UserError(f"{folder} has no embeddings, as none of the photos could be read.")
    return _Blocks(paths, origin, count, photos, captions, unreadable)


def _shards(count: int) -> Iterator[Shard]:
    return (Shard(number, count) for number in range(1, count + 1))


def _blocks_by_shard(folder: Path) -> dict[Shard, set[int]]:
    """Return the numbers of the blocks of each shard, by their names.

    Raises:
        UserError: There are none, there is another file, or there are shards of several divisions.
    """
    result: defaultdict[Shard, set[int]] = defaultdict(set)
    for path in embedding_blocks.block_paths(folder):
        if not (parsed := embedding_blocks.parse_name(path)):
            raise UserError(
                f"{path} is not named like a block and may be a copy of one; delete it."
            )
        shard, number = parsed
        if shard.total != (count := next(iter(result), shard).total):
            raise UserError(
                f"{path} belongs to a division into {shard.total:,} shards, others to one into "
                f"{count:,}; delete the blocks of one of the two."
            )
        result[shard].add(number)
    if not result:
        raise UserError(
            f"There are no embeddings in {folder / embedding_blocks.FOLDER}; run `python -m vsdemo "
            "embed-photos` with this folder as --out first."
        )
    return result


def _chain(
    folder: Path, shard: Shard, numbers: set[int], origin: Origin
) -> Iterator[tuple[Path, BlockInfo]]:
    """Yield the blocks of a shard, each beginning where the previous one ends.

    Args:
        folder: The folder of all blocks.
        shard: The shard.
        numbers: Numbers of its blocks.
        origin: Where they must come from.

    Raises:
        UserError: As `merge`.
    """
    place = Place(shard.share(origin.source_files).start, 0)
    for number in range(max(numbers) + 1):
        path = block_path(folder, shard, number)
        if number not in numbers:
            raise UserError(f"{path} is missing; {_again(shard)}, which writes only this block.")
        info = _read(path, shard, number)
        embedding_blocks.check_origin(path, info.origin, origin)
        if info.start != place:
            raise UserError(
                f"{path} does not begin where the block before it ends; delete it, and "
                f"{_again(shard)}."
            )
        place = info.end
        yield path, info
    if not info.is_last:
        raise UserError(f"Shard {shard} is not complete after {path}; {_again(shard)}.")


def _read(path: Path, shard: Shard, number: int) -> BlockInfo:
    """Return what a block holds.

    Raises:
        UserError: It is missing, damaged or another block.
    """
    if not path.exists():
        raise UserError(f"{path} is missing; {_again(shard)}, which writes only this block.")
    try:
        info = embedding_blocks.read_info(path)
    except DamagedFile:
        raise _damaged(path, shard) from None
    if (info.shard, info.number) != (shard, number):
        raise UserError(
            f"{path} is a copy of block {info.number} of shard {info.shard}; delete it, and "
            f"{_again(shard)}."
        )
    return info


def _damaged(path: Path, shard: Shard) -> UserError:
    return UserError(f"{path} is damaged or cut short; delete it, and {_again(shard)}.")


def _again(shard: Shard) -> str:
    return f"run the command of shard {shard} again"


def _write(folder: Path, blocks: _Blocks, progress: Progress) -> dict[str, str | int]:
    """Write the merged files, and remove those of an older merge and of interrupted runs."""
    matrices, tables = folder / "img_emb", folder / "metadata"
    count = math.ceil(blocks.photos / ROWS)
    digits = int(math.log10(count)) + 1  # as in clip-retrieval
    written: set[Path] = set()
    parts = _cut(_tables(blocks, progress))
    for number, of_file in groupby(parts, key=itemgetter(0)):
        rows = min(ROWS, blocks.photos - number * ROWS)
        matrix = matrices / f"img_emb_{number:0{digits}}.npy"
        table = tables / f"metadata_{number:0{digits}}.parquet"
        _write_pair(matrix, table, (rows, blocks.origin.dim), (part for _, part in of_file))
        written |= {matrix, table}
    _write_unreadable(folder / UNREADABLE, blocks)
    for pattern in ("img_emb/img_emb_*.npy", "metadata/metadata_*.parquet", "*/.*.tmp"):
        for old in {*folder.glob(pattern)} - written:
            old.unlink()
    about: dict[str, str | int] = {
        **blocks.origin.model_dump(),
        "type": "float16",
        "shards": blocks.shards,
        "photos": blocks.photos,
        "captions": blocks.captions,
        "unreadable": blocks.unreadable,
        "files": count,
    }
    write_text(folder / ABOUT, json.dumps(about, indent=1, ensure_ascii=False) + "\n")
    return about


def _tables(blocks: _Blocks, progress: Progress) -> Iterator[pa.Table]:
    """Yield the rows of each block."""
    columns = [*embedding_blocks.COLUMNS, "embedding"]
    if not blocks.captions:
        columns.remove("caption")
    done = 0
    for path, shard in blocks.paths:
        try:
            table = embedding_blocks.read_rows(path)
        except DamagedFile:
            raise _damaged(path, shard) from None
        yield table.select(columns)
        done += len(table)
        progress(done, blocks.photos)


def _cut(tables: Iterable[pa.Table]) -> Iterator[tuple[int, pa.Table]]:
    """Yield all rows with the number of the file that they belong to, ROWS to a file."""
    done = 0
    for table in tables:
        while len(table):
            part = table.slice(0, ROWS - done % ROWS)
            yield done // ROWS, part
            done += len(part)
            table = table.slice(len(part))


def _write_pair(
    matrix: Path, table: Path, shape: tuple[int, int], parts: Iterator[pa.Table]
) -> None:
    """Write a matrix of embeddings of a known shape (N, D), and the table of their photos."""
    first = next(parts)
    columns = first.drop_columns("embedding").schema.remove_metadata()
    with (
        atomic(matrix) as temporary,
        atomic(table) as temporary_table,
        temporary.open("wb") as numbers,  # `np.memmap` crashes if the disk is full
        parquet.ParquetWriter(temporary_table, columns, use_dictionary=False) as rows,
    ):
        header = {"descr": "<f2", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(numbers, header)
        for part in chain([first], parts):
            numbers.write(np.ascontiguousarray(to_matrix(part)).data)
            rows.write_table(part.drop_columns("embedding").cast(columns), row_group_size=GROUP)


def _write_unreadable(to: Path, blocks: _Blocks) -> None:
    """Write which photos have no embedding, and why."""
    with atomic(to) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["image_path", "reason"])
        for path, _ in blocks.paths:
            rows.writerows(embedding_blocks.read_info(path).unreadable.items())
