"""Train the finder: where in photos is what people mention?"""

from __future__ import annotations

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
from vsdemo.data import datasets
from vsdemo.models import checkpoint
from vsdemo.recipes.finder.boxes import of_photos
from vsdemo.recipes.finder.card import card
from vsdemo.recipes.finder.losses import Targets, losses, targets
from vsdemo.recipes.finder.maps import PhotoMaps
from vsdemo.recipes.finder.measure import recall
from vsdemo.recipes.last_epoch import LastEpochMaterial, LastEpochSettings
from vsdemo.training.trainer import Trainer
from vsdemo.vision.backbones import find_weights
from vsdemo.vision.backbones.families import BASE, BASE_HASH
from vsdemo.vision.backbones.finder import BoxHead, Finder, Maps, Proposed
from vsdemo.vision.backbones.network import load_network

WEIGHTS = "model.safetensors"
NETWORK = "tuned:flickr8k/vse"
OBSERVED = 200  # photos from which the scale of the channels is taken


@dataclass(frozen=True)
class Settings(LastEpochSettings):
    """The settings of a training.

    Attributes:
        epochs: How often each photo is seen.
        batch: Photos per step.
        drawings: Pictures of Storybook that are seen beside the photos of Flickr8k.
    """

    epochs: int = 10
    batch: int = 32
    drawings: int = 1000
    warmup: int = 300

    evaluate_every: ClassVar[int] = 2


@dataclass(frozen=True)
class Batch:
    """Maps of photos or of their mirror images, and what is learned of them."""

    maps: Maps
    targets: Targets

    def __len__(self) -> int:
        """Return the number of photos."""
        return len(self.maps.last)


class Detection(LastEpochMaterial):
    """The material of the finder: maps of photos, and the boxes that captions mention.

    Args:
        settings: The settings of the training.
        cache: The folder of the maps.
    """

    name = "finder"
    model: BoxHead

    def __init__(self, settings: Settings, cache: Path) -> None:
        self.config, self.cache = settings, cache

    def build(self) -> BoxHead:
        """Compute missing maps and return a new head.

        Raises:
            UserError: Photos, boxes or NETWORK are missing.
        """
        photos, self.boxes = of_photos(datasets.load("flickr8k", "train"))
        if self.config.drawings:
            drawings, drawn = of_photos(datasets.load("storybook", "train"))
            photos = [*photos, *drawings[: self.config.drawings]]
            self.boxes += drawn[: self.config.drawings]
        self.train_count = len(photos)
        dev, dev_boxes = of_photos(datasets.load("flickr8k", "dev"))
        self.boxes += dev_boxes
        self.weights = find_weights(NETWORK)
        self.network = Finder(load_network(self.weights)).eval().requires_grad_(False)
        self.network.to(device()).to(memory_format=torch.channels_last)
        photos += dev
        self.maps = PhotoMaps(self.cache / f"maps-{len(photos)}", photos)
        self.maps.compute(self.network)
        self.steps_per_epoch = max(1, self.train_count // self.config.batch)
        torch.manual_seed(self.config.seed)
        self.model = BoxHead()
        spread = np.linspace(0, self.train_count - 1, OBSERVED).round().astype(int)
        self.model.observe(self.maps[np.unique(spread)])
        self.model.to(device())
        return self.model

    def batches(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """Yield the batches of an epoch from batch number `start` on, half of them mirrored."""
        seed, size = self.config.seed, self.config.batch
        order = np.random.default_rng([seed, epoch]).permutation(self.train_count)
        anchors = self.model.anchors.cpu()
        for number in range(start, self.steps_per_epoch):
            rows = np.sort(order[number * size : (number + 1) * size])
            maps, boxes = self.maps[rows], [self.boxes[row] for row in rows]
            if np.random.default_rng([seed, epoch, number]).random() < 0.5:
                maps = Maps(*(x.flip(-1) for x in maps))
                boxes = [own.mirrored() for own in boxes]
            yield Batch(maps, targets(anchors, boxes))

    def embed(self, batch: Batch) -> tuple[Proposed, Targets]:
        """Return the boxes that the head proposes, and what it should have proposed."""
        proposed: Proposed = self.model(Maps(*(x.to(device()) for x in batch.maps)))
        return proposed, batch.targets.to(device())

    def loss(self, *embedded: Any, progress: float) -> dict[str, Tensor]:
        """Return the weighted sum of the losses, and each of them."""
        return losses(*embedded)

    def measure(self, model: BoxHead) -> dict[str, Any]:
        """Return the recall on Flickr8k dev."""
        rows = range(self.train_count, len(self.boxes))
        return recall(model, self.maps, rows, [self.boxes[row] for row in rows])

    def describe(self) -> dict[str, Any]:
        """Return the settings and the number of photos."""
        return {"settings": asdict(self.config), "photos": self.train_count}

    def save(self, folder: Path, model: BoxHead, *, atomic: bool = False) -> None:
        """Write the projection and the head, matrices in half precision.

        It is one file, which is always written atomically.
        """
        state = {f"head.{name}": weights for name, weights in model.state_dict().items()}
        for name, weights in self.network.principal.state_dict().items():
            state[f"principal.{name}"] = weights
        about = {BASE: self.weights.name, BASE_HASH: self.weights.hash}
        content = tensors.to_bytes(tensors.to_half(state), about)
        checksums.write_files(folder, {WEIGHTS: content})


def train(out: Path, settings: Settings) -> str:
    """Train the finder in the folder `out`.work, or resume; write it to `out` at the end.

    Returns:
        "done" or "stopped".

    Raises:
        UserError: As `Detection.build` and `Trainer.run` do.
    """
    work = out.with_name(f"{out.name}.work")
    material = Detection(settings, cache=work)
    trainer = Trainer(work, material)
    outcome = trainer.run()
    if outcome == "done":
        material.save(out, cast(BoxHead, trainer.evaluated))
        shipped = Finder.load("", out / WEIGHTS).head.to(device())  # what ships is measured
        metrics = {"dev": material.measure(shipped), "hours": round(trainer.seconds / 3600, 2)}
        checkpoint.write_metrics(out, metrics)
        write_text(out / "README.md", card(settings, metrics=metrics))
    return outcome
