"""Starts the app: `python app.py`. Hugging Face Spaces run this file too."""

import sys

from vsdemo.core import cores, interrupts, startup
from vsdemo.core.errors import UserError
from vsdemo.serving import spaces


def main() -> None:
    """Start the app, after what has to come before torch is imported."""
    with startup.importing():
        cores.limit_threads()
        spaces.borrow_gpu()
        from vsdemo.ui import launch

    launch()


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        print(f"vsdemo: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(interrupts.INTERRUPTED)
