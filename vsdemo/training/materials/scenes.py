"""Any number of drawn scenes of Storybook, and sentences that are true or false of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.config import Config
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data import storybook
from vsdemo.data.storybook import sentence_store, store
from vsdemo.data.storybook.facts import facts_of
from vsdemo.data.storybook.free_scenes import FIRST_FREE, may_train
from vsdemo.data.storybook.truth import fact_table, labels
from vsdemo.data.storybook.visible_facts import visible_facts
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks.truth import Truth
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.truth_loss import TruthLabels
from vsdemo.models.vse import VseConfig
from vsdemo.training import parts
from vsdemo.training.materials.photos import CAPTIONS, DRAWING_SIZE, FEATURES, Photos
from vsdemo.training.materials.relations import PhotoBatch
from vsdemo.training.requirements import Check, Requirements
from vsdemo.training.size import Amounts
from vsdemo.vision.crops import CROPS

DATASET = "storybook"


class Scenes(Photos):
    """Scenes, those of train first, and whole batches of sentences with their truth.

    What a scene of dev, test or `compositional` shows, whatever its number, is left out.
    """

    config: VseConfig
    chosen_by = Truth.primary

    def _load(self, dataset: str | None) -> None:
        self.dataset = dataset or DATASET
        if self.dataset != DATASET:
            raise UserError(
                f"{self.preset} learns from drawn scenes of Storybook; it cannot be trained on "
                f"{self.dataset}."
            )
        numbers = _numbers(self.config)[: self.config.photos or None]
        examples = store.read_examples(numbers)
        self.scenes = [example.scene for example in examples if may_train(example.scene)]
        self.train_set = storybook.drawn([scene.number for scene in self.scenes], "train")
        self.dev_set = storybook.load("dev")
        self._check_train_set()

    @classmethod
    def datasets(cls, config: Config, own: Sequence[str] = ()) -> list[str]:
        """Return Storybook, the only one of which all is known."""
        return [DATASET]

    @classmethod
    def default_settings(cls, config: Config, dataset: str | None) -> tuple[str, ...]:
        """Change nothing, as the preset is made for Storybook."""
        return ()

    @classmethod
    def requirements(cls, config: Config, dataset: str | None) -> Requirements:
        """Return how many pictures are missing, which are drawn first."""
        assert isinstance(config, VseConfig)
        numbers = _numbers(config)[: config.photos or None]
        missing = sum(not store.photo(number).exists() for number in numbers)
        drawn = f"; {missing:,} of them will be drawn first" if missing else ""
        message = f"{len(numbers):,} pictures for training{drawn}."
        disk = missing * (DRAWING_SIZE + 2 * FEATURES * CROPS[config.crops].vectors)
        return Requirements([Check(True, message)], disk)

    @classmethod
    def amounts(cls, config: Config, dataset: str | None) -> Amounts:
        """Return how many sentences a batch has, and how many features are in memory."""
        assert isinstance(config, VseConfig)
        pictures = len(_numbers(config)[: config.photos or None])
        return Amounts(
            pairs=pictures * CAPTIONS,
            photos=pictures + len(store.SPLITS["dev"]),
            vectors=CROPS[config.crops].vectors,
            features=FEATURES,
        )

    def _read_photos(self) -> None:
        """Compute missing features, and write missing sentences."""
        super()._read_photos()
        self.sentences = sentence_store.read(self.scenes)
        self.facts = fact_table([facts_of(scene) for scene in self.scenes])
        self.shown = fact_table([visible_facts(scene) for scene in self.scenes])

    def _texts(self) -> Sequence[str]:
        """Return none: those of a batch are prepared when it is embedded."""
        return ()

    def _content(self) -> Iterator[bytes]:
        yield from super()._content()
        yield from (text.encode() for text in self.sentences.texts)

    def batches(self, epoch: int, start: int = 0) -> Iterable[Any]:
        """Return the batches of an epoch from batch number `start` on."""
        rows = self._epoch(epoch)
        return [
            PhotoBatch(rows[number].numpy(), (self.config.seed, epoch, number))
            for number in range(start, len(rows))
        ]

    def _epoch(self, epoch: int) -> Sequence[Tensor]:
        """Return rows of scenes."""
        draw = torch.Generator().manual_seed(self.config.seed * 1_000_003 + epoch)
        order = torch.randperm(len(self.scenes), generator=draw)
        whole = len(order) - len(order) % self.config.batch_size
        return list((order[:whole] if whole else order).split(self.config.batch_size))

    def embed(self, batch: Any) -> tuple[Embeddings, Embeddings, Any]:
        """Return sentences, pictures, and `TruthLabels`."""
        draw = np.random.default_rng(batch.seed)
        rows, owner = self._draw_sentences(batch.photos, draw)
        true = labels(
            self.sentences.table.rows(rows),
            self.facts.rows(batch.photos),
            self.shown.rows(batch.photos),
        )
        known = TruthLabels(
            owner=torch.from_numpy(owner).to(device()), true=torch.from_numpy(true).to(device())
        )
        inputs = self.model.text.prepare([Sentence(self.sentences.texts[row]) for row in rows])
        texts = parts.embed_texts(self.model.text, inputs, self.config.chunk)
        return texts, self._embed_photos(torch.from_numpy(batch.photos).to(device())), known

    def _draw_sentences(
        self, scenes: np.ndarray, draw: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of `config.captions` sentences of each scene, and which scene they are of."""
        starts = self.sentences.starts
        drawn = [
            draw.permutation(np.arange(starts[scene], starts[scene + 1]))[: self.config.captions]
            for scene in scenes
        ]
        return np.concatenate(drawn), np.repeat(np.arange(len(scenes)), [len(d) for d in drawn])

    def loss(self, *embedded: Any, progress: float) -> dict[str, Tensor]:
        """Return the loss of the model's objective, and its parts."""
        texts, photos, known = embedded
        assert self.model.objective is not None
        losses: dict[str, Tensor] = self.model.objective(self.model.score, texts, photos, known)
        return losses

    def _measure(self, model: DualEncoder) -> dict[str, Any]:
        """Return how many first answers are true on dev, beside the retrieval metrics."""
        answers = Truth().evaluate(model, PhotoData(self.dev_set, self.dev_photos))
        return {**super()._measure(model), **answers}


def _numbers(config: VseConfig) -> list[int]:
    """Return the numbers of the scenes: those of train, then free ones."""
    return [*store.SPLITS["train"], *range(FIRST_FREE, FIRST_FREE + config.scenes)]
