"""The GPU of a Space with ZeroGPU, which is lent for the length of a call. The home of `spaces`.

There the app computes on the CPU, and one function runs in another process that has the GPU:
it computes the features of many photos. Everything else, including a search, takes less time
than it takes to get the GPU. Training takes too long for a call, so it is not offered.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from vsdemo.core.zero_gpu import is_zero_gpu
from vsdemo.serving import offline

SECONDS = 30  # for one call, of a visitor's few minutes a day; it waits for the GPU before that
log = logging.getLogger(__name__)


def borrow_gpu() -> None:
    """Let the app use the GPU of ZeroGPU; on other machines do nothing.

    To be called before anything else uses CUDA, as `spaces` changes what torch says about it.
    """
    if not is_zero_gpu():
        return
    os.environ.update(offline.variables())  # `spaces` imports Gradio
    lend = import_module("spaces").GPU(duration=SECONDS)(_compute)

    from vsdemo.core import lent_gpu

    lent_gpu.offer(lender(lend))


def lender(lend: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `vsdemo.core.lent_gpu.Lender`.

    Args:
        lend: Calls `_compute` where a GPU is. It fails where none is free, or if a visitor has
            used up the minutes of the day; then the function runs here.
    """

    def run(function: Callable[..., Any], *args: Any) -> Any:
        import torch

        # Tensors would be shared through files in memory, and containers have little of it.
        arrays = [arg.numpy() if isinstance(arg, torch.Tensor) else arg for arg in args]
        try:
            return torch.from_numpy(lend(function, *arrays))
        except Exception as error:
            reason = getattr(error, "message", error)  # errors of Gradio print it in quotes
            log.warning("The GPU was not lent (%s); computing on the CPU.", reason)
            return function(*args)

    return run


def _compute(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in the process that has the GPU, with arrays in place of tensors."""
    import numpy as np
    import torch

    from vsdemo.core import device

    if is_zero_gpu():  # the first call of this process
        device.enter_lent_gpu()
        torch.set_num_threads(1)  # the threads of the parent process do not exist in this copy
    tensors = [torch.from_numpy(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
    return function(*tensors).numpy()
