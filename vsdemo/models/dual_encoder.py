"""Two towers and a score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.sentences import add_trees
from vsdemo.encoders import Encoder
from vsdemo.models.scores import Score

BATCH = 256  # sentences or photos a forward pass outside of training


class DualEncoder(nn.Module):
    """A text tower, an image tower (None for text-only tasks) and the score between them.

    Attributes:
        solved: Whether `fit` solves the model at once, instead of training it step by step.
    """

    solved: ClassVar[bool] = False

    def __init__(self, text: Encoder, image: Encoder | None, score: Score) -> None:
        super().__init__()
        self.text, self.image, self.score = text, image, score

    def fit(self, captions: Sequence[Any], photos: Tensor) -> dict[str, Tensor]:
        """Fit a model that is `solved` at once; return what is to be logged.

        Args:
            captions: Inputs of the text encoder, one for each photo.
            photos: Photo features, (N, F).
        """
        raise NotImplementedError("this model is trained step by step")

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    @torch.inference_mode()
    def _encode(self, tower: Encoder, items: Any, progress: Any = None) -> Embeddings:
        """Embeds in batches of like length, in evaluation mode; rows keep the order of items."""
        was_training = self.training
        self.eval()
        prepared = tower.prepare(items)
        order = sorted(range(len(prepared)), key=lambda i: -len(prepared[i]))
        parts = []
        for start in range(0, len(order), BATCH):
            batch = tower.collate([prepared[i] for i in order[start : start + BATCH]])
            parts.append(tower(batch.to(self.device)).to("cpu"))
            if progress:
                progress(min(start + BATCH, len(order)), len(order))
        self.train(was_training)
        if not parts:
            return Embeddings(torch.zeros(0, tower.dim))
        return Embeddings.cat(parts, torch.tensor(order))

    def encode_text(self, sentences: Sequence[Sentence], progress: Any = None) -> Embeddings:
        """Sentences -> (N, D) or sets (N, M, D) on the CPU, parsed first where the tower needs it.

        progress(done, all) is called after each batch.
        """
        return self._encode(self.text, add_trees(sentences, self.text.needs), progress)

    def encode_image(self, features: Tensor) -> Embeddings:
        """Photo features (N, F) -> (N, D), or of regions (N, K, F) -> (N, K, D), on the CPU."""
        if self.image is None:
            raise TypeError("this model has no image tower")
        return self._encode(self.image, features)
