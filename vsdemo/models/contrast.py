"""The contrastive loss of captions and photos, with a learned temperature."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.models.objectives import Objective
from vsdemo.models.scores import Score

SCALE = 20.0  # 1 / t at first
MOST = 100.0  # 1 / t at most, as in CLIP


class Contrast(Objective):
    """Softmax losses of each caption over the photos of a batch, and of each photo over captions.

        l = S / t,  with a learned t
        loss = mean over captions c, with their photos p, of
               -log(e^l_cp / sum over all photos q of e^l_cq)
               -log(e^l_cp / (e^l_cp + sum over the captions d of other photos of e^l_dp))

    That is the loss of CLIP (Radford et al. 2021) for photos with several captions, which are not
    each other's negatives.
    """

    def __init__(self) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(math.log(SCALE)))

    def forward(
        self, score: Score, texts: Embeddings, photos: Embeddings, labels: Tensor
    ) -> dict[str, Tensor]:
        """Return `loss` and its parts.

        Args:
            score: The score.
            texts: Of the C captions of a batch.
            photos: Of its P photos.
            labels: The photo of each caption, (C,).
        """
        scale = self.log_scale.exp().clamp(max=MOST)
        logits = scale * score(texts, photos)  # (C, P)
        own = F.one_hot(labels, logits.shape[1]).bool()
        others = logits.masked_fill(own, -torch.inf).logsumexp(0)  # (P,)
        right = logits[own]  # (C,), in the order of the captions
        for_captions = F.cross_entropy(logits, labels)
        for_photos = F.softplus(others[labels] - right).mean()
        return {
            "loss": for_captions + for_photos,
            "captions": for_captions.detach(),
            "photos": for_photos.detach(),
            "scale": scale.detach(),
        }
