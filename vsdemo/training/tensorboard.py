"""Events for TensorBoard."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vsdemo.core.errors import UserError
from vsdemo.core.nested import flatten

FOLDER = "tensorboard"  # in the folder of the run


class Board:
    """A writer of every number of an event as a scalar KIND/NAME, such as eval/i2t.r1.

    Args:
        out: The folder of the run.

    Raises:
        UserError: If TensorBoard is not installed.
    """

    def __init__(self, out: Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            raise UserError(
                "--tensorboard needs TensorBoard: run `pip install tensorboard`, then try again."
            ) from None
        self._open = SummaryWriter
        self._writer: Any = None
        self._folder = str(out / FOLDER)

    def rewind(self, step: int) -> None:
        """Drop what was written after `step`: a resumed run repeats those steps."""
        self._writer = self._open(self._folder, purge_step=step + 1, flush_secs=2)

    def write(self, event: Mapping[str, Any]) -> None:
        """Write an event."""
        if self._writer is None:
            self.rewind(0)
        for name, value in numbers(event).items():
            self._writer.add_scalar(f"{event['kind']}/{name}", value, event["step"], event["time"])
        if event["kind"] != "step":
            self._writer.flush()


def numbers(event: Mapping[str, Any]) -> dict[str, float]:
    """Return the finite numbers of an event by name, such as "i2t.r1", without step and time."""
    return flatten({k: v for k, v in event.items() if k not in ("config", "step", "time")})
