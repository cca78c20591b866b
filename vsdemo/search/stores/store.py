"""What a store of embeddings can do, and the exact ranking of the candidates that it returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from pydantic import BaseModel
from torch import Tensor

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.hits import Hit, make_hits
from vsdemo.data.catalog.filters import PhotoFilter
from vsdemo.models.scores import Score
from vsdemo.search.index import best_of

CANDIDATES = 100  # at least, whatever the number of results


class About(BaseModel, frozen=True):
    """Where the embeddings of a store come from.

    Attributes:
        checkpoint: Name of the checkpoint.
        content_hash: `checkpoint.content_hash` of it.
        dim: Length of an embedding.
        photos: Number of embeddings.
    """

    checkpoint: str
    content_hash: str
    dim: int
    photos: int


class Candidates(NamedTuple):
    """Photos among which the best are looked for.

    Attributes:
        numbers: (C,) their numbers in the store, int64.
        x: (C, D) their embeddings.
        is_best: Whether they are the best by the score itself.
        similarity: Upper bound on the similarity of all other photos to the query, by the metric of
            the score; None if that is not known.
    """

    numbers: np.ndarray
    x: Tensor
    is_best: bool = False
    similarity: float | None = None


class StoreResult(NamedTuple):
    """The best photos of a store.

    Attributes:
        hits: The photos, the best first.
        is_certain: Whether no other photo of the store can be better. If not, they are the best of
            the candidates, and a better photo may have been missed.
        candidates: How many photos were compared by the score.
    """

    hits: list[Hit]
    is_certain: bool
    candidates: int


class Store(Protocol):
    """Embeddings of photos, and what is known about each photo.

    Attributes:
        about: Where the embeddings come from.
    """

    about: About

    def candidates(
        self, query: Tensor, score: Score, count: int, conditions: PhotoFilter
    ) -> Candidates:
        """Return about `count` candidates for the best photos, fewer if there are not so many.

        Args:
            query: A sentence's embedding, (D,).
            score: The score that they are ranked by later.
            count: How many candidates.
            conditions: What the photos must meet.

        Raises:
            UserError: The store cannot be read or reached, or does not know what a condition needs.
        """

    def paths(self, numbers: Sequence[int]) -> list[str]:
        """Return the paths of photos.

        Raises:
            UserError: The store cannot be read or reached.
        """


def search_store(
    store: Store,
    query: Embeddings,
    score: Score,
    k: int,
    conditions: PhotoFilter | None = None,
) -> StoreResult:
    """Return the k photos of a store that a sentence describes best, by the exact score.

    Args:
        store: The store.
        query: The sentence's embedding, (1, D).
        score: The score of the model.
        k: Number of hits.
        conditions: What the photos must meet.

    Raises:
        UserError: As `Store.candidates`.
    """
    query = query.to("cpu").float()
    count = max(CANDIDATES, score.candidates * k)
    candidates = store.candidates(query.x[0], score, count, conditions or PhotoFilter())
    scores = score.of_query(query, Embeddings(candidates.x))
    places = best_of(scores, k)
    best = scores[places]
    numbers = candidates.numbers[places.numpy()].tolist()
    paths = dict(zip(numbers, store.paths(numbers), strict=True)) if numbers else {}
    rows = zip(numbers, best.tolist(), score.to_unit(best).tolist(), strict=True)
    hits = make_hits(paths, rows, None)
    return StoreResult(hits, _is_certain(candidates, query, score, best, k), len(scores))


def _is_certain(
    candidates: Candidates, query: Embeddings, score: Score, best: Tensor, k: int
) -> bool:
    """Return whether no photo outside the candidates can be among the k best."""
    if candidates.is_best:
        return True
    if candidates.similarity is None or len(best) < k:
        return False
    bound = score.best_beyond(query.x[0], candidates.similarity)
    return bound is not None and float(best[-1]) >= bound


def check_model(about: About, checkpoint: str, content_hash: str, score: Score) -> None:
    """Check that a store holds the embeddings of a checkpoint.

    Args:
        about: What the store holds.
        checkpoint: Name of the checkpoint.
        content_hash: Its content hash.
        score: Its score.

    Raises:
        UserError: They are of another checkpoint, or the model has sets of vectors.
    """
    if score.can_align:
        raise UserError(
            f"{checkpoint} has several vectors for a photo, which no store holds; choose a model "
            "with one."
        )
    if about.content_hash != content_hash:
        raise UserError(
            f"These embeddings come from {about.checkpoint} ({about.content_hash}), not from "
            f"{checkpoint} ({content_hash}); search with that one, or embed the photos again."
        )


def check_numbers(x: Tensor, first: int) -> None:
    """Check embeddings before they are stored.

    Args:
        x: (N, D).
        first: Number of the first one.

    Raises:
        UserError: One is not finite.
    """
    is_bad = ~x.isfinite().all(1)
    if is_bad.any():
        number = first + int(is_bad.nonzero()[0, 0])
        raise UserError(
            f"Embedding {number:,} has numbers that are not finite; embed these photos again."
        )
