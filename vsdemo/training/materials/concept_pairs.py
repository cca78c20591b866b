"""Pairs of concepts, positives and corrupted ones (Vendrov 2016, section 3).

Negatives are drawn anew for each epoch, from the seed. Where there are near negatives, a batch
has only those negatives that are within their margins at that time; the loss of others is 0. Only
the rows of the embedding table that are in a batch change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor
from torch.optim import Optimizer, SparseAdam

from vsdemo import models
from vsdemo.core.config import Config
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.language import translate
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

POSITIVE, RANDOM, NEAR = range(3)  # kinds of pairs
COPIES = 6  # of the pairs of an epoch, as 32-bit numbers, while they are drawn


class ConceptPairs(Pairs):
    """Hypernym pairs, for a table of concepts."""

    log_interval = 1000
    has_parts = False  # ranks would only look up rows

    config: HypernymsConfig
    table: ConceptTable

    def _load(self, dataset: str | None) -> None:
        if self.config.chunk:
            raise UserError(f"{self.preset} looks up rows of a table, all at once; set chunk=0.")
        dataset = dataset or wordnet.NAME
        self.split = hypernyms.split(self.config.protocol, dataset)
        model, _ = models.preset(self.preset)
        self.spec = Spec(model, self.preset, dataset, self.config, backbone_hash="", features=0)

    @classmethod
    def datasets(cls, config: Config, own: Sequence[str] = ()) -> list[str]:
        """Return WordNet, if it is available, and the toy hierarchy."""
        return [wordnet.NAME, "toy"] if wordnet.find() else ["toy"]

    @classmethod
    def requirements(cls, config: Config, dataset: str | None) -> Requirements:
        """Return whether the hierarchy is available."""
        if dataset in (None, wordnet.NAME) and not wordnet.find():
            return Requirements([Check(False, f"WordNet: {wordnet.HOW_TO_GET}")])
        return Requirements([Check(True, translate("The concepts are available."))])

    @classmethod
    def amounts(cls, config: Config, dataset: str | None) -> Amounts:
        """Return how many concepts there are, and numbers of pairs in an epoch."""
        names, pairs = (90_000, 900_000) if dataset in (None, wordnet.NAME) else (1000, 10_000)
        parts = 1 + cast(HypernymsConfig, config).negatives
        return Amounts(pairs=parts, names=names, epoch=COPIES * pairs * parts * 3)

    def build(self) -> DualEncoder:
        """Return a new table of the hierarchy's concepts."""
        self._build_model(Vocab(self.split.taxonomy.names), features=0)
        self.model.to(device())
        self.table = cast(ConceptTable, self.model.text)
        margins = torch.tensor([0, self.config.margin, self.config.near_margin])  # by kind
        self._margins = margins.to(device())
        self.steps_per_epoch = len(self._epoch(0))
        if self._has_near:
            self._near = NearNegatives(self.split.train, len(self.split.taxonomy.names))
        return self.model

    @property
    def _has_near(self) -> bool:
        return bool(self.config.near or self.config.searched)

    def batches(self, epoch: int, start: int = 0) -> Iterable[Tensor]:
        """Return the batches of an epoch from batch number `start` on.

        With near negatives, the model must learn from each batch before the next one is taken.
        """
        batches = self._epoch(epoch)[start:]
        if not self._has_near or epoch < self.config.near_from:
            return batches
        return (
            self._with_near(batch, np.random.default_rng((self.config.seed, epoch, number)))
            for number, batch in enumerate(batches, start)
        )

    @torch.no_grad()
    def _with_near(self, batch: Tensor, draw: np.random.Generator) -> Tensor:
        """Return a batch with near negatives, without negatives whose loss is 0."""
        positive = batch[:, 2] == POSITIVE
        drawn = self._near.draw(batch[positive, :2].numpy(), self.config.near, draw)
        near = np.concatenate([drawn, self._search(draw)])
        pairs = torch.cat([batch[~positive], torch.from_numpy(_of_kind(near, NEAR))])
        general, specific, kind = pairs.to(device()).T
        scores = self.model.score.pairs(self.table.rows(general), self.table.rows(specific))
        pairs = pairs[(-scores < self._margins[kind]).cpu()]
        false = ~self._near.follow(pairs[:, :2].numpy())
        return torch.cat([batch[positive], pairs[torch.from_numpy(false)]])

    def _search(self, draw: np.random.Generator) -> np.ndarray:
        """Return pairs (N, 2) within the near margin, true or not, for some specific concepts.

        Half of these concepts have hyponyms themselves, as every walk up passes through such ones.
        """
        half = self.config.searched // 2
        inner = draw.permutation(self._near.inner)[:half]
        others = draw.integers(len(self.table.names), size=self.config.searched - len(inner))
        specific = np.concatenate([inner, others])
        sides = (torch.from_numpy(side).to(device()) for side in (self._near.general, specific))
        scores = self.model.score(*map(self.table.rows, sides))  # (G, S)
        rows, columns = (-scores < self.config.near_margin).cpu().numpy().nonzero()
        return np.column_stack([self._near.general[rows], specific[columns]])

    def _content(self) -> Iterator[bytes]:
        yield self.split.train.tobytes()

    def _epoch(self, epoch: int) -> Sequence[Tensor]:
        """Return batches (B, 3) of general and specific concept and kind, positive pairs first."""
        draw = np.random.default_rng((self.config.seed, epoch))
        positives = draw.permutation(self.split.train)
        parts = 1 + self.config.negatives
        size = min(max(1, self.config.batch_size // parts), len(positives))
        positives = positives[: len(positives) - len(positives) % size]
        negatives = (self.split.negatives(positives, draw) for _ in range(self.config.negatives))
        of_kinds = (_of_kind(positives, POSITIVE), *(_of_kind(n, RANDOM) for n in negatives))
        pairs = np.stack(of_kinds).astype(np.int64)  # (parts, P, 3)
        batches = pairs.reshape(parts, -1, size, 3).swapaxes(0, 1).reshape(-1, parts * size, 3)
        return list(torch.from_numpy(batches))

    def optimizer(self) -> Optimizer:
        """Return Adam with updates of the rows in the batch only."""
        return SparseAdam(self.model.parameters(), lr=self.config.learning_rate)

    def embed(self, batch: Tensor) -> tuple[Embeddings, Embeddings, Tensor]:
        """Return the general concepts, the specific ones and the kinds of the pairs."""
        general, specific, kind = batch.to(device()).T
        return self.table.rows(general), self.table.rows(specific), kind

    def loss(self, *embedded: Any, progress: float) -> dict[str, Tensor]:
        """Return the loss of Eq. 4, with a separate margin for near negatives."""
        general, specific, kind = embedded
        scores = self.model.score.pairs(general, specific)
        return entailment(scores, kind == POSITIVE, self._margins[kind])

    def adjust_gradients(self, batch: Tensor, step: int) -> dict[str, Tensor]:
        """Clamp the rows of the batch before the step, as the released code does."""
        self.table.clamp(batch[:, :2].flatten().to(device()))
        return {}

    def _measure(self, model: DualEncoder) -> dict[str, Any]:
        """Return the accuracy on the dev pairs, at the threshold that is best there."""
        return measure(model, self.split, self.split.dev, baselines=False).metrics()


def _of_kind(pairs: np.ndarray, kind: int) -> np.ndarray:
    """Return pairs (N, 2) with their kind, (N, 3)."""
    return np.column_stack([pairs, np.full(len(pairs), kind)])
