"""Losses over the scores of a batch of matching pairs; they return what is to be logged."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from vsdemo.core.config import Config
from vsdemo.core.embeddings import Embeddings
from vsdemo.models.scores import FragmentAlignment, Score

# score, general, specific, label, share of the training that is over -> what is to be logged
Loss = Callable[[Score, Embeddings, Embeddings, Tensor, float], dict[str, Tensor]]


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
        score: Score, general: Embeddings, specific: Embeddings, label: Tensor, share: float = 0.0
    ) -> dict[str, Tensor]:
        return _ranking(score(general, specific), label, margin, hardest)

    return loss


def _ranking(scores: Tensor, label: Tensor, margin: float, hardest: float) -> dict[str, Tensor]:
    """`pairwise_ranking` of scores (B, B)."""
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


def squared_error() -> Loss:
    """The squared distances of matching pairs (Socher 2014, section 5): sum of |v_i - y_j|^2.

    It knows no wrong pairs, so towers that learn at once shrink to a point: see `alternate`.
    """

    def loss(
        score: Score, general: Embeddings, specific: Embeddings, label: Tensor, share: float = 0.0
    ) -> dict[str, Tensor]:
        right = score.pairs(general, specific)
        distances = (general.x - specific.x).square().sum(-1)  # (B,)
        return {"loss": distances.sum(), "right_score": right.mean().detach()}

    return loss


def fragments(
    fragment: float, ranking: float, mil: float, margin: float, hardest: float = 0.0
) -> Loss:
    """The objective of Karpathy 2014 but for its penalty: fragment * C_F + ranking * C_G (Eq. 3).

    C_F, per sentence of the batch, is the sum over its fragments j of the mean hinge of those
    regions i that j should name, y_ij = 1, and that of those that it should not, y_ij = -1 (two
    means, as in the authors' code):

        max(0, 1 - y_ij v_i . s_j)                                          Eq. 4

    At first (C_0) y is 1 for all regions of the sentence's own photo; from the share `mil` of the
    training on it is the sign of their score, and 1 for the best of them at least (Eq. 5). C_G is
    `pairwise_ranking` of the photo-sentence scores (Eq. 7), per sentence of the batch.
    """

    def loss(
        score: Score, general: Embeddings, specific: Embeddings, label: Tensor, share: float = 0.0
    ) -> dict[str, Tensor]:
        if not isinstance(score, FragmentAlignment):
            raise TypeError("this loss needs the scores of fragments")
        rows = score.rows(general, specific)  # (R, B, K)
        parts = _ranking(score.total(rows, general, specific), label, margin, hardest)
        owner = general.mask.nonzero()[:, 0]  # (R,)
        bag = (label[owner, None] == label)[..., None] & specific.mask  # (R, B, K)
        aligned = _alignment(rows, bag, specific.mask, share >= mil) / len(label)
        ranked = parts["loss"] / len(label)
        together = fragment * aligned + ranking * ranked
        return {
            **parts,
            "loss": together,
            "fragments": aligned.detach(),
            "ranking": ranked.detach(),
        }

    return loss


def _alignment(rows: Tensor, bag: Tensor, exists: Tensor, infer: bool) -> Tensor:
    """C_0, or with `infer` C_F: rows (R, B, K) and the photo's own among them, `bag`."""
    right = bag
    if infer:
        own = rows.detach().masked_fill(~bag, -torch.inf)
        right = bag & ((own > 0) | (own == own.flatten(1).amax(1)[:, None, None]))
    wrong = ~right & exists
    for_right = ((1 - rows).clamp(min=0) * right).sum((1, 2)) / right.sum((1, 2)).clamp(min=1)
    for_wrong = ((1 + rows).clamp(min=0) * wrong).sum((1, 2)) / wrong.sum((1, 2)).clamp(min=1)
    return (for_right + for_wrong).sum()


def entailment(margin: float) -> Loss:
    """Labelled pairs of hypotheses and premises (Vendrov 2016, Eq. 7), with E = -score:

        loss = sum over entailed pairs of E(p, h)  +  sum over others of max(0, margin - E(p', h'))

    margin: alpha, in units of the score. The returned loss takes (score, general (B, D), the
    hypotheses, specific (B, D), the premises, label (B,)), which is 0 where a pair is not entailed.
    """

    def loss(
        score: Score, general: Embeddings, specific: Embeddings, label: Tensor, share: float = 0.0
    ) -> dict[str, Tensor]:
        scores, entailed = score.pairs(general, specific), label.bool()
        hinges = (margin + scores[~entailed]).clamp(min=0)
        return {
            "loss": hinges.sum() - scores[entailed].sum(),
            "violated": ((hinges > 0).sum() / max(1, len(hinges))).detach(),
            "right_score": (scores[entailed].sum() / max(1, int(entailed.sum()))).detach(),
        }

    return loss


def build(config: Config) -> Loss:
    """The loss that a configuration asks for."""
    if config.loss == "entailment":
        return entailment(config.margin)
    if config.loss == "squared":
        return squared_error()
    if config.loss == "fragments":
        weights = (config.fragment, config.ranking, config.mil)  # type: ignore[attr-defined]
        return fragments(*weights, config.margin, config.hardest)
    return pairwise_ranking(config.margin, config.hardest)


def check_finite(parts: dict[str, Tensor]) -> None:
    """Raises FloatingPointError when a part is not a number, before it spoils the weights."""
    for name, values in parts.items():
        if not torch.isfinite(values).all():
            raise FloatingPointError(f"the {name} became nan or infinite")
