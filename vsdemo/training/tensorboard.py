"""Events for TensorBoard too, where somebody asks for it and it is installed; its one home."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vsdemo.core.errors import UserError
from vsdemo.core.nested import flatten

FOLDER = "tensorboard"  # in that of the run


class Board:
    """Every number of an event as a scalar KIND/NAME over the steps, such as eval/i2t.r1.

    Raises UserError when TensorBoard is not installed.
    """

    def __init__(self, out: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise UserError(
                "--tensorboard needs TensorBoard: `pip install tensorboard`, then once more."
            ) from None
        self._open, self._writer = SummaryWriter, None
        self._folder = str(out / FOLDER)

    def rewind(self, step: int) -> None:
        """What lies after `step` is shown no more: a killed run repeats those steps."""
        self._writer = self._open(self._folder, purge_step=step + 1, flush_secs=2)

    def write(self, event: Mapping[str, Any]) -> None:
        """Takes one event."""
        if self._writer is None:
            self.rewind(0)
        for name, value in numbers(event).items():
            self._writer.add_scalar(f"{event['kind']}/{name}", value, event["step"], event["time"])
        if event["kind"] != "step":
            self._writer.flush()


def numbers(event: Mapping[str, Any]) -> dict[str, float]:
    """Return the finite numbers of an event by name, such as "i2t.r1", without step and time."""
    return flatten({k: v for k, v in event.items() if k not in ("config", "step", "time")})
