"""Files with the embeddings of some thousand photos each; a shard consists of many of them.

A block is a Parquet file FOLDER/blocks/SHARD-of-SHARDS-BLOCK.parquet with a row for each photo:

    image_path  its path from the source, such as "2024/a.jpg" or "00000.tar/000000012.jpg"
    caption     its caption; null if it has none
    taken       when it was taken, by the camera's clock; null if that is not known
    camera      maker and model of the camera; empty if they are not known
    width       pixels, as it is shown
    height      pixels, as it is shown
    embedding   its D numbers, float16

The metadata have a key "vsdemo" with `BlockInfo` as JSON. A block is written whole or not at all,
and its pages have checksums.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyarrow import parquet
from pydantic import BaseModel

from vsdemo.core.checksums import DamagedFile
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.paths import atomic
from vsdemo.data.photo_files import Place, Shard
from vsdemo.search.export import METADATA, to_array

FOLDER = "blocks"
PHOTOS = 10_000  # photos of a block; at most these are embedded again after an interruption
NAME = re.compile(r"(\d{5})-of-(\d{5})-(\d{6})\.parquet")
COLUMNS = {
    "image_path": pa.string(),
    "caption": pa.string(),
    "taken": pa.timestamp("s"),
    "camera": pa.string(),
    "width": pa.int32(),
    "height": pa.int32(),
}
DAMAGE = (OSError, ValueError, LookupError)  # what damaged files raise; pyarrow's are ValueErrors


class Origin(BaseModel, frozen=True):
    """Where the embeddings of all blocks come from.

    Attributes:
        checkpoint: Name of the checkpoint.
        content_hash: `checkpoint.content_hash` of it.
        model: Preset and settings.
        licence: Licence of the weights.
        score: Unit of the score.
        meaning: What the score means.
        dim: Length of an embedding.
        source: Name of the folder or tar file of the photos.
        source_digest: `PhotoFiles.digest` of it.
        source_files: Number of its photo files or tar files.
    """

    checkpoint: str
    content_hash: str
    model: str
    licence: str
    score: str
    meaning: str
    dim: int
    source: str
    source_digest: str
    source_files: int


class BlockInfo(BaseModel, frozen=True):
    """What a block holds.

    Attributes:
        origin: Where its embeddings come from.
        shard: The shard.
        number: Number of the block in the shard, from 0.
        start: Place of its first photo.
        end: Place after its last photo.
        photos: Number of its rows.
        captions: How many of them have a caption.
        unreadable: Photos, tar files and folders that cannot be read -> why.
    """

    origin: Origin
    shard: Shard
    number: int
    start: Place
    end: Place
    photos: int = 0
    captions: int = 0
    unreadable: dict[str, str]

    @property
    def is_last(self) -> bool:
        """Whether it is the last one of its shard."""
        return self.end == (self.shard.share(self.origin.source_files).stop, 0)


class PhotoRow(NamedTuple):
    """What a block says about a photo: the columns before its embedding."""

    image_path: str
    caption: str | None = None
    taken: datetime | None = None
    camera: str = ""
    width: int = 0
    height: int = 0


def block_path(folder: Path, shard: Shard, number: int) -> Path:
    """Return the file of a block."""
    return folder / FOLDER / f"{shard.number:05}-of-{shard.total:05}-{number:06}.parquet"


def block_paths(folder: Path) -> list[Path]:
    """Return all files among the blocks, sorted, except unfinished ones."""
    return sorted((folder / FOLDER).glob("[!.]*"))


def parse_name(path: Path) -> tuple[Shard, int] | None:
    """Return shard and number of a block by its name; None if it is not the name of a block."""
    match = NAME.fullmatch(path.name)
    return match and (Shard(int(match[1]), int(match[2])), int(match[3]))


def check_origin(path: Path, origin: Origin, expected: Origin) -> None:
    """Check that a block comes from the same checkpoint and photos as others.

    Args:
        path: The block.
        origin: Where it comes from.
        expected: Where the others come from.

    Raises:
        UserError: It comes from another checkpoint or from other photos.
    """
    if origin.content_hash != expected.content_hash:
        raise UserError(
            f"{path} comes from the checkpoint {origin.checkpoint} ({origin.content_hash}), not "
            f"from {expected.checkpoint} ({expected.content_hash}); delete it, or use another "
            "folder."
        )
    if (origin.source_digest, origin.source_files) != (
        expected.source_digest,
        expected.source_files,
    ):
        raise UserError(
            f"{path} comes from other photos ({origin.source_files:,} files in {origin.source}, "
            f"not {expected.source_files:,} in {expected.source}, or other sizes); delete it, or "
            "use another folder, and leave the photos as they are until all shards are merged."
        )


def write(path: Path, info: BlockInfo, rows: Sequence[PhotoRow], embeddings: Embeddings) -> None:
    """Write a block.

    Args:
        path: The file.
        info: What it holds.
        rows: The N photos.
        embeddings: (N, D).

    Raises:
        OSError: The disk is full or the folder is read-only.
    """
    vector = pa.list_(pa.float16(), info.origin.dim)
    schema = pa.schema(COLUMNS | {"embedding": vector}, {METADATA: info.model_dump_json()})
    columns = [[row[number] for row in rows] for number in range(len(COLUMNS))]
    table = pa.table([*columns, to_array(embeddings, vector)], schema=schema)
    with atomic(path) as temporary:
        parquet.write_table(table, temporary, use_dictionary=False, write_page_checksum=True)


def read_info(path: Path) -> BlockInfo:
    """Return what a block holds, without reading its rows.

    Raises:
        DamagedFile: It is not a block, or is cut short.
    """
    try:
        metadata = parquet.read_metadata(path)
        info = BlockInfo.model_validate_json(metadata.metadata[METADATA.encode()])
    except DAMAGE:
        raise DamagedFile(path) from None
    columns = {*metadata.schema.to_arrow_schema().names}
    if metadata.num_rows != info.photos or not {*COLUMNS} <= columns:
        raise DamagedFile(path)
    return info


def read_rows(path: Path) -> pa.Table:
    """Return the rows of a block.

    Raises:
        DamagedFile: They are not as they were written.
    """
    try:
        return parquet.read_table(path, memory_map=True, page_checksum_verification=True)
    except DAMAGE:
        raise DamagedFile(path) from None
