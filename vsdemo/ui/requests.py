"""Requests of pages: once a newer one of a channel shows something, an older one shows no more."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol, TypeVar

MAX_CHANNELS = 50_000  # remembered; a visitor has a few
Key = TypeVar("Key")
Value = TypeVar("Value")
Visit = TypeVar("Visit", bound="Numbered")
Channel = tuple[str, str]  # session of the page, and what on it a request fills


class Numbered(Protocol):
    """Something that has a number, which is higher the later it begins."""

    @property
    def number(self) -> int:
        """The number."""


@dataclass(frozen=True)
class Request:
    """A request of a page; a newer one of the same channel takes its place.

    Attributes:
        requests: The requests of all pages.
        channel: The session of the page, and what on it the request fills.
        ended_by: Other channels, whose newer requests end this one, too.
        number: The place among the requests of the page.
    """

    requests: Requests
    channel: Channel
    ended_by: tuple[Channel, ...]
    number: int

    def take_channel(self) -> bool:
        """Take the channel, unless a newer request has ended this one; return whether that worked.

        A request takes its channel when it has something to show, so that one that does nothing
        ends no other.
        """
        return self.requests.take(self)


class Requests:
    """The newest request of each channel, and the open tab of each page."""

    def __init__(self) -> None:
        self._newest: OrderedDict[Channel, int] = OrderedDict()
        self._restored: OrderedDict[str, int] = OrderedDict()  # session of a page -> times
        self._open: OrderedDict[str, str] = OrderedDict()  # session of a page -> key of its tab
        self._visits: OrderedDict[str, Any] = OrderedDict()  # session of a page -> the last one
        self._count = 0
        self._lock = Lock()

    def begin(
        self, channel: Channel, ended_by: Iterable[Channel] = (), *, number: int | None = None
    ) -> Request:
        """Return a new request.

        Args:
            channel: The session of the page, and what on it the request fills.
            ended_by: Other channels, whose newer requests end this one, too.
            number: Its place among the requests of the page; by default requests are counted as
                they arrive, which may be in another order.
        """
        with self._lock:
            self._count += 1
            number = self._count if number is None else number
            return Request(self, channel, tuple(ended_by), number)

    def take(self, request: Request) -> bool:
        """Let a request take its channel; return False if a newer one has ended it."""
        with self._lock:
            channels = (request.channel, *request.ended_by)
            if any(self._newest.get(channel, 0) > request.number for channel in channels):
                return False
            _remember(self._newest, request.channel, request.number)
            return True

    def open_tab(self, session: str, tab: str) -> None:
        """Note which tab of a page is open."""
        with self._lock:
            _remember(self._open, session, tab)

    def open_first_tab(self, session: str, tab: str) -> bool:
        """Note the first open tab of a page; return False if a tab is open already."""
        with self._lock:
            if session in self._open:
                return False
            _remember(self._open, session, tab)
            return True

    def restore(self, session: str, number: int, tab: str) -> bool:
        """Note that Back or Forward were used `number` times on a page and led to a tab.

        Requests that began before do not change the address. Returns False, and notes nothing, if
        they have been used more often by now.
        """
        with self._lock:
            if number < self._restored.get(session, 0):
                return False
            _remember(self._restored, session, number)
            _remember(self._open, session, tab)
            return True

    def begin_visit(self, session: str, visit: Visit) -> Visit | None:
        """Note the visit that a page is to show, and return the one before.

        Returns `visit` itself, if it is the first one. The requests of two visits can overtake each
        other: if a later one has begun already, notes nothing and returns None.
        """
        with self._lock:
            before: Visit = self._visits.get(session, visit)
            if visit.number < before.number:
                return None
            _remember(self._visits, session, visit)
            return before

    def restored(self, session: str) -> int:
        """Return how often Back or Forward were used on a page."""
        return self._restored.get(session, 0)

    def tab(self, session: str) -> str | None:
        """Return which tab of a page is open; None while that is unknown."""
        return self._open.get(session)


def _remember(values: OrderedDict[Key, Value], key: Key, value: Value) -> None:
    """Set the newest value, and forget the oldest one beyond MAX_CHANNELS."""
    values[key] = value
    values.move_to_end(key)
    if len(values) > MAX_CHANNELS:
        values.popitem(last=False)
