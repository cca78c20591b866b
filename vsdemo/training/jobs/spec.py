"""The specification of a training job, and its command line."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from pydantic import ConfigDict, Field, FiniteFloat
from pydantic.dataclasses import dataclass

Text = Annotated[str, Field(max_length=1000)]


@dataclass(frozen=True, config=ConfigDict(extra="forbid"))
class JobSpec:
    """What to train; values of other types are refused, since a run's file may be damaged.

    Attributes:
        preset: Name of a preset.
        dataset: Name of a data set; None for the preset's own.
        settings: Changes of the preset, each as "key=value".
        watched: Sentences whose best photos are recorded at each evaluation.
        minutes: When to stop and save; None for no limit.
        tensorboard: Whether to write events for TensorBoard too.
    """

    preset: Text
    dataset: Text | None = None
    settings: tuple[Text, ...] = ()
    watched: tuple[Text, ...] = ()
    minutes: FiniteFloat | None = None
    tensorboard: bool = False

    def arguments(self, out: Path) -> list[str]:
        """Return the arguments of `python -m vsdemo` that train into the folder `out`."""
        arguments = ["train", self.preset, "--out", str(out)]
        if self.dataset:
            arguments += ["--data", self.dataset]
        for setting in self.settings:
            arguments += ["--set", setting]
        arguments += [f"--watch={sentence}" for sentence in self.watched]
        if self.minutes:
            arguments.append(f"--minutes={self.minutes:g}")
        if self.tensorboard:
            arguments.append("--tensorboard")
        return arguments

    def command(self, out: Path) -> str:
        """Return the whole command as it is typed in a terminal."""
        return shlex.join(["python", "-m", "vsdemo", *self.arguments(out)])
