"""Runs on toy that take seconds, for the tests of training."""

import signal
from contextlib import contextmanager

import pytest

from vsdemo import models
from vsdemo.core import config, events
from vsdemo.training.trainer import Trainer

SETTINGS = (
    *("backbone=torchvision/mobilenet_v3_small", "crops=center", "dim=16", "word_dim=8"),
    *("min_count=1", "batch_size=8", "learning_rate=0.003", "dropout=0.3"),
)  # 24 photos with 5 captions: 15 steps an epoch
EPOCH = 15


def trainer(out, *settings: str, preset: str = "gru") -> Trainer:
    chosen = config.override(models.preset(preset)[1], [*SETTINGS, *settings])
    return Trainer(out, preset, chosen, "toy")


@contextmanager
def stopped_at(step: int):
    """Every run within gets a SIGTERM after this step."""
    whole_step = Trainer._train_step

    def stop_there(self, batch):
        parts = whole_step(self, batch)
        if self.step == step:
            signal.raise_signal(signal.SIGTERM)
        return parts

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Trainer, "_train_step", stop_there)
        yield


def logged(out, kind: str) -> list[dict]:
    """Events of a kind, without what differs from run to run."""
    clock = {"time", "seconds", "pairs_per_second"}
    found = [e for e in events.read(out / "events.jsonl") if e["kind"] == kind]
    return [{k: v for k, v in e.items() if k not in clock} for e in found]
