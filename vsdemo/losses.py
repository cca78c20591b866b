"""Losses over the scores of a batch of matching pairs; they return what is to be logged."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from vsdemo.config import Config
from vsdemo.scores import Score
from vsdemo.types import Embeddings

Loss = Callable[[Score, Embeddings, Embeddings, Tensor], dict[str, Tensor]]


def pairwise_ranking(margin: float, hardest: float = 0.0) -> Loss:
    """Pairwise ranking over all pairs of a batch (Vendrov 2016, Eq. 5; Faghri 2018, VSE++).

    With S = score(c, i) and h[a, b] = max(0, margin - S[a, a] + S[a, b]) for a photo b that
    caption a does not describe (likewise over captions a' for each photo):

        loss = (1 - hardest) * sum of all h  +  hardest * sum over queries of their largest h

    margin: in units of the score. hardest: 0 is the sum of hinges, 1 only the hardest negative.
    The returned loss takes (score, general (B, D), specific (B, D), label (B,)) where label
    numbers the photo: two captions of one photo are never each other's negatives.
    """

    def loss(
        score: Score, general: Embeddings, specific: Embeddings, label: Tensor
    ) -> dict[str, Tensor]:
        scores = score(general, specific)  # (B, B)
        right = scores.diagonal()
        same = label[:, None] == label
        for_captions = (margin - right[:, None] + scores).clamp(min=0).masked_fill(same, 0)
        for_photos = (margin - right + scores).clamp(min=0).masked_fill(same, 0)
        total = for_captions.sum() + for_photos.sum()
        worst = for_captions.amax(1).sum() + for_photos.amax(0).sum()
        violated = (for_captions > 0).sum() / max(1, int((~same).sum()))
        return {
            "loss": (1 - hardest) * total + hardest * worst,
            "violated": violated.detach(),
            "right_score": right.mean().detach(),
        }

    return loss


def squared_error() -> Loss:
    """The squared distances of matching pairs (Socher 2014, section 5): sum of |v_i - y_j|^2.

    It knows no wrong pairs, so towers that learn at once shrink to a point: see `alternate`.
    """

    def loss(
        score: Score, general: Embeddings, specific: Embeddings, label: Tensor
    ) -> dict[str, Tensor]:
        right = score.pairs(general, specific)
        distances = (general.x - specific.x).square().sum(-1)  # (B,)
        return {"loss": distances.sum(), "right_score": right.mean().detach()}

    return loss


def build(config: Config) -> Loss:
    """The loss that a configuration asks for."""
    if config.loss == "squared":
        return squared_error()
    return pairwise_ranking(config.margin, config.hardest)


def check_finite(parts: dict[str, Tensor]) -> None:
    """Raises FloatingPointError when a part is not a number, before it spoils the weights."""
    for name, values in parts.items():
        if not torch.isfinite(values).all():
            raise FloatingPointError(f"the {name} became nan or infinite")
