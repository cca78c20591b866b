"""Pairs of concepts, positives and corrupted ones (Vendrov 2016, section 3).

Negatives are drawn anew for each epoch, from the seed. Of the near negatives that are drawn for a
batch, those that the model takes for true at that time join it. Only the rows of the embedding
table that are in a batch change.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.optim import Optimizer, SparseAdam

from vsdemo import models
from vsdemo.core.config import Config
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.data.pairs import hypernyms, wordnet
from vsdemo.data.pairs.near_negatives import NearNegatives
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.concepts import ConceptTable
from vsdemo.evaluation.tasks.hypernyms import measure
from vsdemo.models.checkpoint import Spec
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.losses import entailment
from vsdemo.models.vendrov2016 import HypernymsConfig
from vsdemo.training.materials.pairs import Pairs
from vsdemo.training.requirements import Check, Requirements
from vsdemo.training.size import Amounts

COPIES = 6  # of the pairs of an epoch, as 32-bit numbers, while they are drawn


class ConceptPairs(Pairs):
    """Hypernym pairs, for a table of concepts."""

    log_interval = 1000

    config: HypernymsConfig
    table: ConceptTable

    def _load(self, dataset: str | None) -> None:
        dataset = dataset or wordnet.NAME
        self.split = hypernyms.split(self.config.protocol, dataset)
        model, _ = models.preset(self.preset)
        self.spec = Spec(model, self.preset, dataset, self.config, backbone_hash="", features=0)

    @classmethod
    def datasets(cls, config: Config) -> list[str]:
        """Return WordNet, if it is available, and the toy hierarchy."""
        return [wordnet.NAME, "toy"] if wordnet.find() else ["toy"]

    @classmethod
    def requirements(cls, config: Config, dataset: str | None) -> Requirements:
        """Return whether the hierarchy is available."""
        if dataset in (None, wordnet.NAME) and not wordnet.find():
            return Requirements([Check(False, f"WordNet: {wordnet.HOW_TO_GET}")])
        return Requirements([Check(True, "The concepts are available.")])

    @classmethod
    def amounts(cls, config: Config, dataset: str | None) -> Amounts:
        """Return how many concepts there are, and numbers of pairs in an epoch."""
        names, pairs = (90_000, 900_000) if dataset in (None, wordnet.NAME) else (1000, 10_000)
        parts = 1 + cast(HypernymsConfig, config).negatives
        return Amounts(pairs=parts, names=names, epoch=COPIES * pairs * parts * 2)

    def build(self) -> DualEncoder:
        """Return a new table of the hierarchy's concepts."""
        self._build_model(Vocab(self.split.taxonomy.names), features=0)
        self.model.to(device())
        self.table = cast(ConceptTable, self.model.text)
        self.steps_per_epoch = len(self.split.train) // self.positives
        if self.config.near:
            self.near = NearNegatives(self.split.train, len(self.split.taxonomy.names))
        return self.model

    @property
    def positives(self) -> int:
        """The number of positive pairs in a batch."""
        pairs = self.config.batch_size // (1 + self.config.negatives)
        return min(max(1, pairs), len(self.split.train))

    def batches(self, epoch: int, start: int = 0) -> Iterable[Tensor]:
        """Return the batches of an epoch from batch number `start` on.

        With near negatives, each batch is to be learnt from before the next one is taken.
        """
        batches = self._epoch(epoch)[start:]
        if not self.config.near:
            return batches
        return (
            torch.cat([batch, self._near_negatives(batch, epoch, number)])
            for number, batch in enumerate(batches, start)
        )

    @torch.no_grad()
    def _near_negatives(self, batch: Tensor, epoch: int, number: int) -> Tensor:
        """Return near negatives to the positives of a batch that are within their margin, (V, 2)."""
        draw = np.random.default_rng((self.config.seed, epoch, number))
        pairs = self.near.draw(batch[: self.positives].numpy(), self.config.near, draw)
        general, specific = torch.from_numpy(pairs.T).to(device())
        scores = self.model.score.pairs(self.table.rows(general), self.table.rows(specific))
        within = (-scores < self.config.near_margin).cpu().numpy()
        return torch.from_numpy(self.near.false(pairs[within]))

    def _epoch(self, epoch: int) -> Sequence[Tensor]:
        """Return batches (B, 2) of general and specific concepts, the positive pairs first."""
        draw = np.random.default_rng((self.config.seed, epoch))
        positives = draw.permutation(self.split.train)
        parts, size = 1 + self.config.negatives, self.positives
        positives = positives[: len(positives) - len(positives) % size]
        negatives = (self.split.negatives(positives, draw) for _ in range(self.config.negatives))
        pairs = np.stack([positives, *negatives]).astype(np.int64)  # (parts, P, 2)
        batches = pairs.reshape(parts, -1, size, 2).swapaxes(0, 1).reshape(-1, parts * size, 2)
        return list(torch.from_numpy(batches))

    def optimizer(self) -> Optimizer:
        """Return Adam with updates of the rows in the batch only."""
        return SparseAdam(self.model.parameters(), lr=self.config.learning_rate)

    def embed(self, batch: Tensor) -> tuple[Embeddings, Embeddings, Tensor]:
        """Return the general concepts, the specific ones and the margins; 0 for a positive pair."""
        general, specific = batch.to(device()).T
        random = self.positives * self.config.negatives
        counts = torch.tensor([self.positives, random, len(batch) - self.positives - random])
        margins = torch.tensor([0, self.config.margin, self.config.near_margin])
        margins = margins.repeat_interleave(counts).to(device())
        return self.table.rows(general), self.table.rows(specific), margins

    def loss(self, *embedded: Any, progress: float) -> dict[str, Tensor]:
        """Return the loss of Eq. 4, with a margin of their own for near negatives."""
        general, specific, margins = embedded
        positive = torch.arange(len(margins), device=margins.device) < self.positives
        return entailment(self.model.score.pairs(general, specific), positive, margins)

    def adjust_gradients(self, batch: Tensor, step: int) -> dict[str, Tensor]:
        """Clamp the rows of the batch before the step, as the released code does."""
        self.table.clamp(batch.flatten().to(device()))
        return {}

    def measure(self, model: DualEncoder) -> dict[str, Any]:
        """Return the accuracy on the dev pairs, at the threshold that is best there."""
        return measure(model, self.split, self.split.dev, baselines=False).metrics()
