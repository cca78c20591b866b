"""Train Easel: find the things in drawings, and name what they are.

It sees crops first and whole pictures later. A crop around a thing teaches as much as a whole
picture, but has a quarter of the pixels.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor

from vsdemo.core import checksums, tensors
from vsdemo.core.device import device
from vsdemo.core.paths import write_text
from vsdemo.models import checkpoint
from vsdemo.recipes.easel import batches, pictures
from vsdemo.recipes.easel.batches import Batch
from vsdemo.recipes.easel.card import card
from vsdemo.recipes.easel.losses import losses
from vsdemo.recipes.easel.measure import measure
from vsdemo.recipes.easel.network import EaselWithHeads, Prediction
from vsdemo.recipes.last_epoch import LastEpochMaterial, LastEpochSettings
from vsdemo.training.trainer import Trainer
from vsdemo.vision.backbones.easel import STRIDE, Easel

WEIGHTS = "model.safetensors"
EPOCH = 300  # steps after which the state is saved
CROPPED = 0.6  # of the epochs show crops


@dataclass(frozen=True)
class Settings(LastEpochSettings):
    """The settings of a training.

    Attributes:
        steps: Steps of the optimizer, rounded up to whole epochs of EPOCH.
        more: Scenes in addition to those of train.
        crops: Crops per step.
        pictures: Whole pictures per step.
        recoloured: Share of the pictures of a step that get other colours.
    """

    steps: int = 9000
    more: int = 11_000
    crops: int = 48
    pictures: int = 16
    recoloured: float = 0.5
    learning_rate: float = 0.0015

    evaluate_every: ClassVar[int] = 6

    @property
    def epochs(self) -> int:
        """The number of epochs."""
        return math.ceil(self.steps / EPOCH)


class Detection(LastEpochMaterial):
    """The material of Easel: pictures, the things in them, and their labels.

    Args:
        settings: The settings of the training.
        cache: The folder of the pictures.
    """

    name = "easel"
    model: EaselWithHeads

    def __init__(self, settings: Settings, cache: Path) -> None:
        self.config, self.cache = settings, cache
        self.steps_per_epoch = EPOCH

    def build(self) -> EaselWithHeads:
        """Draw the pictures and return a new model.

        Raises:
            UserError: If a picture cannot be drawn.
        """
        self.pictures = pictures.load_training(self.cache / "train", self.config.more)
        self.dev = pictures.load_dev(self.cache / "dev")
        torch.manual_seed(self.config.seed)
        self.model = EaselWithHeads()
        self.model.to(device()).to(memory_format=torch.channels_last)
        return self.model

    def batches(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """Yield the batches of an epoch from batch number `start` on.

        An epoch shows pictures in random order, and starts again where all have been shown.
        """
        seed = self.config.seed
        order = np.random.default_rng([seed, epoch]).permutation(len(self.pictures))
        is_cropped = epoch < CROPPED * self.config.epochs
        size = self.config.crops if is_cropped else self.config.pictures
        for number in range(start, self.steps_per_epoch):
            rows = order.take(range(number * size, (number + 1) * size), mode="wrap")
            rng = np.random.default_rng([seed, epoch, number])
            batch = batches.read(self.pictures, rows)
            batch = batches.mirror(batches.crop(batch, rng) if is_cropped else batch, rng)
            yield batches.recolour(batch, self.config.recoloured, rng)

    def embed(self, batch: Batch) -> tuple[Prediction, Batch]:
        """Return the prediction for a batch, and the batch itself.

        Things are described up to half a place of the finest map away from their centres, because
        the places of found things are not exact either.
        """
        batch = batch.to(device())
        places = batch.pixels.shape[-1] / STRIDE
        shifts = (torch.rand_like(batch.centres) - 0.5) / places
        return self.model(batch.pixels, batch.centres + shifts), batch

    def loss(self, *embedded: Any, progress: float) -> dict[str, Tensor]:
        """Return the weighted sum of the losses, and each of them."""
        return losses(*embedded)

    def measure(self, model: EaselWithHeads) -> dict[str, Any]:
        """Return recall, precision and accuracies on dev."""
        return measure(model, self.dev)

    def describe(self) -> dict[str, Any]:
        """Return the settings and the number of scenes."""
        return {"settings": asdict(self.config), "scenes": len(self.pictures)}

    def save(self, folder: Path, model: EaselWithHeads, *, atomic: bool = False) -> None:
        """Write the network without the layers that serve its training, matrices in half precision.

        It is one file, which is always written atomically.
        """
        content = tensors.to_bytes(tensors.to_half(model.net.state_dict()))
        checksums.write_files(folder, {WEIGHTS: content})


def train(out: Path, settings: Settings) -> str:
    """Train Easel in the folder `out`.work, or resume; write the network to `out` at the end.

    Returns:
        "done" or "stopped".

    Raises:
        UserError: If a picture cannot be drawn, or as `Trainer.run` does.
    """
    work = out.with_name(f"{out.name}.work")
    material = Detection(settings, cache=work)
    trainer = Trainer(work, material)
    outcome = trainer.run()
    if outcome == "done":
        model = cast(EaselWithHeads, trainer.evaluated)
        material.save(out, model)
        model.net = Easel(out / WEIGHTS).to(device())  # what ships is measured
        metrics = {"dev": material.measure(model), "hours": round(trainer.seconds / 3600, 2)}
        checkpoint.write_metrics(out, metrics)
        write_text(
            out / "README.md", card(settings, scenes=len(material.pictures), metrics=metrics)
        )
    return outcome
