"""What visitors of a public server may do."""

from __future__ import annotations

import os

from vsdemo.core.zero_gpu import is_zero_gpu

# Set on Hugging Face Spaces, for a public link and for a server in a network.
PUBLIC = ("SPACE_ID", "GRADIO_SHARE", "GRADIO_SERVER_NAME")
ALLOW_TRAINING = "VSDEMO_ALLOW_TRAINING"


def is_public() -> bool:
    """Whether other people than the owner of this machine may visit the app."""
    return any(os.environ.get(name) for name in PUBLIC)


def training_allowed() -> bool:
    """Whether a visitor may train. With ZeroGPU nobody can: a training is longer than a call."""
    if is_zero_gpu():
        return False
    return not is_public() or os.environ.get(ALLOW_TRAINING) == "1"
