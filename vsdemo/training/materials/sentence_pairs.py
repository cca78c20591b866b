"""Labelled pairs of sentences (Vendrov 2016, section 5).

The text encoder embeds both sides. The accuracy on separate pairs, at the threshold that is best
there, chooses the epoch; `data.pairs.nli.training_pairs` says which pairs these are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from vsdemo import models
from vsdemo.core.config import Config
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.language import number, translate
from vsdemo.data.pairs import nli
from vsdemo.evaluation.tasks.nli import measure
from vsdemo.models.checkpoint import Spec
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.training import parts
from vsdemo.training.materials.pairs import Pairs
from vsdemo.training.requirements import Check, Requirements
from vsdemo.training.schedule import epoch_batches
from vsdemo.training.size import Amounts


class SentencePairs(Pairs):
    """Premises and hypotheses with entailment labels, for a model without an image encoder."""

    def _load(self, dataset: str | None) -> None:
        if dataset:
            raise UserError(f"{self.preset} has its own sentence pairs; omit --data.")
        if self.config.evaluate_sts:
            raise UserError(
                f"{self.preset} is measured on entailment only; set evaluate_sts=false."
            )
        if self.config.alternate_epochs:
            raise UserError(f"{self.preset} has one encoder, so set alternate_epochs=0.")
        dataset, self.pairs, self.dev_pairs = nli.training_pairs()
        model, _ = models.preset(self.preset)
        self.spec = Spec(model, self.preset, dataset, self.config, backbone_hash="", features=0)

    @classmethod
    def requirements(cls, config: Config, dataset: str | None) -> Requirements:
        """Return whether the sentence pairs are available."""
        _, pairs, _ = nli.training_pairs()
        text = translate("{count} sentence pairs are available.", count=number(len(pairs)))
        return Requirements([Check(True, text)])

    @classmethod
    def amounts(cls, config: Config, dataset: str | None) -> Amounts:
        """Return how many pairs of two texts there are."""
        _, pairs, _ = nli.training_pairs()
        return Amounts(pairs=2 * len(pairs))

    def build(self) -> DualEncoder:
        """Prepare every sentence once and return a new model."""
        texts = list(dict.fromkeys(t for p in self.pairs for t in (p.premise, p.hypothesis)))
        self.sentences = self._build_text_model(texts)
        number = {text: i for i, text in enumerate(texts)}
        rows = [[number[pair.hypothesis], number[pair.premise]] for pair in self.pairs]
        sizes = [len(sentence) for sentence in self.sentences]
        self.rows = torch.tensor(rows)  # (P, 2)
        self.entailed = torch.tensor([pair.entailed for pair in self.pairs])  # (P,)
        self.lengths: Sequence[int] = [sizes[a] + sizes[b] for a, b in rows]
        self.steps_per_epoch = len(self._epoch(0))
        return self.model

    def _content(self) -> Iterator[bytes]:
        for pair in (*self.pairs, *self.dev_pairs):
            yield f"{pair.premise}\n{pair.hypothesis}\n{pair.entailed}".encode()

    def _epoch(self, epoch: int) -> Sequence[Tensor]:
        numbers = [[number] for number in range(len(self.pairs))]
        return epoch_batches(self.config, numbers, epoch, self.lengths)

    def embed(self, batch: Tensor) -> tuple[Embeddings, Embeddings, Tensor]:
        """Return the hypotheses, premises and entailment labels of these pairs."""
        rows = self.rows[batch].T.flatten().tolist()
        texts = [self.sentences[row] for row in rows]
        both = parts.embed_texts(self.model.text, texts, self.config.chunk)  # (2 B, D)
        return both[: len(batch)], both[len(batch) :], self.entailed[batch].to(device())

    def _measure(self, model: DualEncoder) -> dict[str, Any]:
        """Return the accuracy on the dev pairs, at the threshold that is best there."""
        accuracy, _ = measure(model, self.dev_pairs, self.dev_pairs)
        return accuracy.metrics()
