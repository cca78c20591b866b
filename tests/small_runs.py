"""Runs on toy that take seconds, for the tests of training."""

from vsdemo import config, events, models
from vsdemo.train import Trainer

SETTINGS = (
    *("backbone=torchvision/mobilenet_v3_small", "crops=center", "dim=16", "word_dim=8"),
    *("min_count=1", "batch_size=8", "learning_rate=0.003", "dropout=0.3"),
)  # 24 photos with 5 captions: 15 steps an epoch
EPOCH = 15


def trainer(out, *settings: str, preset: str = "gru") -> Trainer:
    chosen = config.override(models.preset(preset)[1], [*SETTINGS, *settings])
    return Trainer(out, preset, chosen, "toy")


def logged(out, kind: str) -> list[dict]:
    """Events of a kind, without what differs from run to run."""
    clock = {"time", "seconds", "pairs_per_second"}
    found = [e for e in events.read(out / "events.jsonl") if e["kind"] == kind]
    return [{k: v for k, v in e.items() if k not in clock} for e in found]
