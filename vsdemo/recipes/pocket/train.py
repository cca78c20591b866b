"""Trains Pocket: DenseNet-169's maps to imitate, captions to rank; a killed run goes on.

A crop is the student's; the teacher's view of it is cut out of its map of the whole photo. Crops
grow with time: small ones are quicker and teach as much at first, and a network is best used on
photos somewhat larger than those of its training (Touvron 2019, FixRes).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel
from tqdm import tqdm

from vsdemo.core import tensors
from vsdemo.core.device import autocast, device
from vsdemo.core.errors import UserError
from vsdemo.core.events import EventLog
from vsdemo.core.paths import write_text
from vsdemo.core.sentences import Sentence
from vsdemo.data import datasets
from vsdemo.data.text.vocab import Vocab
from vsdemo.evaluation.metrics import retrieval
from vsdemo.models.losses import check_finite
from vsdemo.recipes.pocket import photos, teacher
from vsdemo.recipes.pocket.batches import Batch, Batches
from vsdemo.recipes.pocket.card import card
from vsdemo.recipes.pocket.student import RANKING, Student
from vsdemo.training import state as resume

SAVE_EVERY = 200  # steps, and so the most that a killed run computes again
LOG_EVERY = 20
EVALUATE_EVERY = 4  # epochs
LIMIT = 5.0  # largest norm of the gradient

Tensors = Sequence[Tensor]


@dataclass(frozen=True)
class Settings:
    """Of a training run."""

    epochs: int = 48
    batch_size: int = 96
    learning_rate: float = 0.003  # of AdamW, at its highest
    weight_decay: float = 0.05
    warmup: int = 300  # steps
    average: float = 0.999  # decay of the moving average of the weights, which is what ships
    seed: int = 0


def moving_average(decay: float) -> Callable[[Tensors, Tensors, Any], None]:
    """An exponential one, for AveragedModel. torch's own holds on to the first, random weights for
    thousands of steps; this one forgets them, as its decay rises to `decay` with the steps."""

    @torch.no_grad()
    def update(average: Tensors, current: Tensors, steps: Any) -> None:
        share = 1 - min(decay, (1 + float(steps)) / (10 + float(steps)))
        for mean, new in zip(average, current, strict=True):
            if mean.is_floating_point():
                mean.lerp_(new, share)
            else:
                mean.copy_(new)

    return update


class Trainer:
    """Trains in the folder `out`.work; `run` starts, or goes on where that folder's run ended, and
    puts the network into `out` at the end. Raises UserError when photos are missing.
    """

    def __init__(self, out: Path, settings: Settings) -> None:
        self.out, self.work, self.settings = out, out.with_name(f"{out.name}.work"), settings
        self.events = EventLog(self.work / "events.jsonl")
        teacher.check()  # before hours of looking at photos
        self.photos = photos.training()
        pictures = photos.read(self.photos.paths)
        maps, deviation = teacher.relevant(*teacher.look(pictures, self.work / "maps"))
        shape = (settings.batch_size, settings.epochs, settings.seed)
        self.batches = Batches(self.photos, pictures, maps, *shape)
        means = torch.cat([part.float().mean((2, 3)) for part in maps.split(1000)])
        vocab = Vocab.build([Sentence(c) for c in self.photos.captions], 3)
        torch.manual_seed(settings.seed)
        self.student = Student(vocab, torch.stack([deviation, means.std(0)]))
        self.student.to(device(), memory_format=torch.channels_last)
        average = moving_average(settings.average)
        self.average = AveragedModel(self.student, multi_avg_fn=average, use_buffers=True)
        self.optimizer = self._optimizer()
        self.step, self.seconds = 0, 0.0
        self.total = self.batches.total
        self.stopping = False

    def _optimizer(self) -> torch.optim.AdamW:
        weights = [p for p in self.student.parameters() if p.dim() > 1]
        others = [p for p in self.student.parameters() if p.dim() <= 1]
        groups = [{"params": weights}, {"params": others, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, weight_decay=self.settings.weight_decay)

    @property
    def _modules(self) -> dict[str, nn.Module]:
        return {"student": self.student, "average": self.average}

    def run(self) -> str:
        """Trains until the last epoch or a signal; returns `done`, with the network in the folder,
        or `stopped`. Raises UserError when the folder holds a run of other settings, and when the
        loss becomes infinite."""
        self._restore()
        self.events.rewind(self.step)
        self.events.write("start", self.step, settings=asdict(self.settings), steps=self.total)
        try:
            with resume.handle_signals(self._stop):
                self._steps()
        except FloatingPointError as error:
            self.events.write("error", self.step, message=str(error))
            raise UserError(
                f"Training broke off at step {self.step}: {error}; try another --seed and --out."
            ) from None
        kind = "done" if self.step == self.total else "stopped"
        if kind == "done":
            self._finish()
        self.events.write(kind, self.step, seconds=round(self.seconds))
        return kind

    def _stop(self, number: int, frame: object) -> None:
        self.stopping = True

    def _steps(self) -> None:
        length = self.batches.steps_per_epoch
        batches = self.batches.after(self.step)
        with tqdm(batches, total=self.total, initial=self.step, mininterval=2) as bar:
            started = time.perf_counter()
            for batch in bar:
                parts = self.learn(batch)
                now = time.perf_counter()
                self.seconds, started = self.seconds + now - started, now
                if self.step % LOG_EVERY == 0:
                    figures = {k: round(v.item(), 4) for k, v in parts.items()}
                    self.events.write("step", self.step, **figures, seconds=round(self.seconds))
                    bar.set_postfix(figures)
                if self.step % (EVALUATE_EVERY * length) == 0:
                    epoch = self.step // length
                    self.events.write("eval", self.step, epoch=epoch, **self.evaluate())
                if self.step % SAVE_EVERY == 0 or self.stopping or self.step == self.total:
                    self._save()
                if self.stopping:
                    break

    def learn(self, batch: Batch) -> dict[str, Tensor]:
        """One step of the optimiser. Raises FloatingPointError when the loss is infinite."""
        self.student.train()
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate()
        with autocast():
            vector, spatial = self.student(batch.pixels)
            parts = self.student.distilled(spatial, batch.target.to(device()))
            described, owner = vector[batch.described.to(device())], batch.owner.to(device())
            ranked = self.student.ranked(described, batch.captions, owner)
        parts |= {"ranking": ranked}
        loss = parts["places"] + parts["means"] + RANKING * ranked
        check_finite({"loss": loss})
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.student.parameters(), LIMIT)
        self.optimizer.step()
        self.average.update_parameters(self.student)
        self.step += 1
        return parts

    def _rate(self) -> float:
        """Rises for `warmup` steps, then falls to 0 as half a cosine wave."""
        highest, warmup = self.settings.learning_rate, self.settings.warmup
        if self.step < warmup:
            return highest * (self.step + 1) / warmup
        share = (self.step - warmup) / max(1, self.total - warmup)
        return highest * (1 + math.cos(math.pi * share)) / 2

    @torch.no_grad()
    def evaluate(self) -> dict[str, float]:
        """Sums of recalls on dev of the averaged weights, with the text tower of training."""
        student: Student = self.average.module.eval()
        found = {}
        for name in ("flickr8k", "storybook"):
            dev = datasets.load(name, "dev")
            vectors = []
            for start in range(0, len(dev.photos), self.settings.batch_size):
                some = dev.photos[start : start + self.settings.batch_size]
                seen = [photos.whole(path, student.net.size) for path in some]
                with autocast():
                    vectors.append(student(torch.stack(seen))[0].float())
            ranks = retrieval.measure(student.pair, dev, torch.cat(vectors))
            found[name] = round(ranks.metrics()["rsum"], 2)
        return found

    def _finish(self) -> None:
        """Writes the averaged network, matrices in half precision, its figures and its card."""
        network = self.average.module.net.state_dict()
        tensors.write(self.out / "model.safetensors", tensors.to_half(network))
        figures = {"dev_rsum": self.evaluate(), "hours": round(self.seconds / 3600, 2)}
        write_text(self.out / "metrics.json", json.dumps(figures, indent=1) + "\n")
        write_text(self.out / "README.md", card(self.settings, self.photos.sets, figures))

    def _save(self) -> None:
        progress = {"settings": asdict(self.settings), "step": self.step, "seconds": self.seconds}
        resume.save(self.work, self._modules, self.optimizer, progress)

    def _restore(self) -> None:
        if not (self.work / resume.STATE).exists():
            return
        progress, state = resume.read(self.work)
        if progress.pop("settings") != asdict(self.settings):
            raise UserError(f"{self.work} holds a run of other settings; choose another --out.")
        self.__dict__.update(progress)
        resume.restore(state, self._modules, self.optimizer)
