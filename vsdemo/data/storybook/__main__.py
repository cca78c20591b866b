"""Draws the pictures whose numbers come in on standard input; see `painters`."""

from __future__ import annotations

import os
import signal
import sys

from vsdemo.core.errors import UserError
from vsdemo.data.storybook import store

NICENESS = 5  # so that a search among the first pictures does not wait for the others


def main() -> None:
    """Draw until an empty line or the end of the input; answer each number.

    The answer is an empty line or a reason.
    """
    if sys.platform != "win32":
        os.nice(NICENESS)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program that started it ends it
    for line in sys.stdin:
        if not line.strip():
            break
        try:
            store.draw_picture(int(line))
        except OSError as error:
            reason = error.strerror or str(error)
            print(f"{error.filename}: {reason}" if error.filename else reason, flush=True)
        except UserError as error:
            print(str(error).rstrip("."), flush=True)
        else:
            print(flush=True)


if __name__ == "__main__":
    main()
