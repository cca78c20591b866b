"""Materials of pairs for a dual encoder: what photos, sentence pairs and concept pairs share."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, cast

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.swa_utils import AveragedModel

from vsdemo import models
from vsdemo.core.config import Config
from vsdemo.core.device import device
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text import vectors
from vsdemo.data.text.sentences import add_trees
from vsdemo.data.text.vocab import Vocab
from vsdemo.models import checkpoint, losses
from vsdemo.models.checkpoint import Spec
from vsdemo.models.dual_encoder import DualEncoder
from vsdemo.training import distributed, optim, parts
from vsdemo.training.requirements import Check, Requirements
from vsdemo.training.size import Amounts


class Pairs(ABC):
    """Pairs of something general and something specific that a preset learns from.

    Args:
        preset: Name of a preset.
        config: Its configuration, or a changed one.
        dataset: Name of a data set; None for the usual one.
        watched: Sentences whose best photos are recorded at each evaluation.

    Raises:
        UserError: If data are missing, or the configuration does not suit the material.
    """

    chosen_by: ClassVar[str] = "accuracy"
    log_interval: ClassVar[int] = 10
    uses_photos: ClassVar[bool] = False

    unreadable: Mapping[Path, str] = {}  # photos that are left out, and why
    model: DualEncoder
    spec: Spec
    vocab: Vocab
    steps_per_epoch: int

    def __init__(
        self, preset: str, config: Config, dataset: str | None = None, watched: Sequence[str] = ()
    ) -> None:
        if watched and not self.uses_photos:
            raise UserError(f"{preset} learns without photos, so omit --watch.")
        self.preset, self.config = preset, config
        self._load(dataset)
        self.watched = watched

    @abstractmethod
    def _load(self, dataset: str | None) -> None:
        """Read the data. Raises UserError if they are missing or do not suit the configuration."""

    @abstractmethod
    def build(self) -> DualEncoder:
        """Prepare the inputs and return a new model for them."""

    @classmethod
    def datasets(cls, config: Config, own: Sequence[str] = ()) -> list[str]:
        """Return the available data sets, the usual one first.

        Args:
            config: What to train.
            own: The user's own data sets, photos with captions.

        Returns:
            An empty list for a material that has only its own data.
        """
        return []

    @classmethod
    def check_dataset(cls, dataset: str | None) -> list[Check]:
        """Return what keeps a training on a data set from starting, and what it leaves out.

        Raises:
            UserError: The data set does not exist.
        """
        return []

    @classmethod
    def default_settings(cls, config: Config, dataset: str | None) -> tuple[str, ...]:
        """Return the settings, as "key=value", that adapt a preset to a data set."""
        return ()

    @classmethod
    @abstractmethod
    def requirements(cls, config: Config, dataset: str | None) -> Requirements:
        """Return what a training needs. Raises UserError where data are missing."""

    @classmethod
    @abstractmethod
    def amounts(cls, config: Config, dataset: str | None) -> Amounts:
        """Return the amounts of data to learn from. Raises UserError where data are missing."""

    @property
    def name(self) -> str:
        """The name of the preset."""
        return self.preset

    @property
    def solved(self) -> bool:
        """Whether the model is fitted at once, by `fit`, and not step by step."""
        return self.model.solved

    @property
    def has_parts(self) -> bool:
        """Whether a batch can be embedded in parts, by several ranks."""
        return not self.solved

    def join_ranks(self) -> None:
        """Start to share batches with the other ranks, if there are any.

        Raises:
            UserError: If batches have no parts, or the ranks have different data or settings.
        """
        if distributed.count() == 1:
            return
        if not self.has_parts:
            raise UserError(
                f"{self.preset} is trained by one process, as its batches cannot be embedded in "
                "parts; start it without torchrun."
            )
        digest = sha256(json.dumps(self.identity(), sort_keys=True).encode())
        for part in self._content():
            digest.update(part)
        distributed.require_same(digest.hexdigest())
        distributed.broadcast(self.model)

    @abstractmethod
    def _content(self) -> Iterator[bytes]:
        """Yield all data for training and evaluation, to be compared between ranks."""

    def batches(self, epoch: int, start: int = 0) -> Iterable[Tensor]:
        """Return the batches of an epoch from batch number `start` on."""
        return self._epoch(epoch)[start:]

    @abstractmethod
    def _epoch(self, epoch: int) -> Sequence[Tensor]:
        """Return the batches of an epoch."""

    def _build_model(self, vocab: Vocab, features: int) -> None:
        """Set `vocab` and a new `model`.

        Args:
            vocab: The vocabulary of the text encoder.
            features: Length of the photo features; 0 without photos.
        """
        self.vocab = vocab
        torch.manual_seed(self.config.seed)
        self.model = models.build(self.spec.model, self.config, vocab, features)
        self._loss = losses.build(self.config)

    def _build_text_model(self, texts: Sequence[str]) -> list[Any]:
        """Set `vocab` and a new `model` for these texts; return the text encoder's inputs."""
        config = self.config
        sentences = add_trees([Sentence(text) for text in texts], config.needs)
        vocab = self._vocabulary(sentences)
        self._build_model(vocab, self.spec.features)
        if config.vectors != "learned":
            table = cast(nn.Embedding, self.model.text.table)
            vectors.initialize(table, vocab, texts)
            table.requires_grad_(config.vectors == "tuned")
        self.model.to(device())
        inputs: list[Any] = self.model.text.prepare(sentences)
        return inputs

    def _vocabulary(self, sentences: Sequence[Sentence]) -> Vocab:
        """Return the words of the texts of training that the model will know."""
        return Vocab.build(sentences, self.config.min_count, self.config.needs)

    def optimizer(self) -> Optimizer:
        """Return a new optimizer of the model."""
        return optim.build(self.config, self.model)

    def average(self, optimizer: Optimizer) -> AveragedModel | None:
        """Return the moving average that the configuration asks for; None for none."""
        if self.solved:
            return None
        return optim.average(self.config, self.model, optimizer, self.steps_per_epoch)

    def begin_step(self, optimizer: Optimizer, step: int) -> float:
        """Set and return the learning rate of a step; set the model's dropout."""
        distributed.seed_step(self.config.seed, step)
        optim.begin_dropout(self.model, self.config, step, self.steps_per_epoch)
        config, step = self._scheduled(step)
        return optim.begin_step(optimizer, config, step, self.steps_per_epoch)

    def _scheduled(self, step: int) -> tuple[Config, int]:
        """Return the configuration of a step's learning rate, and its number in that schedule."""
        return self.config, step

    @abstractmethod
    def embed(self, batch: Tensor) -> tuple[Any, ...]:
        """Return what `loss` takes: general embeddings, specific ones and their labels."""

    def loss(self, *embedded: Any, progress: float) -> dict[str, Tensor]:
        """Return the loss of the configuration, and whatever else is to be logged."""
        general, specific, label = embedded
        return self._loss(self.model.score, general, specific, label, progress)

    def adjust_gradients(self, batch: Tensor, step: int) -> dict[str, Tensor]:
        """Freeze a resting tower and clip the norm of the gradient."""
        optim.freeze_resting_tower(self.model, self.config, step, self.steps_per_epoch)
        limit = self.config.clip or float("inf")
        return optim.clip_gradients(self.model, limit)

    def fit(self, batch: Tensor) -> dict[str, Tensor]:
        """Fit a model that is solved at once; only photos have such models."""
        raise NotImplementedError(f"{self.preset} is not solved at once")

    def measure(self, model: DualEncoder) -> dict[str, Any]:
        """Return the metrics of a model on dev, which all ranks embed together.

        Raises:
            FloatingPointError: If an embedding is not finite.
        """
        with parts.shared(model):
            metrics = self._measure(model)
        return distributed.on_main(lambda: metrics)  # a rank with other hardware may round

    @abstractmethod
    def _measure(self, model: DualEncoder) -> dict[str, Any]:
        """Return the metrics of a model on dev."""

    def describe(self) -> dict[str, Any]:
        """Return preset, data set and configuration."""
        return {
            "preset": self.preset,
            "dataset": self.spec.dataset,
            "config": self.config.model_dump(),
        }

    def before(self, model: DualEncoder) -> dict[str, Any]:
        """Return what the `start` event records about a model that has not been trained."""
        return {}

    def identity(self) -> dict[str, Any]:
        """Return the content of config.json."""
        return self.spec.to_json()

    def matches(self, identity: dict[str, Any]) -> bool:
        """Whether the training in a folder has the same configuration, data and backbone."""
        return Spec.from_json(identity) == self.spec

    def save(self, folder: Path, model: nn.Module, *, atomic: bool = False) -> None:
        """Write a checkpoint of the model."""
        write = checkpoint.save_whole if atomic else checkpoint.save
        write(folder, self.spec, self.vocab, model.state_dict())
