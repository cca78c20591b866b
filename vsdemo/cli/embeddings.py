"""`embed-photos` and `merge-embeddings`: large numbers of photos, by many processes or machines."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from vsdemo.cli.options import Checkpoint, Json
from vsdemo.cli.output import photo_progress, print_json, print_problems
from vsdemo.core.interrupts import INTERRUPTED


def embed_photos(
    checkpoint: Checkpoint,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="Folder of photos, or of tar files of photos as img2dataset writes them.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write the embeddings.")],
    shard: Annotated[
        str,
        typer.Option(
            metavar="I/N",
            help="Embed only the I-th of N parts, from 1/N to N/N; merge them when all are there.",
        ),
    ] = "1/1",
    *,
    as_json: Json = False,
) -> None:
    """Embed large numbers of photos, with as many processes or machines as you like.

    Each process has a shard, such as 3/16, and writes it in blocks of 10,000 photos; all use the
    same --out, or their folders `blocks` are copied together. The same command continues after the
    last complete block, even after `kill -9`. Photos that cannot be read are listed and left out.
    `merge-embeddings` then writes the result; without --shard this command does so itself.
    """
    from vsdemo.data.photo_files import Shard, find_photos
    from vsdemo.search.embedding_merge import merge
    from vsdemo.search.photo_embedding import PhotoEmbedder

    part = Shard.parse(shard)
    with _stopping("Stopped; the same command continues after the last complete block."):
        embedder = PhotoEmbedder(checkpoint)
        with photo_progress("Listing photos") as report:
            photos = find_photos(source, report)
        started = time.monotonic()
        with photo_progress(f"Shard {part}") as report:
            summary = embedder.embed_shard(photos, part, out, report)
        seconds = time.monotonic() - started
        if part.total == 1:
            with photo_progress("Merging") as report:
                merge(out, report)
    if as_json:
        values = asdict(summary) | {"seconds": round(seconds, 3)}
        print_json({"folder": str(out), "shard": str(part), **values})
        return
    print(
        f"Shard {part}: {summary.photos:,} photos, {len(summary.unreadable):,} unreadable; "
        f"{summary.new:,} new in {seconds:.1f} s ({summary.new / seconds:.1f} photos/s)"
    )
    print_problems(summary.unreadable)


def merge_embeddings(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The --out of all shards of embed-photos.")
    ],
    *,
    as_json: Json = False,
) -> None:
    """Merge the shards of embed-photos into files that clip-retrieval and autofaiss read.

    It checks that all shards are there, are complete and come from the same checkpoint and photos.
    Then it writes img_emb/img_emb_0.npy, metadata/metadata_0.parquet with a row for each embedding,
    more such pairs for more than a million photos, unreadable.csv, and embeddings.json, which says
    where they come from. Older ones are replaced.
    """
    from vsdemo.search.embedding_merge import merge

    with _stopping("Stopped; the same command merges again."), photo_progress("Merging") as report:
        about = merge(folder, report)
    if as_json:
        print_json({"folder": str(folder), **about})
    else:
        print("{photos:,} photos, {unreadable:,} unreadable, {dim:,} x {type}".format(**about))
        print(folder)


@contextmanager
def _stopping(message: str) -> Iterator[None]:
    """On Ctrl-C within the block, print a message and end."""
    try:
        yield
    except KeyboardInterrupt:
        print(message, file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
