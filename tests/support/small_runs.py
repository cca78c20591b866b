"""Training runs on the data set `toy` that take seconds."""

import signal
from contextlib import contextmanager

import pytest

from vsdemo import models
from vsdemo.core import config, events
from vsdemo.training import materials
from vsdemo.training.trainer import Trainer

SETTINGS = (
    "backbone=torchvision/mobilenet_v3_small",
    "crops=center",
    "dim=16",
    "word_dim=8",
    "min_count=1",
    "batch_size=8",
    "learning_rate=0.003",
    "dropout=0.3",
)  # 24 photos with 5 captions: 15 steps an epoch
EPOCH = 15


def preset_trainer(out, preset: str, *settings: str, data: str | None = "toy", watched=()):
    """Return the trainer of a preset with these settings."""
    chosen = config.override(models.preset(preset)[1], settings)
    material = materials.create(preset, chosen, dataset=data, watched=watched)
    return Trainer(out, material)


def trainer(out, *settings: str, preset: str = "gru", watched=()) -> Trainer:
    """Return the trainer of a small model over the photos of `toy`."""
    return preset_trainer(out, preset, *SETTINGS, *settings, watched=watched)


@contextmanager
def stopped_at(step: int):
    """Send SIGTERM to every run in the block after this step."""
    train_step = Trainer._train_step

    def train_and_stop(self, batch):
        values = train_step(self, batch)
        if self.step == step:
            signal.raise_signal(signal.SIGTERM)
        return values

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "_train_step", train_and_stop)
        yield


def logged(out, kind: str) -> list[dict]:
    """Return the events of a kind, without the values that depend on the time."""
    timing = {"time", "seconds", "pairs_per_second"}
    result = [e for e in events.read(out / "events.jsonl") if e["kind"] == kind]
    return [{k: v for k, v in e.items() if k not in timing} for e in result]
