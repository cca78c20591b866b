"""Base classes of trainings that keep the weights of the last epoch."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from torch import Tensor, nn
from torch.optim import AdamW, Optimizer
from torch.optim.swa_utils import AveragedModel

from vsdemo.training import optim

CLIP = 5.0  # largest norm of the gradient


@dataclass(frozen=True)
class LastEpochSettings:
    """Settings of a training that keeps the weights of its last epoch.

    A subclass adds `epochs` and `evaluate_every`.

    Attributes:
        learning_rate: Highest learning rate of AdamW.
        weight_decay: Weight decay of AdamW.
        warmup: Steps in which the learning rate rises.
        seed: Seed of weights and of the order of the data.
    """

    learning_rate: float = 0.002
    weight_decay: float = 0.02
    warmup: int = 200
    seed: int = 0

    snapshot_every: ClassVar[int] = 0
    patience: ClassVar[int] = 1  # not used, as no metric chooses the epoch


class LastEpochMaterial:
    """Material of a training that keeps the weights of its last epoch.

    It has AdamW, whose learning rate falls to 0.

    Attributes:
        config: The settings of the training: a dataclass, unless a subclass overrides `identity`.
        model: The network.
        steps_per_epoch: Steps of an epoch.
    """

    chosen_by = None  # the last epoch is kept
    log_interval = 20
    solved = False

    config: Any
    model: nn.Module
    steps_per_epoch: int

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return groups of parameters for AdamW, with weight decay of matrices only."""
        parameters = list(self.model.parameters())
        return [
            {"params": [p for p in parameters if p.dim() > 1]},
            {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
        ]

    def optimizer(self) -> Optimizer:
        """Return AdamW."""
        return AdamW(self.model.parameters(), weight_decay=self.config.weight_decay)

    def average(self, optimizer: Optimizer) -> AveragedModel | None:
        """Weights are not averaged, as the learning rate falls to 0."""
        return None

    def begin_step(self, optimizer: Optimizer, step: int) -> float:
        """Set and return the learning rate: half a cosine wave down to 0, after a warmup."""
        share = step / (self.config.epochs * self.steps_per_epoch)
        rate: float = self.config.learning_rate * (1 + math.cos(math.pi * share)) / 2
        rate *= min(1.0, (step + 1) / max(1, self.config.warmup))
        for group in optimizer.param_groups:
            group["lr"] = rate
        return rate

    def adjust_gradients(self, batch: Any, step: int) -> dict[str, Tensor]:
        """Clip the norm of the gradient."""
        return optim.clip_gradients(self.model, CLIP)

    def fit(self, batch: Any) -> dict[str, Tensor]:
        """The network is not solved at once."""
        raise NotImplementedError

    def before(self, model: nn.Module) -> dict[str, Any]:
        """Nothing is recorded about the untrained network."""
        return {}

    def identity(self) -> dict[str, Any]:
        """Return the settings."""
        return asdict(self.config)

    def matches(self, identity: dict[str, Any]) -> bool:
        """Whether the training in a folder has the same settings."""
        return identity == self.identity()
