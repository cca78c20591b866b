"""Objectives of models that learn from labels of whole batches: from a batch to one number.

An objective is part of its model, `DualEncoder.objective`, because some have weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import torch
from pydantic import Field
from torch import Tensor, nn

from vsdemo.core.config import LARGE, Config, Material, OneOf
from vsdemo.core.embeddings import Embeddings
from vsdemo.models.losses import PairwiseRanking
from vsdemo.models.scores import Order, Score

APART = 0.2  # excess that false relations should reach in some coordinate
WORST = 8  # false relations of each general item that are separated
RARE = 0.05  # share of the photos below which a text is rare

RelationMaterial = Annotated[Material, OneOf(("relations",))]
Captions = Annotated[int, Field(ge=1, le=LARGE, description="Captions of each photo in a batch")]
Others = Annotated[
    int, Field(ge=0, le=LARGE, description="Concepts and other texts that join a batch")
]
OtherPhotos = Annotated[
    int, Field(ge=0, le=LARGE, description="Photos that join a batch without their captions")
]
Chains = Annotated[
    int, Field(ge=0, le=LARGE, description="Machine-made chains of texts that join a batch")
]
PhotoShares = Annotated[
    bool,
    Field(
        description="Learn how likely a text is to be true of any photo, not only of those it was "
        "drawn for"
    ),
]
OrderMargin = Annotated[
    float, Field(ge=0, le=LARGE, description="Violation that false relations of texts should reach")
]
Negatives = Annotated[
    int,
    Field(ge=1, le=LARGE, description="How many of the worst false relations of each text count"),
]
Weight = Annotated[float, Field(ge=0, le=LARGE, description="Weight of this part of the loss")]


class RelationConfig(Config):
    """The settings of models that can learn from the material `relations`."""

    captions: Captions = 3
    others: Others = 96
    other_photos: OtherPhotos = 0
    chains: Chains = 0
    photo_shares: PhotoShares = False


@dataclass(frozen=True)
class Labels:
    """What is known about T texts, the captions first, and P photos, those of the captions first.

    Attributes:
        owner: (C,) the photo of each caption, in ascending order.
        among_texts: (T, T) whether a text lies above a text: 1, 0, or -1 if it is unknown.
        above_photos: (T, P) whether a text lies above a photo.
        shares: (T,) the share of all photos that a text is true of; None if that does not matter.
    """

    owner: Tensor
    among_texts: Tensor
    above_photos: Tensor
    shares: Tensor | None = None

    @property
    def described(self) -> int:
        """The number of photos whose captions are among the texts."""
        return int(self.owner[-1]) + 1


class Objective(nn.Module):
    """The loss of T texts, P photos and what is known about them, such as `Labels`."""

    def forward(
        self, score: Score, texts: Embeddings, photos: Embeddings, labels: Any
    ) -> dict[str, Tensor]:
        """Return `loss`, to be minimized, and what is to be logged, detached."""
        raise NotImplementedError


def violations(score: Score, texts: Embeddings, photos: Embeddings) -> tuple[Tensor, Tensor]:
    """Return E of texts above texts, (T, T), and of texts above photos, (T, P)."""
    order = score.order
    assert order is not None
    general, specific = (Embeddings(score.order_part(side.x)) for side in (texts, photos))
    return order.violation(general, general), order.violation(general, specific)


class ViolationLoss(Protocol):
    """Losses of violations whose labels are 1 (true), 0 (false) or -1 (unknown)."""

    def among_texts(self, violations: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of T texts above T texts, (T, T)."""

    def above_photos(
        self, violations: Tensor, labels: Tensor, shares: Tensor | None = None
    ) -> Tensor:
        """Return the loss of T texts above P photos, (T, P); see `Labels.shares`."""


@dataclass(frozen=True)
class Weights:
    """Weights of the parts of `RankedRelations`.

    Args:
        ranking: Weight of the ranking of captions and photos.
        separation: Weight of the `separation` of false relations.
        texts: Weight of texts above texts.
        photos: Weight of texts above photos.
    """

    ranking: float
    texts: float
    photos: float
    separation: float = 0.0


class RankedRelations(Objective):
    """A ranking of captions and their photos, and losses of relations.

        loss = weights.ranking * ranking by the score, per caption
             + weights.texts * loss of texts above texts
             + weights.photos * loss of texts above photos
             + weights.separation * separation of texts from texts, and of rare texts from photos

    Args:
        ranking: The loss of the ranking.
        relations: The losses of the relations.
        weights: See above.
        ranked_by: The score of the ranking, if it is not the model's.
    """

    def __init__(
        self,
        ranking: PairwiseRanking,
        relations: ViolationLoss,
        weights: Weights,
        ranked_by: Score | None = None,
    ) -> None:
        super().__init__()
        self.ranking, self.relations, self.weights = ranking, relations, weights
        self.ranked_by = ranked_by

    def forward(
        self, score: Score, texts: Embeddings, photos: Embeddings, labels: Labels
    ) -> dict[str, Tensor]:
        """Return `loss`, its parts and those of the ranking."""
        captions = len(labels.owner)
        ranked_by = self.ranked_by or score
        scores = ranked_by(texts[:captions], photos[: labels.described])
        ranked = self.ranking.of_scores(scores[:, labels.owner], labels.owner)
        among_texts, above_photos = violations(score, texts, photos)
        ranking = ranked["loss"] / captions
        of_texts = self.relations.among_texts(among_texts, labels.among_texts)
        of_photos = self.relations.above_photos(above_photos, labels.above_photos, labels.shares)
        apart = ranking.new_zeros(())
        if self.weights.separation:
            apart = _separation(score, texts, photos, labels, among_texts, above_photos)
        total = (
            self.weights.ranking * ranking
            + self.weights.texts * of_texts
            + self.weights.photos * of_photos
            + self.weights.separation * apart
        )
        return {
            "loss": total,
            "ranking": ranking.detach(),
            "texts": of_texts.detach(),
            "photos": of_photos.detach(),
            "separation": apart.detach(),
            "violated": ranked["violated"],
            "right_score": ranked["right_score"],
        }


def separation(
    order: Order, general: Embeddings, specific: Embeddings, violations: Tensor, labels: Tensor
) -> Tensor:
    """Return the mean hinge of the worst false relations, by their largest excess.

        max(0, APART - max_d (x_d - y_d))

    Where E is 0 or nearly so, it has no gradient, and a false relation would never be corrected;
    the largest excess has a gradient everywhere.

    Args:
        order: An order by coordinates.
        general: Embeddings x, (G, D).
        specific: Embeddings y, (S, D).
        violations: E of all pairs, (G, S).
        labels: 0 where a pair is false, (G, S).
    """
    false = violations.detach().masked_fill(labels != 0, torch.inf)
    worst = false.topk(min(WORST, false.shape[1]), dim=1, largest=False)
    rows, places = worst.values.isfinite().nonzero().T
    columns = worst.indices[rows, places]
    excess = order.excess(general[rows], specific[columns])
    return (APART - excess.amax(1)).clamp(min=0).sum() / max(1, len(rows))


def _separation(
    score: Score,
    texts: Embeddings,
    photos: Embeddings,
    labels: Labels,
    among_texts: Tensor,
    above_photos: Tensor,
) -> Tensor:
    """Return the separation of texts from texts, and of rare texts from photos."""
    order = score.order
    assert order is not None
    general, specific = (Embeddings(score.order_part(side.x)) for side in (texts, photos))
    total = separation(order, general, general, among_texts, labels.among_texts)
    if labels.shares is not None:
        rare = labels.shares < RARE  # others may be true of photos whose captions leave them out
        of_photos = above_photos[rare], labels.above_photos[rare]
        total = total + separation(order, general[rare], specific, *of_photos)
    return total
