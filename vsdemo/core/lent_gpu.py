"""A GPU that is lent for the duration of a call, as on Spaces with ZeroGPU.

Work that is worth a GPU goes through `run`, as a module-level function that returns a tensor on the
CPU. Its arguments are pickled, because it may run in another process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from torch import Tensor

Function = Callable[..., Tensor]


class Lender(Protocol):
    """Runs a function on the GPU, or here if no GPU is available."""

    def __call__(self, function: Function, *args: Any) -> Tensor:
        """Return the function's result, on the CPU."""


_lenders: list[Lender] = []  # at most one


def offer(lender: Lender | None) -> None:
    """Let `run` use a lender from now on; None to use none."""
    _lenders[:] = [lender] if lender else []


def is_offered() -> bool:
    """Return whether `run` may use a GPU that this process does not have."""
    return bool(_lenders)


def run(function: Function, *args: Any) -> Tensor:
    """Call a function on the lent GPU; without a lender, here."""
    return _lenders[0](function, *args) if _lenders else function(*args)
