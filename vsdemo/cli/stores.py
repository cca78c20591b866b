"""`store`, and searches of stores: embeddings that no gallery holds in memory."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vsdemo.cli.options import Checkpoint
from vsdemo.cli.output import NO_PHOTO, print_hits, print_json, print_unknown, stage_progress
from vsdemo.core.errors import UserError
from vsdemo.data.catalog.filters import PhotoFilter

if TYPE_CHECKING:
    from vsdemo.serving.records import StoreAnswer


def store(
    checkpoint: Checkpoint,
    embeddings: Annotated[Path, typer.Argument(help="Folder of merged embeddings.")],
    to: Annotated[
        str,
        typer.Argument(
            help="usearch for a graph in this folder, or milvus:FILE.db or milvus:http://HOST:PORT "
            "for a collection, whose name may follow after #."
        ),
    ],
    index: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="Kind of index in Milvus, such as FLAT (exact), HNSW, IVF_SQ8 or DISKANN; its own "
            "choice by default.",
        ),
    ] = "",
) -> None:
    """Put merged embeddings into a store that finds the best photos without comparing all.

    An interrupted run continues where it stopped. Search it with --gallery usearch:FOLDER or
    --gallery milvus:ADDRESS.
    """
    from vsdemo.core.paths import short_name
    from vsdemo.models import checkpoint as checkpoints
    from vsdemo.search.stores import opening
    from vsdemo.search.stores.store import check_model

    model, _, _ = checkpoints.load(checkpoint)
    about = opening.open_store(str(embeddings)).about
    check_model(about, short_name(checkpoint), checkpoints.content_hash(checkpoint), model.score)
    with stage_progress() as report:
        address = opening.build(
            embeddings,
            to,
            model.score,
            lambda done, total: report("Storing embeddings", done, total),
            index,
        )
    print(f"{about.photos:,} embeddings are stored; search them with --gallery {address}.")


def answer_from_store(
    checkpoint: Path,
    address: str,
    sentence: str,
    k: str,
    conditions: PhotoFilter,
    fallback: str,
) -> StoreAnswer:
    """Return the photos of a store that a sentence describes best.

    Args:
        checkpoint: The checkpoint of the embeddings.
        address: Address of the store.
        sentence: The sentence.
        k: Number of photos.
        conditions: What the photos must meet.
        fallback: Address of the store that is searched if this one cannot be read or reached.

    Raises:
        UserError: As `answers.search_stored`, for the fallback if there is one.
    """
    from vsdemo.search.engine import Reader, check_k
    from vsdemo.serving import answers

    count, reader = check_k(k), Reader(checkpoint)
    query = reader.encode(sentence)  # a bad sentence is no reason to fall back
    try:
        return answers.search_stored(reader, address, sentence, query, count, conditions)
    except UserError as error:
        if not fallback:
            raise
        print(f"{error} Searching {fallback} instead.", file=sys.stderr)
        return answers.search_stored(reader, fallback, sentence, query, count, conditions)


def show_stored(answer: StoreAnswer, *, as_json: bool) -> None:
    """Print the photos of a store, and whether a better one may have been missed."""
    if as_json:
        print_json(answer.model_dump())
        return
    print_unknown(answer.unknown_words)
    if not answer.hits:
        print(NO_PHOTO)
    print_hits(answer)
    if answer.hits and not answer.is_certain:
        print(
            f"These are the best of {answer.candidates:,} candidates; a better photo may have been "
            "missed."
        )
