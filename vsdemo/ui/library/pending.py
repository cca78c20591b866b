"""Values that load in the background, wanted by any number of requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from threading import Event, Lock, Semaphore, Timer
from time import monotonic
from typing import Any, Generic, TypeVar

from vsdemo.core.errors import Cancelled
from vsdemo.core.language import message

T = TypeVar("T")
MIN_SECONDS = 2.0  # of work before the remaining time is estimated
GRACE = 2.0  # seconds after which work that nobody wants is cancelled
POLL = 0.2  # seconds between two looks at whether to go on waiting
QUEUED = message("Waiting for other preparations")


class Status:
    """What the app is doing, and how far it is.

    Long work, which reports its progress, needs one of `slots`: it waits for one at its first
    report, so that short work is never behind it.

    Args:
        label: What the app is doing.
        slots: How many pieces of long work may run at once.

    Attributes:
        label: What the app is doing.
        done: Items that are done.
        total: All items, 0 while it is unknown.
        cancelled: Set to stop the work at its next report.
    """

    def __init__(self, label: str, slots: Semaphore | None = None) -> None:
        self.label, self.done, self.total = label, 0, 0
        self.cancelled = Event()
        self._slots = slots
        self._has_slot = False
        self._turn = Lock()
        self._started = monotonic()

    def begin(self, label: str) -> None:
        """Start another piece of work."""
        self.label, self.done, self.total = label, 0, 0
        self._started = monotonic()

    def report(self, done: int, total: int) -> None:
        """Set the progress; a `vsdemo.core.progress.Progress`.

        Raises:
            Cancelled: Nobody wants the result any more.
        """
        if self._slots and not self._has_slot:
            self._wait_for_slot(self._slots)
        while not self._turn.acquire(timeout=POLL):
            if self.cancelled.is_set():
                raise Cancelled
        self._turn.release()
        if self.cancelled.is_set():
            raise Cancelled
        self.done, self.total = done, total

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Let the work wait at its next report while the block runs, to lend its slot.

        One block runs at a time. It must not wait for a slot itself.
        """
        with self._turn:
            yield

    def _wait_for_slot(self, slots: Semaphore) -> None:
        label = self.label
        if not slots.acquire(blocking=False):
            self.begin(QUEUED)
            while not slots.acquire(timeout=POLL):
                if self.cancelled.is_set():
                    raise Cancelled
            self.begin(label)
        self._has_slot = True

    def follow(self, other: Status) -> None:
        """Show what other work does that this one waits for.

        Raises:
            Cancelled: Nobody wants the result any more.
        """
        if self.cancelled.is_set():
            raise Cancelled
        self.label, self.done, self.total = other.label, other.done, other.total
        self._started = other._started

    def release(self) -> None:
        """Give the slot back when the work has ended; later reports need none."""
        slots, self._slots = self._slots, None
        if slots and self._has_slot:
            slots.release()

    @property
    def seconds_left(self) -> float | None:
        """The remaining seconds at the pace so far; None while it is unknown."""
        seconds = monotonic() - self._started
        if not self.done or seconds < MIN_SECONDS:
            return None
        return (self.total - self.done) * seconds / self.done


class Pending(Generic[T]):
    """A value that loads in the background.

    Work that requests wanted, and that no request has wanted for `GRACE` seconds, is cancelled.

    Args:
        status: The progress of the work.
        keep: Never cancel the work.

    Attributes:
        status: What to show of the work.
        future: The value.
        partial: A smaller value that can be used until then, such as the first photos; None if
            there is none. It is replaced as it grows.
    """

    def __init__(self, status: Status, *, keep: bool = False) -> None:
        self.status = status
        self.future: Future[T] = Future()
        self.partial: T | None = None
        self._keep = keep
        self._requests = 0
        self._lock = Lock()

    @property
    def failed(self) -> bool:
        """Whether to start again: it was cancelled, or the cause of its error may be gone now."""
        if self.future.done():
            return self.future.exception() is not None
        return self.status.cancelled.is_set()

    @property
    def is_usable(self) -> bool:
        """Whether the value or a partial one is there."""
        return self.partial is not None or (self.future.done() and not self.failed)

    @property
    def newest(self) -> T | None:
        """The value once it is there, before that the partial one.

        Raises whatever the work has raised.
        """
        partial = self.partial
        return self.future.result() if self.future.done() else partial

    def run(self, function: Callable[..., T], *args: Any) -> None:
        """Let a function compute the value."""
        try:
            self.future.set_result(function(*args))
        except BaseException as error:
            self.future.set_exception(error)
        finally:
            self.partial = None
            self.status.release()

    @contextmanager
    def wanted(self) -> Iterator[None]:
        """Want the value while the block runs."""
        with self._lock:
            self._requests += 1
        try:
            yield
        finally:
            with self._lock:
                self._requests -= 1
                is_unwanted = not self._requests and not self._keep
            if is_unwanted and not self.future.done():
                timer = Timer(GRACE, self._cancel_if_unwanted)
                timer.daemon = True
                timer.start()

    def _cancel_if_unwanted(self) -> None:
        with self._lock:
            if not self._requests and not self.future.done():
                self.status.cancelled.set()

    def result(self, waiting: Status | None = None) -> T:
        """Wait for the value, and return it or raise the error of loading it.

        Args:
            waiting: The status of work that waits for this value.

        Raises:
            Cancelled: Nobody wants that work any more.
        """
        with self.wanted():
            while not wait([self.future], POLL).done:
                if waiting is not None:
                    waiting.follow(self.status)
            return self.future.result()
