"""Losses over the scores of a batch of matching pairs.

A loss is called with the score, the general and the specific embeddings, their labels and the
progress of the training, and returns its parts by name: `loss`, to be minimized, and detached
tensors to be logged. `LOSSES` lists them by the name in a configuration.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from vsdemo.core.config import Config
from vsdemo.core.device import autocast
from vsdemo.core.embeddings import Embeddings
from vsdemo.models.scores import Score


class Loss(Protocol):
    """A loss over B pairs."""

    def __call__(
        self,
        score: Score,
        general: Embeddings,
        specific: Embeddings,
        label: Tensor,
        progress: float = 0.0,
    ) -> dict[str, Tensor]:
        """Return the parts of the loss.

        Args:
            score: Score of the model.
            general: Captions or hypotheses, (B, D) or (B, M, D).
            specific: Photos or premises, (B, D) or (B, K, D).
            label: Number of the photo, or whether a pair is entailed, (B,).
            progress: Fraction of the training that is done, 0 to 1.
        """


@dataclass(frozen=True)
class PairwiseRanking:
    """Pairwise ranking over all pairs of a batch (Vendrov 2016, Eq. 5; Faghri 2018, VSE++).

    With S[a, b] = score(caption a, photo b) and h[a, b] = max(0, margin - S[a, a] + S[a, b]) for
    each photo b that caption a does not describe, and the same over captions for each photo:

        loss = (1 - hardest) * sum of all h  +  hardest * sum over queries of their largest h

    Labels number the photos: two captions of one photo are never each other's negatives.

    Attributes:
        margin: Margin in units of the score.
        hardest: 0 is the sum of hinges, 1 only the hardest negative.
    """

    margin: float
    hardest: float

    def __call__(
        self,
        score: Score,
        general: Embeddings,
        specific: Embeddings,
        label: Tensor,
        progress: float = 0.0,
    ) -> dict[str, Tensor]:
        """Return `loss`, the share of violated pairs and the mean score of positives."""
        return self.of_scores(score(general, specific), label)

    def of_scores(self, scores: Tensor, label: Tensor) -> dict[str, Tensor]:
        """Return the parts of the loss of scores (B, B)."""
        right = scores.diagonal()  # (B,)
        same = label[:, None] == label  # (B, B)
        for_captions = (self.margin - right[:, None] + scores).clamp(min=0).masked_fill(same, 0)
        for_photos = (self.margin - right + scores).clamp(min=0).masked_fill(same, 0)
        total = for_captions.sum() + for_photos.sum()
        worst = for_captions.amax(1).sum() + for_photos.amax(0).sum()
        violated = (for_captions > 0).sum() / max(1, int((~same).sum()))
        return {
            "loss": (1 - self.hardest) * total + self.hardest * worst,
            "violated": violated.detach(),
            "right_score": right.mean().detach(),
        }


@dataclass(frozen=True)
class Softmax:
    """Softmax over the photos of a batch for each caption, and over captions for each photo.

    This is the loss of CLIP (Radford et al. 2021), but a sum instead of a mean, and with a fixed
    temperature. With S[a, b] = score(caption a, photo b) / t:

        loss = - sum over pairs a of log(e^S[a, a] / sum over b of e^S[a, b])
               - sum over pairs a of log(e^S[a, a] / sum over b of e^S[b, a])

    Labels number the photos: other captions of the same photo are left out of the sums.

    Attributes:
        temperature: t, in units of the score.
    """

    temperature: float

    def __call__(
        self,
        score: Score,
        general: Embeddings,
        specific: Embeddings,
        label: Tensor,
        progress: float = 0.0,
    ) -> dict[str, Tensor]:
        """Return `loss` and the mean score of positives."""
        scores = score(general, specific)  # (B, B)
        own = torch.arange(len(scores), device=scores.device)
        same = (label[:, None] == label).fill_diagonal_(fill_value=False)
        logits = (scores / self.temperature).masked_fill(same, -torch.inf)
        losses = [F.cross_entropy(each, own, reduction="sum") for each in (logits, logits.T)]
        return {"loss": losses[0] + losses[1], "right_score": scores.diagonal().mean().detach()}


@dataclass(frozen=True)
class SquaredError:
    """The squared distances of matching pairs (Socher 2014, section 5): sum of |v_i - y_j|^2.

    There are no negatives, so encoders that train together collapse: see `alternate_epochs`.
    """

    def __call__(
        self,
        score: Score,
        general: Embeddings,
        specific: Embeddings,
        label: Tensor,
        progress: float = 0.0,
    ) -> dict[str, Tensor]:
        """Return `loss` and the mean score of positives."""
        right = score.pairs(general, specific)  # (B,)
        distances = (general.x - specific.x).square().sum(-1)  # (B,)
        return {"loss": distances.sum(), "right_score": right.mean().detach()}


@dataclass(frozen=True)
class Fragments:
    """The objective of Karpathy 2014 without its penalty (Eq. 3).

        loss = fragment_weight * C_F + ranking_weight * C_G

    C_F, per sentence of the batch, is the sum over its fragments j of the mean hinge of those
    regions i that j should name, y_ij = 1, and that of those that it should not, y_ij = -1 (two
    means, as in the authors' code):

        max(0, 1 - y_ij v_i . s_j)                                          Eq. 4

    At first (C_0) y is 1 for all regions of the sentence's own photo; from `mil_start` on it is
    the sign of their score, and 1 for the best of them at least (Eq. 5). C_G is `PairwiseRanking`
    of the photo-sentence scores (Eq. 7), per sentence of the batch.

    Attributes:
        fragment_weight: Weight of C_F.
        ranking_weight: Beta, the weight of C_G.
        mil_start: Progress from which alignments are inferred; 1: never.
        ranking: The loss of C_G.
    """

    fragment_weight: float
    ranking_weight: float
    mil_start: float
    ranking: PairwiseRanking

    def __call__(
        self,
        score: Score,
        general: Embeddings,
        specific: Embeddings,
        label: Tensor,
        progress: float = 0.0,
    ) -> dict[str, Tensor]:
        """Return `loss`, both objectives and the parts of the ranking.

        Raises:
            TypeError: The score aligns no fragments.
        """
        if not score.can_align or general.mask is None or specific.mask is None:
            raise TypeError("this loss needs a score of fragments and sets of embeddings")
        with autocast():  # rounding hardly matters, as a score is a mean of many products
            aligned = score.align_parts(general, specific).to(general.x.dtype)  # (R, B, K)
        parts = self.ranking.of_scores(score.pool_parts(aligned, general, specific), label)
        sentence = general.mask.nonzero()[:, 0]  # (R,)
        own_photo = label[sentence, None] == label  # (R, B)
        own = own_photo[..., None] & specific.mask  # (R, B, K)
        infer = progress >= self.mil_start
        alignment = _alignment(aligned, own, specific.mask, infer=infer) / len(label)  # C_F
        ranking = parts["loss"] / len(label)  # C_G
        return {
            **parts,
            "loss": self.fragment_weight * alignment + self.ranking_weight * ranking,  # Eq. 3
            "fragments": alignment.detach(),
            "ranking": ranking.detach(),
        }


def _alignment(aligned: Tensor, own: Tensor, exists: Tensor, *, infer: bool) -> Tensor:
    """Return C_0, or with `infer` C_F, summed over fragments.

    Args:
        aligned: Scores of fragments and regions, (R, B, K).
        own: Whether a region is of the fragment's own photo, (R, B, K).
        exists: Whether a region exists, (B, K).
        infer: Whether y is inferred from the scores.
    """
    positive = own
    if infer:  # Eq. 5
        scores = aligned.detach().masked_fill(~own, -torch.inf)
        best = scores.flatten(1).amax(1)[:, None, None]  # (R, 1, 1)
        positive = own & ((scores > 0) | (scores == best))
    negative = ~positive & exists
    return (_mean_hinge(1 - aligned, positive) + _mean_hinge(1 + aligned, negative)).sum()  # Eq. 4


def _mean_hinge(values: Tensor, mask: Tensor) -> Tensor:
    """Return the mean of max(0, values) where mask is true, (R,)."""
    return (values.clamp(min=0) * mask).sum((1, 2)) / mask.sum((1, 2)).clamp(min=1)


@dataclass(frozen=True)
class Entailment:
    """Labelled pairs of hypotheses and premises (Vendrov 2016, Eq. 7), with E = -score.

        loss = sum over entailed pairs of E(p, h)  +  sum over others of max(0, margin - E(p', h'))

    The label of a pair is 0 where it is not entailed.

    Attributes:
        margin: Alpha, in units of the score.
    """

    margin: float

    def __call__(
        self,
        score: Score,
        general: Embeddings,
        specific: Embeddings,
        label: Tensor,
        progress: float = 0.0,
    ) -> dict[str, Tensor]:
        """Return `loss`, the share of violated negatives and the mean score of positives."""
        scores, entailed = score.pairs(general, specific), label.bool()
        return entailment(scores, entailed, torch.full_like(scores, self.margin))


def entailment(scores: Tensor, entailed: Tensor, margins: Tensor) -> dict[str, Tensor]:
    """Return Eq. 7 of Vendrov 2016, the share of violated negatives and the mean right score.

    Args:
        scores: Scores of B pairs, (B,).
        entailed: Which of them are true, (B,).
        margins: Margins that E = -score of the false ones should reach, (B,).
    """
    hinges = (margins + scores)[~entailed].clamp(min=0)
    return {
        "loss": hinges.sum() - scores[entailed].sum(),  # Eq. 7
        "violated": ((hinges > 0).sum() / max(1, len(hinges))).detach(),
        "right_score": (scores[entailed].sum() / max(1, int(entailed.sum()))).detach(),
    }


def distillation(scores: Tensor, teacher: Tensor, temperature: float) -> Tensor:
    """Return how far the scores of A captions and B photos are from those of a teacher.

    With S the scores, T those of the teacher and t the temperature:

        loss = sum over captions a of KL( softmax_b(T[a, b] / t) || softmax_b(S[a, b] / t) )
             + sum over photos b of KL( softmax_a(T[a, b] / t) || softmax_a(S[a, b] / t) )

    That is relational distillation: "affinity mimicking" of TinyCLIP (Wu et al., ICCV 2023),
    "contrastive relational distillation" of CLIP-KD (Yang et al., CVPR 2024). A photo that is
    twice in the batch counts twice for both.

    Args:
        scores: (A, B).
        teacher: (A, B).
        temperature: Above 0; the same for both, so that the loss is 0 where they are equal.
    """
    student, target = scores / temperature, teacher / temperature
    divergences = [
        F.kl_div(student.log_softmax(d), target.log_softmax(d), reduction="sum", log_target=True)
        for d in (0, 1)
    ]
    return divergences[0] + divergences[1]


def _ranking(config: Any) -> Loss:
    return PairwiseRanking(margin=config.margin, hardest=config.hardest)


def _softmax(config: Any) -> Loss:
    return Softmax(temperature=config.temperature)


def _squared(config: Any) -> Loss:
    return SquaredError()


def _fragments(config: Any) -> Loss:
    return Fragments(
        fragment_weight=config.fragment_weight,
        ranking_weight=config.ranking_weight,
        mil_start=config.mil_start,
        ranking=PairwiseRanking(margin=config.margin, hardest=config.hardest),
    )


def _entailment(config: Any) -> Loss:
    return Entailment(margin=config.margin)


LOSSES: dict[str, Callable[[Any], Loss]] = {  # `loss` of a configuration -> its builder
    "ranking": _ranking,
    "softmax": _softmax,
    "squared": _squared,
    "fragments": _fragments,
    "entailment": _entailment,
}


def build(config: Config) -> Loss:
    """Return the loss that a configuration names."""
    return LOSSES[config.loss](config)


def check_finite(parts: dict[str, Tensor]) -> None:
    """Raise FloatingPointError when a part is not finite, before it spoils the weights."""
    for name, values in parts.items():
        if not torch.isfinite(values).all():
            raise FloatingPointError(f"the {name} became nan or infinite")
