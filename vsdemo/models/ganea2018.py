"""Hyperbolic entailment cones in the Poincaré ball.

Ganea, Bécigneul & Hofmann, "Hyperbolic entailment cones for learning hierarchical embeddings", ICML
2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from vsdemo.core.config import (
    BatchSize,
    Dim,
    Epochs,
    EvaluateEvery,
    Hardest,
    MinCount,
    NoExtraPhotos,
    Patience,
    SymmetricConfig,
    WordDim,
)
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.gru import WordGRU
from vsdemo.encoders.image import LinearImage
from vsdemo.models import poincare
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.entailment_cones import Cones
from vsdemo.models.losses import PairwiseRanking
from vsdemo.models.model import Model
from vsdemo.models.objectives import (
    OrderMargin,
    RankedRelations,
    RelationConfig,
    RelationMaterial,
    Weight,
    Weights,
)

K = 0.1  # of the apertures
MIN_DISTANCE = 2 * math.atanh(poincare.least_radius(K))  # of points from the origin

POINCARE_CONES = Cones(poincare.half_aperture, poincare.exterior_angle)


class ConesConfig(SymmetricConfig, RelationConfig):
    """The model and its training."""

    material: RelationMaterial = "relations"
    extra: NoExtraPhotos = "none"
    min_count: MinCount = 1
    batch_size: BatchSize = 96
    epochs: Epochs = 40
    evaluate_every: EvaluateEvery = 2
    patience: Patience = 8
    hardest: Hardest = 1.0
    dim: Dim = 512
    word_dim: WordDim = 200
    order_margin: OrderMargin = 0.5
    ranking_weight: Weight = 5.0
    text_weight: Weight = 3.0
    photo_weight: Weight = 3.0


class BallHead(nn.Module):
    """Vectors to points of the Poincaré ball: (..., D) -> (..., D), float32.

        x = exp_0(v + MIN_DISTANCE v / |v|),  v = f / sqrt(D)

    All points are outside of the ball around the origin in which cones are undefined.
    """

    def forward(self, f: Tensor) -> Tensor:
        """Map vectors (..., D)."""
        v = f.float() / f.shape[-1] ** 0.5
        length = torch.linalg.vector_norm(v, dim=-1, keepdim=True).clamp(min=poincare.TINY)
        return poincare.exp_map0(v + MIN_DISTANCE * v / length)


@dataclass(frozen=True)
class MaxMargin:
    """The loss of Ganea 2018, Eq. 32, as means over all pairs of a batch with known labels.

        loss = mean of E over true pairs + mean of max(0, margin - E) over false pairs

    Attributes:
        margin: Violation that false relations should reach.
    """

    margin: float

    def among_texts(self, violations: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of T texts above T texts; without those that follow from each other."""
        return self._of(violations, labels, true=(labels == 1) & (labels.T != 1))

    def above_photos(
        self, violations: Tensor, labels: Tensor, shares: Tensor | None = None
    ) -> Tensor:
        """Return the loss of T texts above P photos; hinges do not depend on `shares`."""
        return self._of(violations, labels, true=labels == 1)

    def _of(self, violations: Tensor, labels: Tensor, *, true: Tensor) -> Tensor:
        hinges = (self.margin - violations).clamp(min=0)
        return _mean(violations, true) + _mean(hinges, labels == 0)


def _mean(values: Tensor, mask: Tensor) -> Tensor:
    return (values * mask).sum() / mask.sum().clamp(min=1)


def build(config: ConesConfig, vocab: Vocab, features: int) -> DualEncoder:
    """Hyperbolic entailment cones over concepts, sentences and photos.

    Ganea, Bécigneul & Hofmann, "Hyperbolic entailment cones for learning hierarchical embeddings",
    ICML 2018.

        psi(x) = asin(K (1 - |x|^2) / |x|)      half aperture of x's cone, K = 0.1    Eq. 26
        E(x, y) = max(0, Xi(x, y) - psi(x))     Xi the angle at x to y                Eq. 28, 33
        S(x, y) = psi(x) - Xi(x, y)             E with its sign, for search
        loss = mean E of true pairs + mean max(0, margin - E) of false ones           Eq. 32

    The loss is that of texts above texts and of texts above photos, by the material `relations`,
    beside a ranking of captions and their photos by S.

    Departures: (1) points are those of sentences and photos, by a bidirectional GRU and a linear
    layer over frozen features, and not a table of words in 5 or 10 dimensions; (2) weights are
    Euclidean and learned by Adam, with the exponential map as the last layer, instead of
    Riemannian gradient descent from a Poincaré embedding; (3) all false pairs of a batch are
    negatives; (4) a ranking, as E alone tells relations and not photos; (5) texts that follow from
    each other are in no true pair.
    """
    text = WordGRU(
        vocab,
        word_dim=config.word_dim,
        dim=config.dim,
        pooling="max",
        bidirectional=True,
        head=nn.Sequential(nn.Linear(config.dim, config.dim), BallHead()),
        dropout=config.dropout,
    )
    image = LinearImage(
        features,
        config.dim,
        head=BallHead(),
        dropout=config.dropout,
        standardize=config.standardize,
    )
    objective = RankedRelations(
        PairwiseRanking(margin=config.margin, hardest=config.hardest),
        MaxMargin(config.order_margin),
        Weights(config.ranking_weight, texts=config.text_weight, photos=config.photo_weight),
    )
    return DualEncoder(text, image, POINCARE_CONES, objective)


CONES = Model(
    config=ConesConfig,
    presets={"cones": ConesConfig()},
    build=build,
    kind="hyperbolic entailment cones: a photo lies inside the cones of its captions",
    paper="Ganea et al.",
    year=2018,
)
