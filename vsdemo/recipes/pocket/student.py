"""The model that is trained: Pocket, and the layers that only its training uses."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from vsdemo import models
from vsdemo.core.config import override
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab
from vsdemo.vision.backbones.pocket import FEATURES, Pocket

SETTINGS = ("dim=512", "word_dim=200")  # of the preset `gru`, whose text encoder reads captions
RANKING = 0.2  # weight of the ranking loss
MARGIN, HARDEST = 0.2, 0.95  # of the ranking loss; see `losses.PairwiseRanking`


class Student(nn.Module):
    """Pocket, a linear layer from its map to the teacher's components, and `gru` over its vector.

    Args:
        vocab: The vocabulary of the captions.
        deviations: The standard deviation of each of the teacher's K components over cells, and
            over the means of crops, (2, K).
    """

    mean: Tensor
    deviation: Tensor
    variance: Tensor

    def __init__(self, vocab: Vocab, deviations: Tensor) -> None:
        super().__init__()
        self.net = Pocket()
        mean, deviation = (
            torch.tensor(values)[:, None, None]
            for values in (self.net.spec.mean, self.net.spec.std)
        )
        self.register_buffer("mean", mean, persistent=False)
        self.register_buffer("deviation", deviation, persistent=False)
        self.components = nn.Conv2d(FEATURES, deviations.shape[1], 1)
        config = override(models.get("gru").config(), SETTINGS)
        self.pair = models.build("gru", config, vocab, FEATURES)
        self.register_buffer("variance", deviations.square().sum(1))  # (2,)

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Return Pocket's vector (B, FEATURES) and map of pixels (B, 3, H, W) from 0 to 1."""
        pixels = (pixels.to(self.mean.device) - self.mean) / self.deviation
        vector, spatial = self.net(pixels.contiguous(memory_format=torch.channels_last))
        return vector, spatial

    def distillation_losses(self, spatial: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Return the unexplained share, 1 - R^2, of the teacher's map and of its mean over cells.

        0 is perfect; 1 is no better than predicting the mean. A finer target is averaged over the
        cells of Pocket's map, and then predicting the mean costs less than 1.

        Args:
            spatial: Pocket's map, (B, FEATURES, h, w).
            target: The teacher's components, (B, K, H, W), at least as fine.
        """
        view = self.components(spatial).float()
        cells = view - F.adaptive_avg_pool2d(target, view.shape[2:])
        means = view.mean((2, 3)) - target.mean((2, 3))
        places, whole = (error.square().sum(1).mean() for error in (cells, means))
        return places / self.variance[0], whole / self.variance[1]

    def ranking_loss(self, vector: Tensor, captions: list[Sentence], owner: Tensor) -> Tensor:
        """Return the mean over photos of `losses.PairwiseRanking`, with extra negatives.

        Args:
            vector: Pocket's vectors of P photos, (P, FEATURES).
            captions: A caption of each photo, then any number of captions of other photos.
            owner: The number of each caption's photo, (C,).
        """
        if len(vector) < 2:
            return vector.new_zeros(())  # nothing to rank
        words = self.pair.text.collate(self.pair.text.prepare(captions)).to(vector.device)
        assert self.pair.image is not None
        general, specific = self.pair.text(words), self.pair.image(vector)
        with torch.autocast(vector.device.type, enabled=False):  # scores in bfloat16 would tie
            scores = self.pair.score(general, specific)  # (C, P)
        positive, count = scores.diagonal(), len(vector)
        negative = owner[:, None] != owner[:count]  # (C, P)
        for_photos = (MARGIN - positive + scores).clamp(min=0) * negative
        for_captions = (MARGIN - positive[:, None] + scores[:count]).clamp(min=0)
        for_captions = for_captions * negative[:count]
        total = for_photos.sum() + for_captions.sum()
        worst = for_photos.amax(0).sum() + for_captions.amax(1).sum()
        return ((1 - HARDEST) * total + HARDEST * worst) / count
