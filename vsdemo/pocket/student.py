"""What is trained: Pocket, and the layers that only teach it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from vsdemo import models
from vsdemo.backbones.pocket import FEATURES, Pocket
from vsdemo.config import override
from vsdemo.data.vocab import Vocab
from vsdemo.losses import pairwise_ranking
from vsdemo.types import Sentence

SETTINGS = ("dim=512", "word_dim=200")  # of the model `gru`, which reads the captions
SOFT = 0.5  # a component's error counts by its deviation to minus this; at 1 all count alike
RANKING = 0.5  # weight of the ranking loss
LOSS = pairwise_ranking(margin=0.2, hardest=0.95)


class Student(nn.Module):
    """Pocket, a linear layer from its map to the teacher's components, and `gru` over its vector.

    deviations: (2, K), how much each of the teacher's components varies over places, and over
    means of photos.
    """

    def __init__(self, vocab: Vocab, deviations: Tensor) -> None:
        super().__init__()
        self.net = Pocket()
        mean, deviation = torch.tensor(self.net.mean_std)[:, :, None, None].unbind()
        self.register_buffer("mean", mean, persistent=False)
        self.register_buffer("deviation", deviation, persistent=False)
        self.components = nn.Conv2d(FEATURES, deviations.shape[1], 1)
        config = override(models.module("gru").Config(), SETTINGS)
        self.pair = models.build("gru", config, vocab, FEATURES)
        weights = deviations.pow(-SOFT)
        weights = weights / (deviations * weights).square().sum(1, keepdim=True).sqrt()
        self.register_buffer("weights", weights)

    def forward(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Pixels (B, 3, H, W) from 0 to 1 -> Pocket's vector and map."""
        pixels = (pixels.to(self.mean.device) - self.mean) / self.deviation
        return self.net(pixels.contiguous(memory_format=torch.channels_last))

    def distilled(self, spatial: Tensor, target: Tensor) -> dict[str, Tensor]:
        """How much of the teacher's map (B, K, h, w), and of its mean over places, is not
        explained: 1 - R^2 of weighted components; 0 is perfect, 1 no better than the mean."""
        error = self.components(spatial).float() - target
        places = (error * self.weights[0][:, None, None]).square().sum(1).mean()
        means = (error.mean((2, 3)) * self.weights[1]).square().sum(1).mean()
        return {"places": places, "means": means}

    def ranked(self, vector: Tensor, captions: list[Sentence], owner: Tensor) -> Tensor:
        """The ranking loss of photos (B, FEATURES) and a caption of each, a pair's mean."""
        if len(captions) < 2:
            return vector.new_zeros(())  # there is nothing to rank
        words = self.pair.text.collate(self.pair.text.prepare(captions)).to(vector.device)
        general, specific = self.pair.text(words), self.pair.image(vector)
        loss = LOSS(self.pair.score, general, specific, owner)["loss"]
        return loss / len(captions)
