"""Train Pocket: imitate DenseNet-169's maps, and rank captions.

Pocket starts as a pruned DenseNet-169. The teacher sees the very crops that the student sees, some
of them mixed, but at a higher resolution (Beyer et al. 2022, "Knowledge distillation: A good
teacher is patient and consistent").
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.optim import AdamW, Optimizer
from torch.optim.swa_utils import AveragedModel

from vsdemo.core import checksums, tensors
from vsdemo.core.device import autocast, device
from vsdemo.core.paths import write_text
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets
from vsdemo.data.text.vocab import Vocab
from vsdemo.evaluation.metrics import retrieval
from vsdemo.models import checkpoint
from vsdemo.recipes.last_epoch import LastEpochMaterial
from vsdemo.recipes.pocket import photos, teacher
from vsdemo.recipes.pocket.batches import Batch, Batches
from vsdemo.recipes.pocket.card import card
from vsdemo.recipes.pocket.student import RANKING, Student
from vsdemo.recipes.pocket.teacher import Teacher
from vsdemo.training import optim
from vsdemo.training.trainer import Trainer

MIN_COUNT = 3  # rarer words become <unk>
CELL = 32  # pixels of a side of a crop for each cell of the map


@dataclass(frozen=True)
class Settings:
    """The settings of a training.

    Attributes:
        epochs: Passes over the photos.
        reuse: How often the same crops are seen. The teacher looks at each of them once.
        side: Pixels of a side of a crop as Pocket sees it, a multiple of 32.
        teacher_side: Pixels of a side of the same crop as the teacher sees it.
        batch_size: Crops per step.
        learning_rate: Highest learning rate of AdamW.
        weight_decay: Weight decay of AdamW, for matrices.
        warmup: Steps in which the learning rate rises.
        average: Final decay of the moving average of the weights, which is what ships.
        seed: Seed of weights, crops and captions.
    """

    epochs: int = 12
    reuse: int = 4
    side: int = 160
    teacher_side: int = 224
    batch_size: int = 64
    learning_rate: float = 0.0007
    weight_decay: float = 0.05
    warmup: int = 100
    average: float = 0.999
    seed: int = 0

    evaluate_every: ClassVar[int] = 4
    snapshot_every: ClassVar[int] = 0
    patience: ClassVar[int] = 1  # not used, as no metric chooses the epoch


class Distillation(LastEpochMaterial):
    """The material of Pocket: crops, the teacher's view of them, and captions.

    Args:
        settings: The settings of the training.
        cache: The folder of what the teacher sees.

    Raises:
        UserError: If the teacher's weights, or the checkpoint that its directions are taken from,
            are missing.
    """

    name = "pocket"
    config: Settings
    model: Student

    def __init__(self, settings: Settings, cache: Path) -> None:
        self.config, self.cache = settings, cache
        teacher.check_files()  # before all photos are read

    def build(self) -> Student:
        """Read the photos, load and prune the teacher, and return a new student.

        Raises:
            UserError: If photos are missing.
        """
        self.photos = photos.load()
        pixels = photos.read_all(self.photos.paths)
        self.batch_maker = Batches(
            self.photos,
            [photo.to(device()) for photo in pixels],
            size=self.config.batch_size,
            side=self.config.teacher_side,
            sets=-(-self.config.epochs // self.config.reuse),
            seed=self.config.seed,
        )
        self.steps_per_epoch = self.batch_maker.steps_per_epoch
        settings = hashlib.sha256(repr(self.config).encode()).hexdigest()
        folder = self.cache / f"{photos.digest(pixels)}-{settings[:16]}"
        self.teacher = Teacher(self.batch_maker.sample(), folder, keep=self.config.reuse > 1)
        vocab = Vocab.build([Sentence(c) for c in self.photos.captions], MIN_COUNT)
        pocket, imitation = self.teacher.prune(map(self._resized, self.batch_maker.sample()))
        torch.manual_seed(self.config.seed)
        self.model = Student(vocab, self.teacher.deviations)
        self.model.net.load_state_dict(pocket)
        self.model.components.load_state_dict(imitation)
        self.model.to(device()).to(memory_format=torch.channels_last)
        return self.model

    def batches(self, epoch: int, start: int = 0) -> Iterator[Batch]:
        """Return the batches of an epoch from batch number `start` on."""
        return self.batch_maker.epoch(epoch, start)

    def optimizer(self) -> Optimizer:
        """Return AdamW, with weight decay of matrices only."""
        return AdamW(self.parameter_groups(), weight_decay=self.config.weight_decay)

    def average(self, optimizer: Optimizer) -> AveragedModel:
        """Return the moving average of the weights, with a decay that rises.

        With a constant decay it would remember the first weights for thousands of steps.
        """

        def decay(updates: int) -> float:
            return min(self.config.average, (1 + updates) / (10 + updates))

        return optim.moving_average(self.model, optimizer, decay, average_buffers=True)

    def begin_step(self, optimizer: Optimizer, step: int) -> float:
        """Set and return the learning rate: a linear warmup, then half a cosine wave down to 0."""
        highest, warmup = self.config.learning_rate, self.config.warmup
        if step < warmup:
            rate = highest * (step + 1) / warmup
        else:
            total = self.config.epochs * self.steps_per_epoch
            share = (step - warmup) / max(1, total - warmup)
            rate = highest * (1 + math.cos(math.pi * share)) / 2
        for group in optimizer.param_groups:
            group["lr"] = rate
        return rate

    def embed(self, batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
        """Return the two losses of distillation and that of ranking."""
        targets = self.teacher.targets(batch)
        vector, spatial = self.model(self._resized(batch.pixels))
        cells, means = self.model.distillation_losses(spatial, targets)
        described = vector[batch.described.to(device())]
        ranking = self.model.ranking_loss(described, batch.captions, batch.owner.to(device()))
        return cells, means, ranking

    def _resized(self, pixels: Tensor) -> Tensor:
        """Return crops as Pocket sees them."""
        side = self.config.side
        return F.interpolate(pixels, (side, side), mode="bilinear", antialias=True)

    def loss(self, *embedded: Any, progress: float) -> dict[str, Tensor]:
        """Return the weighted sum of the three losses, and each of them."""
        cells, means, ranking = embedded
        total = cells + means + RANKING * ranking
        return {"loss": total, "places": cells, "means": means, "ranking": ranking}

    @torch.no_grad()
    def measure(self, model: Student) -> dict[str, float]:
        """Return the sum of recalls on dev of each data set, with the student's text encoder."""
        model.eval()
        rsums = {}
        for name in ("flickr8k", "storybook"):
            dev = datasets.load(name, "dev")
            vectors = []
            for start in range(0, len(dev.photos), self.config.batch_size):
                paths = dev.photos[start : start + self.config.batch_size]
                pixels = [photos.read_square(path, model.net.spec.size) for path in paths]
                with autocast():
                    vectors.append(model(torch.stack(pixels))[0].float())
            ranks = retrieval.measure(model.pair, dev, torch.cat(vectors))
            rsums[name] = round(ranks.metrics()["rsum"], 2)
        return rsums

    def describe(self) -> dict[str, Any]:
        """Return the settings."""
        return {"settings": asdict(self.config)}

    def save(self, folder: Path, model: Student, *, atomic: bool = False) -> None:
        """Write the network without the layers that serve its training, matrices in half precision.

        It is one file, which is always written atomically.
        """
        network = model.net.state_dict()
        content = tensors.to_bytes(tensors.to_half(network))
        checksums.write_files(folder, {"model.safetensors": content})


def train(out: Path, settings: Settings) -> str:
    """Train Pocket in the folder `out`.work, or resume; write the network to `out` at the end.

    Returns:
        "done" or "stopped".

    Raises:
        UserError: If photos are missing, or as `Trainer.run` does.
    """
    work = out.with_name(f"{out.name}.work")
    material = Distillation(settings, cache=work / "targets")
    trainer = Trainer(work, material)
    outcome = trainer.run()
    if outcome == "done":
        student = cast(Student, trainer.evaluated)
        material.save(out, student)
        hours = round(trainer.seconds / 3600, 2)
        metrics = {"dev_rsum": material.measure(student), "hours": hours}
        checkpoint.write_metrics(out, metrics)
        parameters = sum(p.numel() for p in student.net.parameters())
        text = card(settings, parameters, material.photos.counts, metrics)
        write_text(out / "README.md", text)
    return outcome
