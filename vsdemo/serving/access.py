"""Where strangers visit, on a Space or in a network: what they may not do, and for how long."""

from __future__ import annotations

import os

PUBLIC = ("SPACE_ID", "GRADIO_SHARE", "GRADIO_SERVER_NAME")  # set where strangers may visit
ALLOW, MINUTES = "VSDEMO_ALLOW_TRAINING", "VSDEMO_TRAINING_MINUTES"
USUAL = 10.0  # minutes that a stranger's training may take


def strangers() -> bool:
    """Whether strangers may visit."""
    return any(map(os.environ.get, PUBLIC))


def training_allowed() -> bool:
    """Whether a visitor may train."""
    return not strangers() or os.environ.get(ALLOW) == "1"


def minutes() -> float | None:
    """How long a training may take; None where only its owner visits."""
    if not strangers():
        return None
    try:
        return max(0.1, float(os.environ.get(MINUTES, USUAL)))
    except ValueError:
        return USUAL
