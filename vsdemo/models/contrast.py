"""The contrastive loss of captions and photos, with a learned temperature."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.models.objectives import Objective
from vsdemo.models.scores import Score

SCALE = 20.0  # 1 / t at first
MOST = 100.0  # 1 / t at most, as in CLIP


@dataclass(frozen=True)
class PhotoLabels:
    """Which texts of a batch describe which photo, or which region.

    The texts are C captions, then R phrases, then pairs of captions: one caption of each of several
    photos, and after these another caption of each.

    Attributes:
        owner: (C,) the photo of each caption.
        places: (R, 2) the photo of each phrase, and which of its regions it names; None for none.
        unknown: (R, R) whether a phrase may also name the region of another phrase.
    """

    owner: Tensor
    places: Tensor | None = None
    unknown: Tensor | None = None


class Contrast(Objective):
    """Softmax losses of each caption over the photos of a batch, and of each photo over captions.

        l = S / t,  with a learned t
        loss = mean over captions c, with their photos p, of
               -log(e^l_cp / sum over all photos q of e^l_cq)
               -log(e^l_cp / (e^l_cp + sum over the captions d of other photos of e^l_dp))

    That is the loss of CLIP (Radford et al. 2021) for photos with several captions, which are not
    each other's negatives. The same of phrases and regions, with a t of its own, is added; phrases
    that may also name another region are not its negatives. The same loss of two captions of one
    photo, instead of a caption and a photo, is added, too.

    Embeddings of several parts have a loss for the cosines of each part, too, so that each of them
    can tell photos apart; the loss is the mean of these and of that of S.

    Args:
        phrase_weight: Weight of the loss of phrases and regions.
        pair_weight: Weight of the loss of two captions.
        parts: Number of parts, of equal size.
    """

    def __init__(
        self, phrase_weight: float = 0.0, pair_weight: float = 0.0, parts: int = 1
    ) -> None:
        super().__init__()
        self.phrase_weight = phrase_weight
        self.pair_weight = pair_weight
        self.parts = parts
        self.log_scale = nn.Parameter(torch.tensor(math.log(SCALE)))
        self.log_phrase_scale = nn.Parameter(torch.tensor(math.log(SCALE)))

    @property
    def scale(self) -> Tensor:
        """By which scores are multiplied before the softmax, ()."""
        return self.log_scale.exp().clamp(max=MOST)

    def forward(
        self, score: Score, texts: Embeddings, photos: Embeddings, labels: PhotoLabels
    ) -> dict[str, Tensor]:
        """Return `loss` and its parts.

        Args:
            score: The score.
            texts: Of the captions, phrases and pairs of captions.
            photos: Of the P photos; sets of the photo and its regions, if there are phrases.
            labels: Which text describes what.
        """
        count = len(labels.owner)
        phrases = 0 if labels.places is None else len(labels.places)
        whole = photos if photos.mask is None else Embeddings(photos.x[:, 0])
        for_captions, for_photos = self._contrast(score, texts[:count], whole, labels.owner)
        loss = for_captions + for_photos
        parts = {
            "captions": for_captions.detach(),
            "photos": for_photos.detach(),
            "scale": self.scale.detach(),
        }
        if labels.places is not None:
            for_phrases = self._phrases(score, texts[count : count + phrases], photos, labels)
            loss = loss + self.phrase_weight * for_phrases
            parts["phrases"] = for_phrases.detach()
        pairs = len(texts) - count - phrases
        if pairs:
            ones, others = texts[-pairs : -pairs // 2], texts[-pairs // 2 :]
            own = torch.arange(len(ones), device=texts.x.device)
            for_pairs = self._contrast(score, ones, others, own).sum()
            loss = loss + self.pair_weight * for_pairs
            parts["pairs"] = for_pairs.detach()
        return {"loss": loss, **parts}

    def _contrast(
        self, score: Score, texts: Embeddings, photos: Embeddings, owner: Tensor
    ) -> Tensor:
        """Return the losses of texts (C, D) among photos (P, D), and of photos among texts, (2,).

        They are means of those of the score and of each part.
        """
        scores = [score(texts, photos)]  # (C, P)
        if self.parts > 1:
            scores += self._cosines(*(score.angle_part(x) for x in (texts.x, photos.x)))
        return torch.stack(
            [caption_losses(self.scale * of_part, owner) for of_part in scores]
        ).mean(0)

    def _cosines(self, texts: Tensor, photos: Tensor) -> Tensor:
        """Return the cosines of each part of texts (C, D) and photos (P, D), (parts, C, P)."""
        t, p = (F.normalize(x.unflatten(-1, (self.parts, -1)), dim=-1) for x in (texts, photos))
        return torch.einsum("cnd,pnd->ncp", t, p)

    def _phrases(
        self, score: Score, phrases: Embeddings, photos: Embeddings, labels: PhotoLabels
    ) -> Tensor:
        """Return the loss of phrases whose regions are there; 0 if none is."""
        assert labels.places is not None
        assert labels.unknown is not None
        assert photos.mask is not None
        photo, region = labels.places.unbind(1)
        (rows,) = photos.mask[photo, 1 + region].nonzero(as_tuple=True)
        if not len(rows):
            return photos.x.new_zeros(())
        regions = Embeddings(photos.x[photo[rows], 1 + region[rows]])
        logits = self.log_phrase_scale.exp().clamp(max=MOST) * score(phrases[rows], regions)
        own = torch.eye(len(rows), device=logits.device).bool()
        logits = logits.masked_fill(labels.unknown[rows][:, rows] & ~own, -torch.inf)
        right = torch.arange(len(rows), device=logits.device)
        return F.cross_entropy(logits, right) + F.cross_entropy(logits.T, right)


def caption_losses(logits: Tensor, owner: Tensor) -> Tensor:
    """Return the losses of C captions among P photos, and of photos among captions, (2,).

    Args:
        logits: (C, P).
        owner: (C,) the photo of each caption.
    """
    own = F.one_hot(owner, logits.shape[1]).bool()
    others = logits.masked_fill(own, -torch.inf).logsumexp(0)  # (P,)
    right = logits[own]  # (C,), in the order of the captions
    for_photos = F.softplus(others[owner] - right).mean()
    return torch.stack([F.cross_entropy(logits, owner), for_photos])
