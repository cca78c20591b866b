"""Merged embeddings in a folder: the exact store, which compares the query with all of them.

The files are those that `vsdemo merge-embeddings` writes. Embeddings are mapped into memory, and
what is known about the photos is read when it is needed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import torch
from pyarrow import parquet
from pydantic import ValidationError
from torch import Tensor

from vsdemo.core import json_files
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.data.catalog.filters import PhotoFilter
from vsdemo.data.catalog.table import PhotoTable
from vsdemo.models.scores import Score
from vsdemo.search.embedding_blocks import DAMAGE
from vsdemo.search.index import best_of
from vsdemo.search.stores.addresses import ABOUT
from vsdemo.search.stores.store import About, Candidates

PATH, TAKEN, CAMERA, WIDTH, HEIGHT = "image_path", "taken", "camera", "width", "height"


class FolderStore:
    """Embeddings in a folder, in several files.

    Args:
        folder: The folder.

    Attributes:
        about: Where they come from.

    Raises:
        UserError: A file is missing, cut short, or does not fit the others.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.about = About.model_validate(json_files.load(folder / ABOUT))
        except (OSError, ValueError, ValidationError):
            raise UserError(
                f"{folder} has no merged embeddings; run `python -m vsdemo merge-embeddings` first."
            ) from None
        self._parts = [self._map(path) for path in sorted(folder.glob("img_emb/*.npy"))]
        self._ends = np.cumsum([len(part) for part in self._parts], dtype=np.int64)
        count = int(self._ends[-1]) if self._parts else 0
        if count != self.about.photos:
            raise UserError(
                f"{folder} has {count:,} of {self.about.photos:,} embeddings; a file is missing or "
                "duplicated, so merge them again."
            )

    def _map(self, path: Path) -> Tensor:
        """Return the embeddings of a file, (N, D), mapped into memory."""
        try:
            x = np.load(path, mmap_mode="c")  # "c": torch warns of arrays that cannot be written
        except DAMAGE:
            raise UserError(
                f"{path} is damaged or cut short; merge the embeddings again."
            ) from None
        if x.ndim != 2 or x.shape[1] != self.about.dim:
            raise UserError(
                f"{path} has embeddings of another length than {self.about.dim}; merge them again."
            )
        return torch.from_numpy(x)

    def blocks(self, start: int = 0, size: int = 10_000) -> Sequence[range]:
        """Return the numbers of the photos from `start` on, in blocks that each lie in one file."""
        result = []
        begin = 0
        for end in self._ends.tolist():
            first = max(begin, start)
            result += [range(at, min(at + size, end)) for at in range(first, end, size)]
            begin = end
        return result

    def rows(self, numbers: np.ndarray) -> Tensor:
        """Return the embeddings of photos, (C,) -> (C, D)."""
        if len(self._parts) == 1:
            return self._parts[0][torch.from_numpy(numbers)]
        x = torch.empty(len(numbers), self.about.dim, dtype=torch.half)
        files = np.searchsorted(self._ends, numbers, side="right")
        for file in np.unique(files).tolist():
            places = torch.from_numpy(np.flatnonzero(files == file))
            start = int(self._ends[file]) - len(self._parts[file])
            x[places] = self._parts[file][torch.from_numpy(numbers)[places] - start]
        return x

    def candidates(
        self, query: Tensor, score: Score, count: int, conditions: PhotoFilter
    ) -> Candidates:
        """Return the best photos by the score, of all that meet the conditions."""
        one = Embeddings(query[None])
        if conditions.is_empty:
            parts = [score.of_query(one, Embeddings(part)) for part in self._parts]
            numbers = best_of(torch.cat(parts), count).numpy()
        else:
            meeting = self.meeting(conditions)
            scores = score.of_query(one, Embeddings(self.rows(meeting)))
            numbers = meeting[best_of(scores, count).numpy()]
        return Candidates(numbers, self.rows(numbers), is_best=True)

    def meeting(self, conditions: PhotoFilter) -> np.ndarray:
        """Return the numbers of the photos that meet conditions, (M,) int64.

        Raises:
            UserError: The folder does not know what a condition needs.
        """
        return np.flatnonzero(self.table(conditions).mask(conditions))

    def table(self, conditions: PhotoFilter | None = None) -> PhotoTable:
        """Return what is known about all photos.

        Args:
            conditions: Conditions to check them by; None if there are none.

        Raises:
            UserError: A file is damaged, or a column is missing that a condition needs.
        """
        columns = set(self._tables[0].schema_arrow.names) if self._tables else set()
        missing = _needed(conditions or PhotoFilter()) - columns
        if missing:
            raise UserError(
                f"These embeddings lack the {' and '.join(sorted(missing))} of photos; "
                "leave out this condition."
            )
        return self._table

    @cached_property
    def _table(self) -> PhotoTable:
        known = {PATH, TAKEN, CAMERA, WIDTH, HEIGHT}
        wanted = [name for name in self._tables[0].schema_arrow.names if name in known]
        try:
            table = pa.concat_tables(file.read(wanted) for file in self._tables)
        except DAMAGE:
            raise self._damaged() from None
        count = len(table)
        folders = pa.array([os.path.dirname(path) for path in table[PATH].to_pylist()])
        folder_of = folders.dictionary_encode()
        nothing = pa.nulls(count, pa.string())
        cameras = (table[CAMERA].combine_chunks() if CAMERA in wanted else nothing).fill_null("")
        camera_of = cameras.dictionary_encode()
        taken = np.full(count, "NaT", "datetime64[s]")
        if TAKEN in wanted:
            taken = table[TAKEN].cast(pa.timestamp("s")).to_numpy()
        sides = [
            table[name].to_numpy() if name in wanted else np.zeros(count, np.int32)
            for name in (WIDTH, HEIGHT)
        ]
        return PhotoTable(
            root=Path(),
            folders=folder_of.dictionary.to_pylist(),
            folder_of=folder_of.indices.to_numpy(),
            cameras=camera_of.dictionary.to_pylist(),
            camera_of=camera_of.indices.to_numpy(),
            taken=taken,
            widths=sides[0],
            heights=sides[1],
        )

    @cached_property
    def _tables(self) -> list[parquet.ParquetFile]:
        """The files with what is known about the photos, in the order of the embeddings."""
        try:
            files = [
                parquet.ParquetFile(path, memory_map=True)
                for path in sorted(self.folder.glob("metadata/*.parquet"))
            ]
        except DAMAGE:
            raise self._damaged() from None
        counts = [file.metadata.num_rows for file in files]
        if counts != [len(part) for part in self._parts]:
            raise self._damaged()
        return files

    def _damaged(self) -> UserError:
        return UserError(
            f"A file in {self.folder / 'metadata'} is missing or damaged; merge the embeddings "
            "again."
        )

    def paths(self, numbers: Sequence[int]) -> list[str]:
        """Return the paths of photos, from the folder or tar file that was embedded."""
        groups, ends = self._groups
        of_numbers = np.searchsorted(ends, np.asarray(numbers), side="right").tolist()
        rows = {group: self._paths_of(*groups[group]) for group in {*of_numbers}}
        # A place is counted from the end of its group.
        places = zip(numbers, of_numbers, strict=True)
        return [str(rows[group][number - int(ends[group])]) for number, group in places]

    def _paths_of(self, file: int, group: int) -> pa.ChunkedArray:
        """Return the paths of a group of rows."""
        try:
            return self._tables[file].read_row_group(group, [PATH], use_threads=False)[PATH]
        except DAMAGE:
            raise self._damaged() from None

    @cached_property
    def _groups(self) -> tuple[list[tuple[int, int]], np.ndarray]:
        """The groups of rows that are read at a time.

        Returns:
            File and number in the file of G groups, and (G,) the photos up to the end of each.
        """
        groups = [
            (file, group)
            for file, table in enumerate(self._tables)
            for group in range(table.num_row_groups)
        ]
        counts = [self._tables[file].metadata.row_group(group).num_rows for file, group in groups]
        return groups, np.cumsum(counts)


def _needed(conditions: PhotoFilter) -> set[str]:
    """Return the columns that conditions need, except the path."""
    needed = set()
    if conditions.since or conditions.until:
        needed.add(TAKEN)
    if conditions.camera:
        needed.add(CAMERA)
    if conditions.orientation or conditions.megapixels:
        needed |= {WIDTH, HEIGHT}
    return needed
