"""The loss of phrases and regions: which photo a phrase is about, and where in it that is."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.models.contrast import MOST, SCALE, caption_losses
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
    """

    owner: Tensor
    phrases: Tensor
    regions: Tensor


class Grounding(Objective):
    """Contrasts captions and photos, phrases and photos, and phrases and regions.

        loss = contrast of captions c and photos p, with logits S / t
             + phrase_weight * mean over phrases s, of photos p,
               of -log softmax over photos q of max over their regions v of s . v / t'
             + place_weight * mean over phrases with a known place of the cross-entropy of how well
               regions fit it with the softmax over the regions v of their photo of s . v / t''

    The contrast is that of `Contrast`; the three t are learned. A whole caption is no phrase here.

    Args:
        phrase_weight: Weight of phrases and photos.
        place_weight: Weight of phrases and regions.
    """

    def __init__(self, phrase_weight: float, place_weight: float) -> None:
        super().__init__()
        self.phrase_weight, self.place_weight = phrase_weight, place_weight
        self.log_scales = nn.Parameter(torch.full((3,), math.log(SCALE)))

    def forward(
        self, score: Score, texts: Embeddings, photos: Embeddings, labels: PhraseLabels
    ) -> dict[str, Tensor]:
        """Return `loss`, and the losses of captions, photos, phrases and places.

        Args:
            score: Aligns parts of captions with regions.
            texts: The captions, (C, M, D).
            photos: (P, K, D).
            labels: What is known.
        """
        assert texts.mask is not None
        assert photos.mask is not None
        scale, phrase_scale, place_scale = self.log_scales.exp().clamp(max=MOST)
        aligned = score.align_parts(texts, photos)  # (R, P, K)
        scores = score.pool_parts(aligned, texts, photos)  # (C, P)
        for_captions, for_photos = caption_losses(scale * scores, labels.owner)
        caption, number = texts.mask.nonzero(as_tuple=True)  # (R,) each
        parts = number > 0
        best = aligned[parts].masked_fill(~photos.mask, -torch.inf).amax(-1)  # (R', P)
        for_phrases = F.cross_entropy(phrase_scale * best, labels.owner[caption[parts]])
        loss = for_captions + for_photos + self.phrase_weight * for_phrases
        logged = {"captions": for_captions, "photos": for_photos, "phrases": for_phrases}
        if len(labels.phrases):
            rows = texts.mask.flatten().cumsum(0).view_as(texts.mask) - 1  # (C, M)
            photo = labels.owner[labels.phrases[:, 0]]
            own = place_scale * aligned[rows[tuple(labels.phrases.T)], photo]  # (Q, K)
            for_places = _cross_entropy(own, labels.regions, photos, photo)
            loss = loss + self.place_weight * for_places
            logged["places"] = for_places
        return {"loss": loss, **{name: part.detach() for name, part in logged.items()}}


def _cross_entropy(logits: Tensor, wanted: Tensor, photos: Embeddings, photo: Tensor) -> Tensor:
    """Return the mean cross-entropy over the regions that exist, (Q, K) each."""
    assert photos.mask is not None
    missing = ~photos.mask[photo]
    log_shares = logits.masked_fill(missing, -torch.inf).log_softmax(-1)
    return -(wanted * log_shares.masked_fill(missing, 0)).sum(-1).mean()
