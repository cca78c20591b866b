"""How much each visitor may use in a period."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic

REMEMBERED = 20_000  # visitors


class Rate:
    """An amount that each visitor may use in a period; it is refilled evenly.

    Args:
        amount: The amount.
        seconds: The period.
        clock: Returns the seconds since some moment.
    """

    def __init__(
        self, amount: float, seconds: float, clock: Callable[[], float] = monotonic
    ) -> None:
        self._amount, self._per_second, self._clock = amount, amount / seconds, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()  # amount, and when
        self._lock = Lock()

    def take(self, visitor: str, amount: float = 1) -> float:
        """Use an amount and return 0, or use nothing and return the seconds after which to retry.

        More than the whole amount is never available; the whole period is returned then.
        """
        with self._lock:
            now = self._clock()
            left, since = self._left.get(visitor, (self._amount, now))
            left = min(self._amount, left + (now - since) * self._per_second)
            wait = max(0.0, (min(amount, self._amount) - left) / self._per_second)
            if amount > self._amount:
                wait = self._amount / self._per_second
            self._left[visitor] = (left if wait else left - amount, now)
            self._left.move_to_end(visitor)
            if len(self._left) > REMEMBERED:
                self._left.popitem(last=False)
            return wait
