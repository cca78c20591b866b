"""The state of a training on disk, and what can interrupt a training.

One file holds everything that the rest of a training depends on, in full precision: weights,
optimizer, random generators and progress.
"""

from __future__ import annotations

import errno
import json
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from types import FrameType
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.optim import Optimizer

from vsdemo.core import locks, tensors
from vsdemo.core.device import device
from vsdemo.core.errors import UserError
from vsdemo.core.events import EventLog
from vsdemo.core.locks import HeldError

STATE = "last.safetensors"
PID_FILE = "pid"  # held by the process that trains in its folder
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
Handler = Callable[[int, FrameType | None], None]
_held: set[Path] = set()  # the files that `exclusive_run` holds


@contextmanager
def handle_signals(handler: Handler) -> Iterator[None]:
    """Call `handler` on SIGTERM and Ctrl-C within the block, instead of ending the program."""
    previous = {s: signal.signal(s, handler) for s in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)


@contextmanager
def exclusive_run(out: Path) -> Iterator[None]:
    """Keep other processes from training in the folder `out` within the block.

    The file `pid` there is locked meanwhile, see `vsdemo.core.locks`, and contains the process's
    ID. The same process may enter it again.

    Raises:
        UserError: If another process trains in the folder.
    """
    path = out.resolve() / PID_FILE
    if path in _held or locks.is_inherited(path):
        yield
        return
    is_new = not out.exists()
    out.mkdir(parents=True, exist_ok=True)
    try:
        file = locks.hold(path)
    except HeldError:
        raise UserError(
            f"Another process trains in {out}; stop it first or choose another --out."
        ) from None
    _held.add(path)
    try:
        file.write(f"{os.getpid()}\n")
        yield
    finally:
        _held.remove(path)
        file.remove()
        if is_new:
            with suppress(OSError):
                out.rmdir()  # nothing was trained, for example because the data are missing


@contextmanager
def time_limit(minutes: float | None) -> Iterator[None]:
    """Send this process SIGTERM if the block takes longer; None for no limit."""
    timer = Timer((minutes or 0) * 60, signal.raise_signal, [signal.SIGTERM])
    timer.daemon = True
    if minutes:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


@contextmanager
def report_errors(log: EventLog, step: Callable[[], int]) -> Iterator[None]:
    """Log an exception that ends the block as an `error` event, if it can still be written.

    Args:
        log: The events of the training.
        step: Returns the number of steps so far.

    Raises:
        UserError: If the loss is not finite, the disk is full or the folder was removed.
    """
    try:
        yield
    except UserError:
        raise  # the training never started, for example because the folder holds another one
    except Exception as error:
        message, explanation = _explain(error, log, step())
        with suppress(OSError):
            log.write("error", step(), message=message)
        if explanation:
            raise UserError(explanation) from None
        raise


def _explain(error: Exception, log: EventLog, step: int) -> tuple[str, str | None]:
    """Return the message to log, and what to tell the user about an error that is expected."""
    if isinstance(error, FloatingPointError):
        return str(error), f"Training failed at step {step}: {error}; try a lower learning_rate."
    if isinstance(error, OSError) and error.errno in DISK_FULL:
        return "The disk is full.", (
            f"The disk is full, so training stopped at step {step}; free some space, then run the "
            "same command to resume from the last saved state."
        )
    if isinstance(error, FileNotFoundError) and not log.path.exists():
        folder = log.path.parent
        return "The folder was removed.", f"{folder} was removed, so training ended at step {step}."
    return f"{type(error).__name__}: {error}", None


def save(
    out: Path, modules: Mapping[str, nn.Module], optimizer: Optimizer, progress: dict[str, Any]
) -> None:
    """Write the state of a training to the folder `out`.

    Args:
        out: An existing folder.
        modules: Modules by name.
        optimizer: The optimizer.
        progress: Anything else, as JSON.
    """
    state = {f"{name}.{k}": t for name, m in modules.items() for k, t in m.state_dict().items()}
    for i, moments in optimizer.state_dict()["state"].items():
        state |= {f"adam.{i}.{k}": torch.as_tensor(t) for k, t in moments.items()}
    state["rng"] = torch.get_rng_state()
    if device().type == "cuda":
        state["rng_cuda"] = torch.cuda.get_rng_state()
    tensors.write_checked(out / STATE, state, {"run": json.dumps(progress)})


def read(out: Path) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the progress and the tensors that `save` wrote.

    Raises:
        UserError: If the file is damaged.
    """
    try:
        tensors.check(out / STATE)
        with safe_open(out / STATE, "pt") as file:
            progress = json.loads(file.metadata()["run"])
            return progress, {k: file.get_tensor(k) for k in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, TypeError, KeyError, ValueError) as error:
        raise UserError(
            f"{out / STATE} is damaged ({error}); delete {out} to start again."
        ) from None


def find(
    out: Path, matches: Callable[[dict[str, Any]], bool]
) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
    """Return the progress and the tensors of the training in a folder; None if there is none.

    Args:
        out: The folder.
        matches: Whether the training that an identity describes can be resumed.

    Raises:
        UserError: If the training is of another configuration, or the folder holds a checkpoint
            without its training.
    """
    if not (out / STATE).exists():
        if (out / "config.json").exists():
            raise UserError(f"{out} already holds a checkpoint; choose another --out.")
        return None
    progress, state = read(out)
    if not matches(progress.pop("spec")):
        raise UserError(f"{out} holds a run of another configuration; choose another --out.")
    return progress, state


def restore(
    state: Mapping[str, Tensor], modules: Mapping[str, nn.Module], optimizer: Optimizer
) -> None:
    """Load the tensors of a saved state into modules, optimizer and random generators."""
    for name, module in modules.items():
        prefix = f"{name}."
        module.load_state_dict(
            {k.removeprefix(prefix): t for k, t in state.items() if k.startswith(prefix)}
        )
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    moments: dict[int, dict[str, Tensor | int]] = {}
    for name, tensor in state.items():
        if name.startswith("adam."):
            _, number, key = name.split(".")
            value: Tensor | int = tensor
            if not tensor.is_floating_point():
                # SparseAdam counts steps as int; a tensor would become float32 and lose precision
                value = int(tensor)
            elif tensor.dim():  # fused Adam needs the memory format of the weights
                value = torch.empty_like(weights[int(number)], dtype=tensor.dtype).copy_(tensor)
            moments.setdefault(int(number), {})[key] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": moments})
    torch.set_rng_state(state["rng"])
    if "rng_cuda" in state:
        torch.cuda.set_rng_state(state["rng_cuda"])
