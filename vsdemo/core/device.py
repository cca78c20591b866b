"""The device, chosen once, and whether half precision pays on it."""

from __future__ import annotations

import os
from functools import cache

import torch

from vsdemo.core.errors import UserError


@cache
def device() -> torch.device:
    """VSDEMO_DEVICE when set; otherwise the first GPU, or the CPU.

    Raises UserError when VSDEMO_DEVICE names none that works here.
    """
    if name := os.environ.get("VSDEMO_DEVICE"):
        try:
            return torch.empty(0, device=name).device
        except (RuntimeError, AssertionError):
            raise UserError(
                f"VSDEMO_DEVICE={name} cannot be used here; use cpu, cuda, cuda:1 or mps."
            ) from None
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


@cache
def fast_dtype() -> torch.dtype:
    """bfloat16 where the processor multiplies it in hardware, else float32."""
    if device().type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    if device().type == "cpu" and torch.cpu.get_capabilities().get("avx512_bf16"):
        return torch.bfloat16
    return torch.float32


def autocast() -> torch.autocast:
    """torch.autocast to `fast_dtype`; does nothing where that is float32."""
    fast = fast_dtype()
    return torch.autocast(device().type, dtype=fast, enabled=fast is not torch.float32)
