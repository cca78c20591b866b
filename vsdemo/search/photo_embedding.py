"""Embeds large numbers of photos with a checkpoint: what `vsdemo embed-photos` does.

Many processes or machines share the photos; each has one shard. A shard is written in blocks, so
that a run that is killed loses no more than one of them. Photos are decoded in threads while the
networks embed those before them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from vsdemo.core import cores
from vsdemo.core.checksums import DamagedFile
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.images import decode_photo, open_header
from vsdemo.core.paths import printable
from vsdemo.core.progress import Progress
from vsdemo.data.catalog.examine import MAX_BYTES, shown_size
from vsdemo.data.catalog.metadata import read_metadata
from vsdemo.data.photo_files import PhotoFiles, Place, Shard, StoredPhoto
from vsdemo.models import checkpoint
from vsdemo.search import embedding_blocks
from vsdemo.search.embedding_blocks import (
    BlockInfo,
    Origin,
    PhotoRow,
    block_path,
    block_paths,
    check_origin,
    parse_name,
)
from vsdemo.search.engine import Reader
from vsdemo.search.export import about_model

AHEAD = 2  # batches of photos that are being decoded or wait for the network


@dataclass
class ShardSummary:
    """What a shard holds.

    Attributes:
        photos: Its embedded photos.
        new: Those of these photos that this run has embedded.
        blocks: Its blocks.
        unreadable: Photos, tar files and folders that cannot be read -> why.
    """

    photos: int = 0
    new: int = 0
    blocks: int = 0
    unreadable: dict[str, str] = field(default_factory=dict)

    @property
    def seen(self) -> int:
        """Photos that are done, readable or not."""
        return self.photos + len(self.unreadable)

    def add(self, info: BlockInfo) -> None:
        """Add a block."""
        self.photos += info.photos
        self.blocks += 1
        self.unreadable |= info.unreadable


class _Decoded(NamedTuple):
    """A photo on its way through the network.

    Attributes:
        row: What is known about it.
        views: (V, 3, H, W), uint8; None if it cannot be read, or is already embedded.
        problem: Why it cannot be read; empty if it can.
    """

    row: PhotoRow
    views: np.ndarray | None = None
    problem: str = ""


class PhotoEmbedder:
    """A checkpoint that embeds photos from a source.

    Args:
        folder: The checkpoint.

    Raises:
        UserError: The checkpoint is missing or damaged, its image network is not available, it was
            trained without photos, or it has several vectors for a photo.
    """

    def __init__(self, folder: Path) -> None:
        self._reader = Reader(folder)
        self._cache = checkpoint.feature_cache(self._reader.spec)
        if self._reader.can_align or not self._cache.has_views:
            raise UserError(
                f"{self._reader.spec.preset} has several vectors for a photo, one for each region, "
                "which a matrix of embeddings cannot hold; use a model with one, such as gru."
            )
        self._cache.load()
        self._cutter = self._cache.cutter()

    def origin(self, source: PhotoFiles) -> Origin:
        """Return the origin of the embeddings of a source."""
        return Origin(
            **about_model(self._reader),
            dim=self._reader.model.text.dim,
            source=printable(source.path.resolve().name),
            source_digest=source.digest,
            source_files=len(source.files),
        )

    def embed_shard(
        self, source: PhotoFiles, shard: Shard, to: Path, progress: Progress
    ) -> ShardSummary:
        """Write the blocks of a shard that are missing or damaged.

        Args:
            source: The photos.
            shard: Which of them.
            to: The folder of all blocks.
            progress: Called with the number of photos that are done and the total, which is
                estimated for tar files.

        Raises:
            UserError: The folder holds blocks of another checkpoint, of other photos or of another
                number of shards, there are fewer files than shards, or the disk is full.
        """
        share, origin = source.share(shard), self.origin(source)
        _check_division(to, shard)
        summary = ShardSummary()
        place = Place(share.start, 0)
        while place.file < share.stop:
            path = block_path(to, shard, summary.blocks)
            info = _finished(path, origin, place)
            if info is None:
                stretch = source.take(place, share.stop, embedding_blocks.PHOTOS)
                info = BlockInfo(
                    origin=origin,
                    shard=shard,
                    number=summary.blocks,
                    start=place,
                    end=stretch.end,
                    unreadable=_printable(stretch.unreadable),
                )
                seen, of_all = summary.seen, source.progress(share, stretch.end)
                total = round((seen + len(stretch.photos)) / of_all)

                def report(done: int, seen: int = seen, total: int = total) -> None:
                    progress(seen + done, total)

                info = self._write_block(path, info, stretch.photos, report)
                summary.new += info.photos
            summary.add(info)
            place = info.end
        return summary

    def _write_block(
        self,
        path: Path,
        info: BlockInfo,
        photos: Sequence[StoredPhoto],
        report: Callable[[int], None],
    ) -> BlockInfo:
        """Embed the photos of a block, write it, and return what it holds.

        Args:
            path: The file.
            info: What is known about the block beforehand.
            photos: The photos.
            report: Called with the number of photos that are done.
        """
        report(0)
        rows: list[PhotoRow] = []
        vectors: list[Tensor] = []
        unreadable = dict(info.unreadable)
        for batch in self._batches(photos):
            views = [photo.views for photo in batch if photo.views is not None]
            if views:
                vectors.append(self._encode(views))
            rows += [photo.row for photo in batch if not photo.problem]
            unreadable |= {photo.row.image_path: photo.problem for photo in batch if photo.problem}
            report(len(rows) + len(unreadable) - len(info.unreadable))
        info = info.model_copy(
            update={
                "photos": len(rows),
                "captions": sum(row.caption is not None for row in rows),
                "unreadable": unreadable,
            }
        )
        x = torch.cat(vectors) if vectors else torch.empty(0, info.origin.dim)
        try:
            embedding_blocks.write(path, info, rows, Embeddings(x))
        except OSError as error:
            raise UserError(
                f"{path} cannot be written ({error.strerror or error}); make room there, and the "
                "same command continues."
            ) from None
        return info

    def _encode(self, views: Sequence[np.ndarray]) -> Tensor:
        """Return the embeddings (B, D), in half precision, of B photos with views (V, 3, H, W)."""
        features = self._cache.encode_views(np.stack(views))
        return self._reader.model.encode_image(features).x.half()

    def _batches(self, photos: Sequence[StoredPhoto]) -> Iterator[list[_Decoded]]:
        """Yield photos in batches for the network, while threads decode the next ones."""
        size = self._cache.photos_per_batch
        rest = iter(photos)
        waiting: deque[Future[_Decoded]] = deque()
        pool = cores.thread_pool()
        try:
            while True:
                for photo in islice(rest, (1 + AHEAD) * size - len(waiting)):
                    waiting.append(pool.submit(self._decode, photo))
                if not waiting:
                    return
                yield [waiting.popleft().result() for _ in range(min(size, len(waiting)))]
        finally:
            pool.shutdown(cancel_futures=True)

    def _decode(self, photo: StoredPhoto) -> _Decoded:
        """Read a photo, and what is known about it."""
        row, size = PhotoRow(printable(photo.name)), photo.content.size
        short = PurePosixPath(row.image_path).name
        if size > MAX_BYTES:
            return _Decoded(row, problem=f"{short} has {size / 1e9:,.1f} GB; the limit is 1 GB.")
        try:
            data = photo.content.read()
            views = self._cutter(decode_photo(data, short, self._cutter.short))
            with open_header(data, short) as image:
                metadata = read_metadata(image, photo.path)
                width, height = shown_size(image)
        except OSError as error:
            return _Decoded(row, problem=f"{short} cannot be read ({error.strerror}).")
        except UserError as error:
            return _Decoded(row, problem=str(error))
        caption = photo.caption()
        row = row._replace(
            caption=caption and printable(caption),
            taken=datetime.fromisoformat(metadata.taken) if metadata.taken else None,
            camera=printable(metadata.camera),
            width=width,
            height=height,
        )
        return _Decoded(row, views=views)


def _finished(path: Path, origin: Origin, place: Place) -> BlockInfo | None:
    """Return what a block holds; None if it is missing, damaged or does not begin at a place.

    Raises:
        UserError: As `check_origin`.
    """
    try:
        info = embedding_blocks.read_info(path)
    except DamagedFile:
        return None
    check_origin(path, info.origin, origin)
    return info if info.start == place else None


def _check_division(to: Path, shard: Shard) -> None:
    """Raise UserError if a folder has blocks of another number of shards."""
    for path in block_paths(to):
        parsed = parse_name(path)
        if parsed and parsed[0].total != shard.total:
            raise UserError(
                f"{path} belongs to a division into {parsed[0].total:,} shards, not into "
                f"{shard.total:,}; use the same number for all of them, or another folder."
            )


def _printable(texts: dict[str, str]) -> dict[str, str]:
    return {printable(key): printable(text) for key, text in texts.items()}
