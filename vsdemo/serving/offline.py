"""What keeps the libraries of the app from contacting other hosts."""

from __future__ import annotations

import os


def variables() -> dict[str, str]:
    """Return variables to set before Gradio is imported, which reads them then.

    Gradio then sends nothing, and the Hub's library only what HF_HUB_OFFLINE=0 allows.
    """
    return {
        "GRADIO_ANALYTICS_ENABLED": "False",
        "HF_HUB_OFFLINE": os.environ.get("HF_HUB_OFFLINE", "1"),
    }
