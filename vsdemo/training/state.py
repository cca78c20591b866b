"""A training run on disk: all that its rest depends on, in full precision, in one file; and what
ends a run, told."""

from __future__ import annotations

import errno
import hashlib
import json
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer
from types import FrameType
from typing import Any

import torch
from filelock import FileLock, Timeout
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.optim import Optimizer

from vsdemo.core import tensors
from vsdemo.core.device import device
from vsdemo.core.errors import UserError
from vsdemo.core.events import EventLog
from vsdemo.core.paths import home
from vsdemo.models import checkpoint
from vsdemo.models.checkpoint import Spec

STATE = "last.safetensors"
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
Handler = Callable[[int, FrameType | None], None]


@contextmanager
def handle_signals(handler: Handler) -> Iterator[None]:
    """While the block runs, SIGTERM and Ctrl-C call `handler` instead of ending the program."""
    previous = {s: signal.signal(s, handler) for s in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, before in previous.items():
            signal.signal(number, before)


@contextmanager
def exclusive_run(out: Path) -> Iterator[None]:
    """While the block runs, no other process trains in this folder; the lock of one that was killed
    is free. Raises UserError while another one holds it."""
    key = hashlib.sha256(str(out.resolve()).encode()).hexdigest()[:16]
    place = home() / "locks" / f"{key}.lock"  # not in the folder, which may be shipped
    place.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(place, is_singleton=True)  # entered again by the same process
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise UserError(
            f"A training is under way in {out}; stop it first or choose another --out."
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def time_limit(minutes: float | None) -> Iterator[None]:
    """Sends this process SIGTERM once the block has run for so many minutes; None: never."""
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
    """Whatever breaks the block off is written as an `error` event, where the disk still takes it.

    A loss that is no number, and a full disk, are raised as UserError.
    """
    try:
        yield
    except UserError:
        raise  # nothing broke: such as a folder that holds another run
    except Exception as error:
        message, told = f"{type(error).__name__}: {error}", None
        if isinstance(error, FloatingPointError):
            message = str(error)
            told = f"Training broke off at step {step()}: {error}; try a lower learning_rate."
        elif isinstance(error, OSError) and error.errno in DISK_FULL:
            message = "The disk is full."
            told = (
                f"The disk is full, so training broke off at step {step()}; make room, then the "
                "same command goes on from what was saved last."
            )
        elif isinstance(error, FileNotFoundError) and not log.path.exists():
            message = "The folder was removed."
            told = f"{log.path.parent} was removed, so training ended at step {step()}."
        with suppress(OSError):
            log.write("error", step(), message=message)
        if told:
            raise UserError(told) from None
        raise


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


def saved_run(out: Path, spec: Spec) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
    """`read` of the run in this folder; None when there is none. Raises UserError when that is a
    run of another configuration, or a checkpoint without its run."""
    if not (out / STATE).exists():
        if (out / "config.json").exists():
            raise UserError(f"{out} holds a checkpoint already; choose another --out.")
        return None
    progress, state = read(out)
    if checkpoint.spec_of(progress.pop("spec")) != spec:
        raise UserError(f"{out} holds a run of another configuration; choose another --out.")
    return progress, state


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
