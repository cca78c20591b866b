"""Two encoders and a score."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.progress import Progress
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.sentences import add_trees
from vsdemo.encoders import Encoder
from vsdemo.models.captioner import Captioner
from vsdemo.models.limits import NO_LIMITS, Limits
from vsdemo.models.objectives import Objective
from vsdemo.models.scores import Score

BATCH = 256  # sentences or photos in a forward pass outside training

# Embeds N items by a function that embeds those of a slice.
Division = Callable[[int, Callable[[slice], Embeddings]], Embeddings]


def undivided(items: int, embed: Callable[[slice], Embeddings]) -> Embeddings:
    """Embed all items by one call."""
    return embed(slice(0, items))


class DualEncoder(nn.Module):
    """A text encoder, an image encoder (None for tasks without photos) and the score between them.

    Attributes:
        objective: What to minimize instead of a loss of `vsdemo.models.losses`, for models that
            learn from labels of whole batches; None for other models.
        limits: For a score with an order, the limits of the order; see `vsdemo.search.calibration`.
        temperature: What scores are divided by before a softmax turns them into the probabilities
            of captions; None if it is unknown, see `vsdemo.evaluation.likely`.
        presence: Score from which a region shows what a fragment names, for models that align them;
            0 if it is unknown, see `vsdemo.evaluation.presence`.
        concepts: Concepts that it learned in addition to sentences, such as "a dog"; empty for most
            models.
        division: How the items of a call are embedded, by default all at once. Several processes
            with the same weights can embed their shares; see `vsdemo.training.parts`.
        solved: Whether `fit` solves the model at once, without gradient steps.
    """

    solved: ClassVar[bool] = False

    def __init__(
        self,
        text: Encoder,
        image: Encoder | None,
        score: Score,
        objective: Objective | None = None,
    ) -> None:
        super().__init__()
        self.text, self.image, self.score, self.objective = text, image, score, objective
        self.limits: Limits = NO_LIMITS
        self.temperature: float | None = None
        self.presence = 0.0
        self._others: dict[str, Captioner] = {}  # torch registers no modules in a dict
        self.concepts: tuple[str, ...] = ()
        self.division: Division = undivided

    @property
    def captioner(self) -> Captioner | None:
        """Writes sentences about photos; None for most models."""
        return self._others.get("captioner")

    def attach(self, captioner: Captioner) -> None:
        """Set the captioner, whose weights do not become those of this model."""
        self._others["captioner"] = captioner

    @property
    def device(self) -> torch.device:
        """The device of the weights; without weights of its own, the chosen device."""
        parameter = next(self.parameters(), None)
        return device() if parameter is None else parameter.device

    def encode_text(
        self,
        sentences: Sequence[Sentence],
        progress: Progress | None = None,
        *,
        batch_size: int | None = None,
    ) -> Embeddings:
        """Embed N sentences on the CPU, (N, D) or sets (N, M, D).

        Sentences are parsed first where the encoder needs trees.

        Args:
            sentences: The sentences.
            progress: Called with (sentences done, all sentences).
            batch_size: Sentences in a forward pass; BATCH by default.
        """

        def embed(rows: slice) -> Embeddings:
            parsed = add_trees(sentences[rows], self.text.needs)
            return self._encode(self.text, parsed, progress, batch_size)

        return self.division(len(sentences), embed)

    @torch.inference_mode()
    def encode_parts(self, sentence: Sentence) -> tuple[list[str], Embeddings]:
        """Embed the parts of which a sentence is composed; see `TextEncoder.reading_parts`.

        Returns:
            The words of each of the N parts, and their embeddings, (N, D) or sets (N, M, D).
        """
        encoder: Any = self.text
        parts = encoder.reading_parts(sentence)
        if not parts:
            return [], Embeddings(torch.zeros(0, self.text.dim))
        was_training = self.training
        self.eval()
        batch = encoder.collate([part.prepared for part in parts])
        embeddings: Embeddings = encoder(batch.to(self.device)).to("cpu")
        self.train(was_training)
        return [part.text for part in parts], embeddings

    def encode_image(self, features: Tensor) -> Embeddings:
        """Embed photo features (N, F) -> (N, D), or of regions (N, K, F) -> (N, K, D), on the CPU.

        Raises:
            TypeError: The model has no image encoder.
        """
        image = self.image
        if image is None:
            raise TypeError("this model has no image encoder")
        return self.division(len(features), lambda rows: self._encode(image, features[rows]))

    @torch.inference_mode()
    def _encode(
        self,
        encoder: Encoder,
        items: Any,
        progress: Progress | None = None,
        batch_size: int | None = None,
    ) -> Embeddings:
        """Embed in batches of similar length, in evaluation mode; rows keep the order of items."""
        prepared = encoder.prepare(items)
        order = sorted(range(len(prepared)), key=lambda i: -len(prepared[i]))
        if not order:
            return Embeddings(torch.zeros(0, encoder.dim))
        size = batch_size or BATCH

        def parts() -> Iterator[Embeddings]:
            for start in range(0, len(order), size):
                batch = encoder.collate([prepared[i] for i in order[start : start + size]])
                yield encoder(batch.to(self.device)).to("cpu")
                if progress:
                    progress(min(start + size, len(order)), len(order))

        was_training = self.training
        self.eval()
        result = Embeddings.place(parts(), torch.tensor(order))
        self.train(was_training)
        return result

    def fit(self, captions: Sequence[Tensor], photos: Tensor) -> dict[str, Tensor]:
        """Solve a `solved` model for N prepared captions and their photos (N, F).

        Returns:
            Numbers to log.

        Raises:
            TypeError: The model is trained by gradient steps.
        """
        raise TypeError(f"{type(self).__name__} is trained by gradient steps")
