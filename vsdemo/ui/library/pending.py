"""Values that load in the background."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass
class Status:
    """What the app is doing, and how far it is; `total` is 0 while it is unknown."""

    label: str
    done: int = 0
    total: int = 0

    def begin(self, label: str) -> None:
        """Start another piece of work."""
        self.label, self.done, self.total = label, 0, 0

    def report(self, done: int, total: int) -> None:
        """Set the progress; a `vsdemo.core.progress.Progress`."""
        self.done, self.total = done, total


@dataclass
class Pending(Generic[T]):
    """A value that loads in the background; several may share one status."""

    status: Status
    future: Future[T] = field(default_factory=Future)

    @property
    def failed(self) -> bool:
        """Whether to start again: the cause may be gone since."""
        return self.future.done() and self.future.exception() is not None

    def result(self) -> T:
        """Wait for the value, and return it or raise the error of loading it."""
        return self.future.result()
