"""What the trainer needs to know about the data, the model and the loss."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.swa_utils import AveragedModel


class Length(Protocol):
    """How long to train, and how often to evaluate, all in epochs."""

    @property
    def epochs(self) -> int:
        """The largest number of epochs."""

    @property
    def evaluate_every(self) -> int:
        """Epochs between two evaluations on dev."""

    @property
    def snapshot_every(self) -> int:
        """Epochs between two snapshots; 0 for none."""

    @property
    def patience(self) -> int:
        """Evaluations without an improvement after which training stops."""


class Material(Protocol):
    """What a training learns from.

    A `Trainer` asks its material for everything that depends on the data or on the kind of model.
    It calls `build` first, and nothing below `build` before that.
    """

    @property
    def name(self) -> str:
        """The name on the progress bar."""

    @property
    def chosen_by(self) -> str | None:
        """The dev metric, higher is better, that chooses the epoch whose weights are kept.

        None keeps the weights of the last epoch.
        """

    @property
    def log_interval(self) -> int:
        """Steps between two `step` events."""

    @property
    def config(self) -> Length:
        """The configuration of the training."""

    def build(self) -> nn.Module:
        """Prepare the inputs and return a new model for them."""

    @property
    def solved(self) -> bool:
        """Whether the model is fitted at once, by `fit`, and not step by step."""

    @property
    def steps_per_epoch(self) -> int:
        """The number of batches of an epoch."""

    def batches(self, epoch: int, start: int = 0) -> Iterable[Sized]:
        """Return the batches of an epoch from batch number `start` on.

        They depend on nothing but the seed and the epoch, so a resumed training sees the same ones.
        The length of a batch is its number of pairs.
        """

    def optimizer(self) -> Optimizer:
        """Return a new optimizer of the model."""

    def average(self, optimizer: Optimizer) -> AveragedModel | None:
        """Return a moving average of the model that follows the optimizer; None for none."""

    def begin_step(self, optimizer: Optimizer, step: int) -> float:
        """Set and return the learning rate of optimizer step `step`, counted from 0."""

    def embed(self, batch: Any) -> tuple[Any, ...]:
        """Return what `loss` takes of a batch. Runs under autocast."""

    def loss(self, *embedded: Any, progress: float) -> dict[str, Tensor]:
        """Return the loss, as "loss", and whatever else is to be logged.

        Args:
            *embedded: What `embed` returned.
            progress: The fraction of the training that is done.
        """

    def adjust_gradients(self, batch: Any, step: int) -> dict[str, Tensor]:
        """Change the gradients before the optimizer uses them; return what is to be logged.

        Raises:
            FloatingPointError: If a gradient is not finite.
        """

    def fit(self, batch: Any) -> dict[str, Tensor]:
        """Fit a model that is solved at once; return what is to be logged."""

    def measure(self, model: Any) -> dict[str, Any]:
        """Return the metrics of a model on dev; all ranks call this and get the same."""

    def describe(self) -> dict[str, Any]:
        """Return what the `start` event records about the training."""

    def before(self, model: Any) -> dict[str, Any]:
        """Return what the `start` event records about a model that has not been trained."""

    def identity(self) -> dict[str, Any]:
        """Return, as JSON, what identifies the training in its folder."""

    def matches(self, identity: dict[str, Any]) -> bool:
        """Whether a folder's training of this `identity` can be resumed."""

    def save(self, folder: Path, model: Any, *, atomic: bool = False) -> None:
        """Write a checkpoint of the model.

        Args:
            folder: Its folder.
            model: The model.
            atomic: Whether the folder must be complete or absent at any time.
        """
