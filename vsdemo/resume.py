"""A training run on disk: all that its rest depends on, in full precision, in one file."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.optim import Optimizer

from vsdemo import tensors
from vsdemo.device import device
from vsdemo.types import UserError

STATE = "last.safetensors"
Handler = Callable[[int, FrameType | None], None]


@contextmanager
def stopping(handler: Handler) -> Iterator[None]:
    """While the block runs, SIGTERM and Ctrl-C call `handler` instead of ending the program."""
    previous = {s: signal.signal(s, handler) for s in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)


def save(
    out: Path, modules: Mapping[str, nn.Module], optimizer: Optimizer, progress: dict[str, Any]
) -> None:
    """Writes modules by name, the optimiser's moments, the state of chance and `progress`, which
    becomes JSON."""
    state = {f"{name}.{k}": t for name, m in modules.items() for k, t in m.state_dict().items()}
    for i, moments in optimizer.state_dict()["state"].items():
        state |= {f"adam.{i}.{k}": torch.as_tensor(t) for k, t in moments.items()}
    state["rng"] = torch.get_rng_state()
    if device().type == "cuda":
        state["rng_cuda"] = torch.cuda.get_rng_state()
    tensors.write(out / STATE, state, {"run": json.dumps(progress)})


def read(out: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """(progress, state) as `save` wrote them. Raises UserError when the file is damaged."""
    try:
        with safe_open(out / STATE, "pt") as file:
            progress = json.loads(file.metadata()["run"])
            return progress, {k: file.get_tensor(k) for k in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, TypeError, KeyError, ValueError) as error:
        raise UserError(
            f"{out / STATE} is damaged ({error}); delete {out} to begin anew."
        ) from None


def restore(
    state: Mapping[str, Tensor], modules: Mapping[str, nn.Module], optimizer: Optimizer
) -> None:
    """Puts a state back into the modules, the optimiser and chance."""
    for name, module in modules.items():
        start = f"{name}."
        module.load_state_dict(
            {k.removeprefix(start): t for k, t in state.items() if k.startswith(start)}
        )
    moments: dict[int, dict[str, Tensor | int]] = {}
    for name, tensor in state.items():
        if name.startswith("adam."):
            _, number, key = name.split(".")
            # SparseAdam counts steps in int; as a tensor they would be rounded to float32
            value = tensor if tensor.is_floating_point() else int(tensor)
            moments.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": moments})
    torch.set_rng_state(state["rng"])
    if "rng_cuda" in state:
        torch.cuda.set_rng_state(state["rng_cuda"])
