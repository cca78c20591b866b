"""Any number of drawn scenes of Storybook, and sentences that are true or false of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

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
from vsdemo.data.storybook.typing_words import vocabulary
from vsdemo.data.storybook.visible_facts import visible_facts
from vsdemo.evaluation.task import PhotoData
from vsdemo.evaluation.tasks.truth import Truth
from vsdemo.models import checkpoint
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.models.truth_loss import TruthLabels
from vsdemo.models.vse import VseConfig
from vsdemo.training import parts
from vsdemo.training.materials.photo_batches import PhotoBatches, draw_texts
from vsdemo.training.requirements import Check


class Scenes(PhotoBatches):
    """Scenes, those of train first, and whole batches of sentences with their truth.

    Scenes that show the same as one of dev, test or `compositional` are left out.
    """

    config: VseConfig
    chosen_by = Truth.primary
    usual_dataset = "storybook"

    def _load(self, dataset: str | None) -> None:
        for check in self.check_dataset(dataset):
            if not check.ok:
                raise UserError(check.message)
        self.dataset = self.usual_dataset
        examples = store.read_examples(_numbers(self.config))
        examples = [example for example in examples if may_train(example.scene)]
        self.scenes = [example.scene for example in examples]
        self.train_set = storybook.of_examples(examples, "train")
        self.dev_set = storybook.load("dev")
        self._check_train_set()

    @classmethod
    def datasets(cls, config: Config, own: Sequence[str] = ()) -> list[str]:
        """Return Storybook, the only data set with all facts known."""
        return [cls.usual_dataset]

    @classmethod
    def default_settings(cls, config: Config, dataset: str | None) -> tuple[str, ...]:
        """Change nothing, as the preset is made for Storybook."""
        return ()

    @classmethod
    def check_dataset(cls, dataset: str | None) -> list[Check]:
        """Return what keeps a training on a data set from starting: it is not Storybook."""
        if dataset not in (None, cls.usual_dataset):
            message = (
                "This model learns from drawn scenes of Storybook, whose facts are all known; it "
                f"cannot be trained on {dataset}."
            )
            return [Check(False, message)]
        return super().check_dataset(dataset)

    @classmethod
    def _training_photos(cls, config: Config, dataset: str) -> Sequence[Path]:
        assert isinstance(config, VseConfig)
        return [store.photo(number) for number in _numbers(config)]

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

    def embed(self, batch: Any) -> tuple[Embeddings, Embeddings, Any]:
        """Return sentences, pictures, and `TruthLabels`."""
        draw = np.random.default_rng(batch.seed)
        starts = self.sentences.starts
        own = [np.arange(starts[scene], starts[scene + 1]) for scene in batch.photos]
        rows, owner = draw_texts(own, self.config.captions, draw)
        true = labels(
            self.sentences.table.rows(rows),
            self.facts.rows(batch.photos),
            self.shown.rows(batch.photos),
        )
        known = TruthLabels(
            owner=torch.from_numpy(owner).to(device()),
            true=torch.from_numpy(true).to(device()),
            shares=torch.from_numpy(self.sentences.shares[rows]).to(device()),
        )
        inputs = self.model.text.prepare([Sentence(self.sentences.texts[row]) for row in rows])
        texts = parts.embed_texts(self.model.text, inputs, self.config.chunk)
        return texts, self._embed_photos(torch.from_numpy(batch.photos).to(device())), known

    def save(self, folder: Path, model: nn.Module, *, atomic: bool = False) -> None:
        """Write a checkpoint, with the words of typed sentences, which captions do not have."""
        super().save(folder, model, atomic=atomic)
        checkpoint.save_training_words(folder, vocabulary())

    def _measure(self, model: DualEncoder) -> dict[str, Any]:
        """Return the retrieval metrics on dev, and how many first answers are true."""
        answers = Truth().evaluate(model, PhotoData(self.dev_set, self.dev_photos))
        return {**super()._measure(model), **answers}


def _numbers(config: VseConfig) -> list[int]:
    """Return the numbers of the scenes: those of train, then free ones."""
    numbers = [*store.SPLITS["train"], *range(FIRST_FREE, FIRST_FREE + config.scenes)]
    return numbers[: config.photos or None]
