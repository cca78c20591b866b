"""What a server does besides answering: delete old uploads, and stop cleanly."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Callable
from threading import Event, Thread, current_thread, main_thread
from time import monotonic, sleep
from types import FrameType

EVERY = 60.0  # seconds
DRAIN = 20.0  # seconds that requests have to finish
POLL = 0.05  # seconds
log = logging.getLogger(__name__)


class Upkeep:
    """Calls functions every minute in a thread.

    Args:
        chores: The functions.
        every: Seconds between two rounds.
    """

    def __init__(self, *chores: Callable[[], object], every: float = EVERY) -> None:
        self._chores, self._every, self._stopped = chores, every, Event()

    def start(self) -> None:
        """Begin, with a first round at once."""
        Thread(target=self._run, name="vsdemo-upkeep", daemon=True).start()

    def stop(self) -> None:
        """End after the current round."""
        self._stopped.set()

    def _run(self) -> None:
        while True:
            for chore in self._chores:
                try:
                    chore()
                except Exception:
                    log.exception("%s failed", getattr(chore, "__qualname__", chore))
            if self._stopped.wait(self._every):
                return


def stop_on_sigterm(close: Callable[[], None], active: Callable[[], int]) -> None:
    """Let SIGTERM end the process once its requests are finished, after at most DRAIN seconds.

    Args:
        close: Makes the server refuse new requests.
        active: Returns how many requests are not finished.
    """
    if current_thread() is not main_thread():  # an app within another program
        return

    def stop(_: int, __: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        Thread(target=_drain, args=(close, active), name="vsdemo-stop").start()

    signal.signal(signal.SIGTERM, stop)


def _drain(close: Callable[[], None], active: Callable[[], int]) -> None:
    close()
    until = monotonic() + DRAIN
    while active() and monotonic() < until:
        sleep(POLL)
    sleep(POLL)  # the last bytes are on their way
    # Python itself would wait for galleries that are being prepared. They go on at the next start.
    logging.shutdown()
    os._exit(0)
