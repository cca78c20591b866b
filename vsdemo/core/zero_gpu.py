"""Whether the app runs on a Space with ZeroGPU, which lends a GPU for the length of a call."""

from __future__ import annotations

import os

VARIABLE = "SPACES_ZERO_GPU"  # set there


def is_zero_gpu() -> bool:
    """Return whether a GPU is lent for the length of a call; see `vsdemo.core.lent_gpu`.

    Outside of such a call torch says that there is one, but fails to use it.
    """
    return os.environ.get(VARIABLE, "").lower() in ("1", "t", "true")


def leave() -> None:
    """Let this process be one that has the GPU, to its end."""
    os.environ.pop(VARIABLE, None)
