"""The embeddings of a gallery as a file for other programs.

The file has a row for each photo, and then one for each caption:

    kind       "photo" or "caption"
    photo      file name of the photo, or of the one that the caption describes; in a folder of
               photos its path from there
    number     number of the caption among those of its photo, from 0; null for a photo
    text       the caption; null for a photo
    embedding  its D numbers; by a model of fragments a list of vectors, one for each region of a
               photo or fragment of a caption

NAME.parquet has these columns. Its metadata have a key "vsdemo" with a JSON object that says which
checkpoint, gallery and score they are of. NAME.npy is the matrix of the embeddings, (rows, D), and
NAME.npy.json beside it has that object, with the other columns as `rows`.

Numbers are float32, or float16, which takes half of the space and keeps three digits.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.paths import atomic, printable, short_name, write_text
from vsdemo.core.progress import Progress
from vsdemo.core.sentences import Sentence
from vsdemo.models import licences
from vsdemo.models.scores import Score
from vsdemo.search.engine import Engine, Reader

BLOCK = 1024  # rows that are embedded and written at a time
METADATA = "vsdemo"  # their key in a Parquet file

Columns = tuple[list[str], list[str], Sequence[int | None], Sequence[str | None]]


class Format(NamedTuple):
    """A format of files.

    Attributes:
        write: Writes a file, given its schema and its rows.
        holds_sets: Whether a row can have several vectors.
    """

    write: Callable[[Path, pa.Schema, Iterator[pa.RecordBatch]], None]
    holds_sets: bool


def check(to: Path, score: Score) -> None:
    """Check the name of a file before photos are read, which takes long.

    Args:
        to: The file.
        score: Score of the model.

    Raises:
        UserError: The name has no known ending, or that of a format that cannot hold the model's
            embeddings.
    """
    if to.suffix.lower() not in FORMATS:
        raise UserError(f"{to} has an unsupported extension; use .parquet or .npy.")
    if score.can_align and not FORMATS[to.suffix.lower()].holds_sets:
        raise UserError(
            f"This model has several vectors for a photo or caption, which a {to.suffix} file "
            "cannot hold; use .parquet."
        )


def write(
    engine: Engine, to: Path, *, half: bool = False, progress: Progress | None = None
) -> dict[str, str | int]:
    """Write the embeddings of the photos and captions of a gallery.

    Args:
        engine: A checkpoint over the gallery.
        to: The file, which is replaced if it exists; its ending selects the format.
        half: Write float16 instead of float32.
        progress: Called with the number of embedded captions and the total.

    Returns:
        What the file says about its embeddings.

    Raises:
        UserError: As for `check`, or the file cannot be written.
    """
    check(to, engine.score)
    about: dict[str, str | int] = {
        **about_model(engine),
        "gallery": Path(engine.gallery.name).name,
        "split": engine.gallery.split,
        "photos": len(engine.gallery.photos),
        "captions": len(engine.gallery.captions),
        "dim": engine.model.text.dim,
        "type": "float16" if half else "float32",
    }
    vector = pa.list_(pa.float16() if half else pa.float32(), engine.model.text.dim)
    columns = {
        "kind": pa.string(),
        "photo": pa.string(),
        "number": pa.int32(),
        "text": pa.string(),
        "embedding": pa.list_(vector) if engine.score.can_align else vector,
    }
    schema = pa.schema(columns, {METADATA: json.dumps(about)})
    rows = (
        pa.record_batch([*items, to_array(embeddings, vector)], schema=schema)
        for items, embeddings in _blocks(engine, progress)
    )
    try:
        FORMATS[to.suffix.lower()].write(to, schema, rows)
    except OSError as error:
        raise UserError(f"{to} cannot be written ({error.strerror or error}).") from None
    return about


def about_model(reader: Reader) -> dict[str, str]:
    """Return what a file says about the model of its embeddings."""
    return {
        "checkpoint": short_name(reader.folder),
        "content_hash": reader.content_hash,
        "model": reader.spec.label,
        "licence": licences.label(reader.spec),
        "score": reader.score.unit,
        "meaning": reader.score.meaning,
    }


def _blocks(engine: Engine, progress: Progress | None) -> Iterator[tuple[Columns, Embeddings]]:
    """Yield the other columns and the embeddings of photos, then those of captions."""
    gallery, photos = engine.gallery, engine.photos.embeddings.float().to("cpu")
    names = [_name(photo, gallery) for photo in gallery.photos]
    for start in range(0, len(names), BLOCK):
        rows = slice(start, start + BLOCK)
        nulls = [None] * len(names[rows])
        yield (["photo"] * len(nulls), names[rows], nulls, nulls), photos[rows]
    numbers = {
        caption: number
        for captions in gallery.captions_of
        for number, caption in enumerate(captions)
    }
    everything = range(len(gallery.captions))
    for start in everything[::BLOCK]:
        block = everything[start : start + BLOCK]
        texts = [gallery.captions[caption] for caption in block]
        columns = (
            ["caption"] * len(block),
            [names[gallery.photo_of[caption]] for caption in block],
            [numbers[caption] for caption in block],
            [printable(text) for text in texts],
        )
        yield columns, engine.model.encode_text([Sentence(text) for text in texts])
        if progress:
            progress(block.stop, len(everything))


def _name(photo: Path, gallery: CaptionSet) -> str:
    """Return the name of a photo: its path from the folder that is the gallery, or its file's."""
    folder = Path(gallery.name)
    path = photo.relative_to(folder) if photo.is_relative_to(folder) else Path(photo.name)
    return printable(path.as_posix())


def to_array(embeddings: Embeddings, vector: pa.FixedSizeListType) -> pa.Array:
    """Return embeddings (N, D) as N vectors, or sets (N, K, D) as N lists of those that exist."""
    x, mask = embeddings.x, embeddings.mask
    existing = x if mask is None else x[mask]  # (R, D)
    numbers = existing.numpy().astype(vector.value_type.to_pandas_dtype())
    vectors = pa.FixedSizeListArray.from_arrays(numbers.ravel(), type=vector)
    if mask is None:
        return vectors
    ends = mask.sum(1).cumsum(0)  # (N,)
    return pa.ListArray.from_arrays(pa.array([0, *ends.tolist()], pa.int32()), vectors)


def to_matrix(table: pa.Table) -> np.ndarray:
    """Return the embeddings of N rows that have one vector each, (N, D)."""
    numbers: np.ndarray = table["embedding"].combine_chunks().flatten().to_numpy()
    return numbers.reshape(len(table), -1)


def _write_parquet(to: Path, schema: pa.Schema, rows: Iterator[pa.RecordBatch]) -> None:
    with atomic(to) as temporary, parquet.ParquetWriter(temporary, schema) as writer:
        for batch in rows:
            writer.write_batch(batch)


def _write_npy(to: Path, schema: pa.Schema, rows: Iterator[pa.RecordBatch]) -> None:
    table = pa.Table.from_batches(rows, schema)
    content = io.BytesIO()  # to a file, `np.save` does not say that a disk is full
    np.save(content, to_matrix(table))
    with atomic(to) as temporary:
        temporary.write_bytes(content.getbuffer())
    about = json.loads(schema.metadata[METADATA.encode()])
    about["rows"] = table.drop_columns("embedding").to_pylist()
    write_text(to.with_name(f"{to.name}.json"), json.dumps(about, ensure_ascii=False) + "\n")


FORMATS = {
    ".parquet": Format(_write_parquet, holds_sets=True),
    ".npy": Format(_write_npy, holds_sets=False),
}
