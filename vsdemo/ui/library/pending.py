"""What is on its way to the page: galleries, engines, models that read."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field

from vsdemo.core.caption_set import CaptionSet
from vsdemo.search.engine import Engine, Reader
from vsdemo.search.index import Index


@dataclass
class Work:
    """What is on its way, and how far it is."""

    what: str
    done: int = 0
    of: int = 0

    def report(self, done: int, of: int) -> None:
        """Takes what the core reports while it works."""
        self.done, self.of = done, of

    @property
    def failed(self) -> bool:
        """Whether to start anew: the cause may have been mended since."""
        futures = [value for value in vars(self).values() if isinstance(value, Future)]
        return any(future.done() and future.exception() for future in futures)


@dataclass
class Opening(Work):
    """The photos and captions of a gallery on their way."""

    photos: Future[CaptionSet] = field(default_factory=Future)


@dataclass
class Loading(Work):
    """An engine on its way, and its captions."""

    engine: Future[Engine] = field(default_factory=Future)
    captions: Future[Index] | None = None

    def report(self, done: int, of: int) -> None:
        """What is counted first are photos."""
        super().report(done, of)
        if self.captions is None:
            self.what = "Looking at the photos"


@dataclass
class Reading(Work):
    """A model that describes photos from elsewhere, on its way."""

    model: str = ""
    reader: Future[Reader] = field(default_factory=Future)


@dataclass
class Gathering(Work):
    """Every model on its way, to read sentences; in place of one that cannot, the reason."""

    readers: Future[dict[str, Reader | str]] = field(default_factory=Future)
