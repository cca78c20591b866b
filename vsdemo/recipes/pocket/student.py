"""What is trained: Pocket, and the layers that only teach it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from vsdemo import models
from vsdemo.core.config import override
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.vocab import Vocab
from vsdemo.vision.backbones.pocket import FEATURES, Pocket

SETTINGS = ("dim=512", "word_dim=200")  # of the model `gru`, which reads the captions
RANKING = 0.5  # weight of the ranking loss
MARGIN, HARDEST = 0.2, 0.95  # of that loss: see `losses.pairwise_ranking`


class Student(nn.Module):
    """Pocket, a linear layer from its map to the teacher's components, and `gru` over its vector.

    deviations: (2, K), how much each of the teacher's components varies over places, and over
    means of photos.
    """

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
        """Pixels (B, 3, H, W) from 0 to 1 -> Pocket's vector and map."""
        pixels = (pixels.to(self.mean.device) - self.mean) / self.deviation
        return self.net(pixels.contiguous(memory_format=torch.channels_last))

    def distilled(self, spatial: Tensor, target: Tensor) -> dict[str, Tensor]:
        """How much of the teacher's map (B, K, h, w), and of its mean over places, is not
        explained: 1 - R^2; 0 is perfect, 1 no better than the mean."""
        error = self.components(spatial).float() - target
        places = error.square().sum(1).mean() / self.variance[0]
        means = error.mean((2, 3)).square().sum(1).mean() / self.variance[1]
        return {"places": places, "means": means}

    def ranked(self, vector: Tensor, captions: list[Sentence], owner: Tensor) -> Tensor:
        """The ranking loss of photos (P, FEATURES) and captions: first one of each photo, then any
        others, which are wrong for it. owner: (C,) the number of each caption's photo.

        `losses.pairwise_ranking`, where a photo has more wrong captions than there are photos;
        its mean over photos.
        """
        if len(vector) < 2:
            return vector.new_zeros(())  # there is nothing to rank
        words = self.pair.text.collate(self.pair.text.prepare(captions)).to(vector.device)
        general, specific = self.pair.text(words), self.pair.image(vector)
        with torch.autocast(vector.device.type, enabled=False):  # scores in bfloat16 would tie
            scores = self.pair.score(general, specific)  # (C, P)
        right, count = scores.diagonal(), len(vector)
        wrong = owner[:, None] != owner[:count]
        for_photos = (MARGIN - right + scores).clamp(min=0) * wrong
        for_captions = (MARGIN - right[:, None] + scores[:count]).clamp(min=0) * wrong[:count]
        total = for_photos.sum() + for_captions.sum()
        worst = for_photos.amax(0).sum() + for_captions.amax(1).sum()
        return ((1 - HARDEST) * total + HARDEST * worst) / count
