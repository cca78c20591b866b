"""Whether the app runs on a Space with ZeroGPU, which lends a GPU for the duration of a call."""

from __future__ import annotations

import os

VARIABLE = "SPACES_ZERO_GPU"  # set there


def is_zero_gpu() -> bool:
    """Return whether a GPU is lent for the duration of a call; see `vsdemo.core.lent_gpu`.

    Outside such a call, torch reports a GPU but fails to use it.
    """
    return os.environ.get(VARIABLE, "").lower() in ("1", "t", "true")


def leave() -> None:
    """Treat this process as one that has the GPU, until it ends."""
    os.environ.pop(VARIABLE, None)
