"""Dynamic batches: calls that arrive while another is being computed are batched."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class DynamicBatches(Generic[Item, Result]):
    """Lets threads that need the same computation for different items share one call.

    No call waits for others to arrive: a batch consists of the calls that arrived while the
    previous one was computed.

    Args:
        compute: Returns the results of a batch, in order.
        most: The largest batch.
    """

    def __init__(self, compute: Callable[[list[Item]], Sequence[Result]], most: int) -> None:
        self._compute, self._most = compute, most
        self._waiting: list[tuple[Item, Future[Result]]] = []
        self._lock = Lock()
        self._turn = Lock()  # held by the thread that computes

    def __call__(self, item: Item) -> Result:
        """Return the result of an item, or raise the error of computing its batch."""
        future: Future[Result] = Future()
        with self._lock:
            self._waiting.append((item, future))
        while not future.done():
            with self._turn:
                if not future.done():
                    self._compute_batch()
        return future.result()

    def _compute_batch(self) -> None:
        with self._lock:
            batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
        try:
            results = self._compute([item for item, _ in batch])
        except BaseException as error:
            for _, future in batch:
                future.set_exception(error)
            return
        for (_, future), result in zip(batch, results, strict=True):
            future.set_result(result)
