"""How much a stranger may train on a public server; its owner sets it by variables."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from vsdemo.serving import access
from vsdemo.serving.limits import from_environment
from vsdemo.training.size import Size

GB = 1e9  # bytes
PREFIX = "VSDEMO_TRAINING_"  # of the variables; the rest is a field's name in capitals

Minutes = Annotated[float, Field(ge=0.1, le=10_000, allow_inf_nan=False)]
Gigabytes = Annotated[float, Field(gt=0, le=10_000, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=100_000)]


class TrainingLimits(BaseModel):
    """Limits for each stranger's training, and for all of them together.

    Attributes:
        minutes: A training is saved and stopped after so many minutes.
        memory: Memory that a training may need, in GB.
        disk: Space on the disk that a run may need, in GB.
        runs_a_day: Starts and resumptions a visitor and day.
        runs_kept: Runs of all strangers together; a new one takes the place of the oldest.
    """

    model_config = ConfigDict(frozen=True)

    minutes: Minutes = 10.0
    memory: Gigabytes = 3.0
    disk: Gigabytes = 1.0
    runs_a_day: Count = 10
    runs_kept: Count = 20

    @property
    def size(self) -> Size:
        """The largest training, in bytes."""
        return Size(memory=round(self.memory * GB), disk=round(self.disk * GB))


def training_limits() -> TrainingLimits:
    """Return the limits of this server.

    Raises:
        UserError: A variable is not valid.
    """
    return from_environment(TrainingLimits, PREFIX)


def training_minutes() -> float | None:
    """Return how long a visitor's training may take; None for no limit."""
    return training_limits().minutes if access.is_public() else None
