"""Opens stores by their addresses, and puts embeddings into them."""

from __future__ import annotations

from pathlib import Path

from vsdemo.core.errors import UserError
from vsdemo.core.progress import Progress
from vsdemo.models.scores import Score
from vsdemo.search.stores.addresses import MILVUS, USEARCH
from vsdemo.search.stores.folder import FolderStore
from vsdemo.search.stores.store import Store


def open_store(address: str) -> Store:
    """Return a store.

    Raises:
        UserError: It cannot be read or reached.
    """
    if address.startswith(MILVUS):
        from vsdemo.search.stores.milvus import MilvusStore

        return MilvusStore(address.removeprefix(MILVUS))
    if address.startswith(USEARCH):
        from vsdemo.search.stores.graph import GraphStore

        return GraphStore(Path(address.removeprefix(USEARCH)))
    return FolderStore(Path(address))


def build(folder: Path, to: str, score: Score, progress: Progress, index: str = "") -> str:
    """Put merged embeddings into another store; an interrupted run continues where it stopped.

    Args:
        folder: The folder of the embeddings.
        to: "usearch", or the address of a collection in Milvus.
        score: The score of their model.
        progress: Called with the number of photos in the store and the total.
        index: Kind of index of Milvus; its own choice by default.

    Returns:
        The address of the store.

    Raises:
        UserError: It cannot be written or reached, or `to` is not such a store.
    """
    if to.startswith(MILVUS):
        from vsdemo.search.stores import milvus

        milvus.send(folder, to.removeprefix(MILVUS), score, progress, index or "AUTOINDEX")
        return to
    if to == USEARCH.removesuffix(":"):
        from vsdemo.search.stores import graph

        graph.build(folder, score, progress)
        return f"{USEARCH}{folder}"
    raise UserError(
        f"{to!r} is not a store; use usearch, milvus:FILE.db or milvus:http://HOST:PORT."
    )
