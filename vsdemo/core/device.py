"""The device that models run on, and its fast precision."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from functools import cache

import torch

from vsdemo.core import zero_gpu
from vsdemo.core.errors import UserError

PROBE_SIDE, PROBES = 512, 12  # of the products that precisions are compared by


def enter_lent_gpu() -> None:
    """Make `device` return the GPU lent to this process, until the process ends."""
    zero_gpu.leave()
    device.cache_clear()
    fast_dtype.cache_clear()


@cache
def device() -> torch.device:
    """Return VSDEMO_DEVICE if it is set, and otherwise the first GPU or the CPU.

    On ZeroGPU it is the CPU, except in the process of a call that has been lent the GPU.

    Raises:
        UserError: VSDEMO_DEVICE is not available.
    """
    if zero_gpu.is_zero_gpu():
        return torch.device("cpu")
    if name := os.environ.get("VSDEMO_DEVICE"):
        try:
            return torch.empty(0, device=name).device
        except (RuntimeError, AssertionError):
            raise UserError(
                f"VSDEMO_DEVICE={name} is not available; use cpu, cuda, cuda:1 or mps."
            ) from None
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


@cache
def fast_dtype() -> torch.dtype:
    """Return bfloat16 if the hardware multiplies it faster, and float32 otherwise.

    Processors with instructions for bfloat16 differ: some take half the time of float32, others
    twice as long. So a processor is timed, which takes some 30 ms.
    """
    if device().type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    # `torch.cpu.get_capabilities` is newer than torch 2.8.
    if device().type == "cpu" and torch.cpu._is_avx512_bf16_supported():  # noqa: SLF001
        return _fastest((torch.float32, torch.bfloat16))
    return torch.float32


def _fastest(dtypes: Sequence[torch.dtype]) -> torch.dtype:
    """Return the precision in which a product of matrices takes the least time.

    The products alternate, so that other work on the machine slows all precisions down.
    """
    matrices = {dtype: torch.ones(PROBE_SIDE, PROBE_SIDE, dtype=dtype) for dtype in dtypes}
    seconds = dict.fromkeys(dtypes, float("inf"))
    for _ in range(PROBES):
        for dtype, matrix in matrices.items():
            started = time.perf_counter()
            matrix @ matrix
            seconds[dtype] = min(seconds[dtype], time.perf_counter() - started)
    return min(dtypes, key=seconds.__getitem__)


def autocast() -> torch.autocast:
    """Return `torch.autocast` to `fast_dtype()`, disabled if that is float32.

    It is also disabled during export to ONNX, because the exported model must run on any machine.
    """
    fast = fast_dtype()
    enabled = fast is not torch.float32 and not torch.onnx.is_in_onnx_export()
    return torch.autocast(device().type, dtype=fast, enabled=enabled)
