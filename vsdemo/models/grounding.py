"""The loss of phrases and regions: which photo a phrase is about, and where in it that is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.encoders.phrases import counts
from vsdemo.models.contrast import MOST, SCALE, caption_losses
from vsdemo.models.losses import distillation
from vsdemo.models.objectives import Objective
from vsdemo.models.scores import Score


@dataclass(frozen=True)
class PhraseLabels:
    """What is known about the captions of a batch.

    Attributes:
        owner: (C,) the photo of each caption.
        phrases: (Q, 2) caption and number of each phrase whose place is known.
        regions: (Q, K) how well each region of its photo fits that place, 0 for not at all, with a
            sum of 1.
        teacher: (C, P) the scores of a teacher; None without one.
    """

    owner: Tensor
    phrases: Tensor
    regions: Tensor
    teacher: Tensor | None = None


class Grounding(Objective):
    """Contrasts captions and photos, phrases and photos, and phrases and regions.

        loss = contrast of captions c and photos p, with logits S / t
             + the same with logits W / t'
             + phrase_weight * mean over phrases s, of photos p,
               of -log softmax over photos q of max over their regions v of s . v / t''
             + place_weight * mean over phrases with a known place of the cross-entropy of how well
               regions fit it with the softmax over the regions v of their photo of s . v / t'''
             + teacher_weight * (distillation to S + distillation to W) / number of captions

    S is the score; W that of the whole sentence alone, which is no phrase here. The contrast is
    that of `Contrast`, the distillation `losses.distillation`; the four t are learned.

    Args:
        phrase_weight: Weight of phrases and photos.
        place_weight: Weight of phrases and regions.
        teacher_weight: Weight of the scores of a teacher, where there is one.
        teacher_temperature: What both scores are divided by there.
    """

    def __init__(
        self,
        phrase_weight: float,
        place_weight: float,
        *,
        teacher_weight: float = 1.0,
        teacher_temperature: float = 0.05,
    ) -> None:
        super().__init__()
        self.phrase_weight, self.place_weight = phrase_weight, place_weight
        self.teacher_weight, self.teacher_temperature = teacher_weight, teacher_temperature
        self.log_scales = nn.Parameter(torch.full((4,), math.log(SCALE)))

    def forward(
        self, score: Score, texts: Embeddings, photos: Embeddings, labels: PhraseLabels
    ) -> dict[str, Tensor]:
        """Return `loss`, and the losses of captions, whole sentences, phrases and places.

        Args:
            score: Aligns parts of captions with regions.
            texts: The captions, (C, M, D).
            photos: (P, K, D).
            labels: What is known.
        """
        assert texts.mask is not None
        assert photos.mask is not None
        scale, whole_scale, phrase_scale, place_scale = self.log_scales.exp().clamp(max=MOST)
        aligned = score.align_parts(texts, photos)  # (R, P, K)
        best = aligned.masked_fill(~photos.mask, -torch.inf).amax(-1)  # (R, P)
        caption, number = texts.mask.nonzero(as_tuple=True)  # (R,) each
        is_phrase = number > 0
        parts = {
            "captions": self._contrast(score.pool_parts(aligned, texts, photos), scale, labels),
            "wholes": self._contrast(best[~is_phrase] / counts(texts.mask), whole_scale, labels),
            "phrases": self.phrase_weight
            * F.cross_entropy(phrase_scale * best[is_phrase], labels.owner[caption[is_phrase]]),
        }
        if len(labels.phrases):
            rows = texts.mask.flatten().cumsum(0).view_as(texts.mask) - 1  # (C, M)
            photo = labels.owner[labels.phrases[:, 0]]
            own = place_scale * aligned[rows[tuple(labels.phrases.T)], photo]  # (Q, K)
            for_places = _cross_entropy(own, labels.regions, photos, photo)
            parts["places"] = self.place_weight * for_places
        loss = torch.stack(list(parts.values())).sum()
        return {"loss": loss, **{name: part.detach() for name, part in parts.items()}}

    def _contrast(self, scores: Tensor, scale: Tensor, labels: PhraseLabels) -> Tensor:
        """Return the losses of captions and photos by scores (C, P), and of those of a teacher."""
        loss = caption_losses(scale * scores, labels.owner).sum()
        if labels.teacher is None:
            return loss
        taught = distillation(scores, labels.teacher, self.teacher_temperature)
        return loss + self.teacher_weight * taught / len(scores)


def _cross_entropy(logits: Tensor, wanted: Tensor, photos: Embeddings, photo: Tensor) -> Tensor:
    """Return the mean cross-entropy over the regions that exist, (Q, K) each."""
    assert photos.mask is not None
    missing = ~photos.mask[photo]
    log_shares = logits.masked_fill(missing, -torch.inf).log_softmax(-1)
    return -(wanted * log_shares.masked_fill(missing, 0)).sum(-1).mean()
