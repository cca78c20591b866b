"""Training in several processes that share each batch, as `torchrun` starts them.

Every process (rank) has all data and draws the same batches. It embeds its share of a batch,
gathers the embeddings of all ranks and computes the loss of the whole batch; the gradients are
averaged. So N ranks learn what one process learns from the same batches, with all negatives. They
embed evaluation data in the same way. Only rank 0 writes files.

Processes on one or more machines communicate through gloo, their GPUs through NCCL. Without
torchrun there is one process, and nothing here has any effect.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch.distributed.rendezvous import rendezvous

from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.events import EventLog

LONGEST_WAIT = timedelta(days=7)  # for rank 0, which may compute the features of many photos
FAILED = 2  # exit code of a rank that leaves the message to another one
FAILURES = "vsdemo/failures"  # key of the number of ranks that have failed

Result = TypeVar("Result")


@dataclass(frozen=True)
class _Group:
    """The processes of a training.

    Attributes:
        rank: The number of this process.
        count: How many there are.
        control: The group in which processes wait for each other, for as long as it takes.
        store: The key-value store of the group, which works even after ranks have ended.
    """

    rank: int
    count: int
    control: dist.ProcessGroup
    store: Any


_group: _Group | None = None


class RankEnded(UserError):
    """Another process of the training has ended."""

    def __init__(self) -> None:
        super().__init__(
            "Another process of the training ended, so this one ended too; run the same command to "
            "resume from the last saved state."
        )


def count() -> int:
    """Return the number of ranks; 1 without torchrun."""
    return _group.count if _group else 1


def count_here() -> int:
    """Return the number of ranks on this machine."""
    return int(os.environ.get("LOCAL_WORLD_SIZE", "1")) if _group else 1


def is_main() -> bool:
    """Return whether this process writes files: rank 0, or the only process."""
    return _group is None or _group.rank == 0


@contextmanager
def session() -> Iterator[None]:
    """Train together with the other processes that torchrun has started, within the block.

    If the block fails, the first rank to fail raises the error; others exit silently.

    Raises:
        UserError: If there are fewer GPUs than ranks, or another rank has ended.
    """
    global _group
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield
        return
    _group = _join()
    try:
        yield
        with _talking():
            dist.barrier(_group.control)  # until rank 0 has evaluated the model
    except (UserError, OSError):
        # torchrun ends the other ranks when one has failed; this one ends by itself and says why.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if _is_first_to_fail(_group.store):
            if not is_main():
                print(file=sys.stderr)  # ends the line of rank 0's progress bar
            raise
        raise SystemExit(FAILED) from None
    else:
        dist.destroy_process_group()  # after a failure it would wait for the others
    finally:
        _group = None


def _join() -> _Group:
    local = int(os.environ.get("LOCAL_RANK", "0"))
    if device().type == "cuda" and device().index is None:
        gpus = torch.cuda.device_count()
        if local >= gpus:
            raise UserError(
                f"There are {gpus} GPUs, so start at most {gpus} processes, or set "
                "VSDEMO_DEVICE=cpu."
            )
        torch.cuda.set_device(local)
    with _talking():
        store, rank, ranks = next(rendezvous("env://"))
        backend = "cpu:gloo,cuda:nccl" if device().type == "cuda" else "gloo"
        dist.init_process_group(backend, store=store, rank=rank, world_size=ranks)
        control = cast(dist.ProcessGroup, dist.new_group(backend="gloo", timeout=LONGEST_WAIT))
    return _Group(rank, ranks, control, store)


def _is_first_to_fail(store: Any) -> bool:
    try:
        return bool(store.add(FAILURES, 1) == 1)
    except RuntimeError:  # the process with the store has ended
        return True


@contextmanager
def _talking() -> Iterator[None]:
    """Raise `RankEnded` if other ranks do not answer within the block."""
    try:
        yield
    except RuntimeError:  # torch has no narrower class for it
        raise RankEnded from None


def main_only(context: AbstractContextManager[Any]) -> AbstractContextManager[Any]:
    """Return a context manager on rank 0, and one that does nothing on other ranks."""
    return context if is_main() else nullcontext()


@contextmanager
def main_first() -> Iterator[None]:
    """Let rank 0 run the block first, which fills caches that the other ranks then read."""
    if not is_main():
        on_main(lambda: None)
    yield
    if is_main():
        on_main(lambda: None)


def on_main(function: Callable[[], Result]) -> Result:
    """Call a function on rank 0, and return its result on all ranks."""
    if _group is None:
        return function()
    results: list[Any] = [function() if is_main() else None]
    with _talking():
        dist.broadcast_object_list(results, src=0, group=_group.control)
    result: Result = results[0]
    return result


def on_any(flag: bool) -> bool:  # noqa: FBT001 (like `any`)
    """Return whether a flag is true on some rank."""
    if _group is None:
        return flag
    flags = torch.tensor(int(flag))
    with _talking():
        dist.all_reduce(flags, dist.ReduceOp.MAX, group=_group.control)
    return bool(flags)


def event_log(path: Path) -> EventLog:
    """Return the log of a file, which only rank 0 writes."""
    return EventLog(path) if is_main() else _UnwrittenLog(path)


class _UnwrittenLog(EventLog):
    """The events of a rank that does not write them."""

    def __init__(self, path: Path) -> None:
        self.path, self.listeners = path, []

    def write(self, kind: str, step: int, **values: Any) -> None:
        """Do nothing."""

    def clear(self) -> None:
        """Do nothing."""

    def rewind(self, step: int) -> None:
        """Do nothing."""


def require_same(fingerprint: str) -> None:
    """Check that all ranks have the same data and settings.

    Args:
        fingerprint: Identifies the data and settings of this rank.

    Raises:
        UserError: If a rank has different ones.
    """
    if _group is None:
        return
    fingerprints = [""] * _group.count
    with _talking():
        dist.all_gather_object(fingerprints, fingerprint, group=_group.control)
    others = [rank for rank, other in enumerate(fingerprints) if other != fingerprints[0]]
    if others:
        raise UserError(
            f"Rank {others[0]} has other data or settings than rank 0; start all ranks with the "
            "same command, on the same files."
        )


def broadcast(module: nn.Module) -> None:
    """Give all ranks the weights of rank 0."""
    if _group is None:
        return
    with _talking():
        for tensor in module.state_dict().values():
            dist.broadcast(tensor, src=0)


def seed_step(seed: int, step: int) -> None:
    """Let dropout differ between ranks, and depend on nothing but seed, step and rank.

    One process keeps its random state.
    """
    if _group is None:
        return
    mixed = np.random.SeedSequence((seed, step, _group.rank)).generate_state(1, np.uint64)
    torch.manual_seed(int(mixed[0]))


def share(items: int) -> slice:
    """Return which of the items of a batch this rank embeds; shares differ by one at most."""
    return _share(items, _group.rank, _group.count) if _group else slice(0, items)


def _share(items: int, rank: int, ranks: int) -> slice:
    return slice(items * rank // ranks, items * (rank + 1) // ranks)


def gather(own: Embeddings, items: int) -> Embeddings:
    """Gather the embeddings of a batch from the shares of all ranks; gradients flow back.

    Args:
        own: The `share` of this rank, (N_r, D), or sets (N_r, K_r, D).
        items: Their number N on all ranks.

    Returns:
        (N, D), or sets padded to the largest, (N, K, D).
    """
    if _group is None:
        return own
    shares = (_share(items, rank, _group.count) for rank in range(_group.count))
    sizes = [part.stop - part.start for part in shares]
    if own.mask is None:
        return Embeddings(_gather(own.x, sizes))
    largest = torch.tensor(own.mask.shape[1])
    with _talking():
        dist.all_reduce(largest, dist.ReduceOp.MAX, group=_group.control)
    missing = int(largest) - own.mask.shape[1]
    x = F.pad(own.x, (0, 0, 0, missing))
    mask = F.pad(own.mask.byte(), (0, missing))
    return Embeddings(_gather(x, sizes), _gather(mask, sizes).bool())


def _gather(own: Tensor, sizes: Sequence[int]) -> Tensor:
    """Return the rows of all ranks, which have `sizes` rows."""
    missing = max(sizes) - len(own)
    whole = _Gather.apply(F.pad(own, (0, 0) * (own.dim() - 1) + (0, missing)))
    return torch.cat([rows[:size] for rows, size in zip(whole, sizes, strict=True)])


class _Gather(torch.autograd.Function):
    """Tensors (...) of R ranks to (R, ...) on all ranks.

    All ranks compute the same loss from the gathered tensors, so each already has the whole
    gradient. It passes back its own part times R, so that the mean over ranks, see
    `average_gradients`, is the sum of the contributions of all parts. Weights in the loss itself
    get the same gradient everywhere.
    """

    @staticmethod
    def forward(ctx: Any, own: Tensor) -> Tensor:
        parts = [torch.empty_like(own) for _ in range(count())]
        with _talking():
            dist.all_gather(parts, own.contiguous())
        return torch.stack(parts)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        assert _group is not None
        return grad[_group.rank] * _group.count


def average_gradients(module: nn.Module) -> None:
    """Replace the gradients of all weights by their means over the ranks."""
    if _group is None:
        return
    weights = [weight for weight in module.parameters() if weight.requires_grad]
    parts = [torch.zeros_like(w) if w.grad is None else w.grad for w in weights]
    used = parts[0].new_tensor([w.grad is not None for w in weights])
    # One tensor for all, as each message takes time.
    flat = torch.cat([*(part.flatten() for part in parts), used])
    with _talking():
        dist.all_reduce(flat)
    flat /= _group.count
    *means, used = flat.split([*(w.numel() for w in weights), len(weights)])
    for weight, mean, is_used in zip(weights, means, used.tolist(), strict=True):
        # A weight without a gradient is not changed, unlike one with a gradient of 0. Fused Adam
        # needs the memory format of the weights.
        weight.grad = torch.empty_like(weight).copy_(mean.view_as(weight)) if is_used else None
