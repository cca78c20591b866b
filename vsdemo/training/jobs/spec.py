"""What is asked of a training, and its command line."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Plan:
    """What to train. dataset: None for the preset's own. settings: key=value. watched: sentences
    to look for at each evaluation."""

    preset: str
    dataset: str | None = None
    settings: tuple[str, ...] = ()
    watched: tuple[str, ...] = ()
    minutes: float | None = None
    tensorboard: bool = False

    def words(self, out: Path) -> list[str]:
        """The command line behind `python -m vsdemo`."""
        told = ["train", self.preset, "--out", str(out)]
        told += ["--data", self.dataset] if self.dataset else []
        told += [word for setting in self.settings for word in ("--set", setting)]
        told += [f"--watch={sentence}" for sentence in self.watched]
        told += [f"--minutes={self.minutes:g}"] if self.minutes else []
        return told + ["--tensorboard"] * self.tensorboard

    def command(self, out: Path) -> str:
        """The whole command, for a terminal."""
        return shlex.join(["python", "-m", "vsdemo", *self.words(out)])
