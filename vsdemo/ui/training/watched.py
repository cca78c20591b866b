"""The photos that a run retrieves for its watched sentences, as values of a template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from markupsafe import Markup

from vsdemo.core.events import Event
from vsdemo.core.language import translate
from vsdemo.ui.components import html
from vsdemo.ui.components.html import PhotoAddress
from vsdemo.ui.components.templates import render

T = TypeVar("T")
MAX_WATCHED = 100  # sentences


@dataclass(frozen=True)
class Photo:
    """A retrieved photo.

    Attributes:
        address: Its address.
        text: Its alternative text.
        is_right: Whether the watched sentence is its caption.
    """

    address: str
    text: str
    is_right: bool


@dataclass(frozen=True)
class Search:
    """The photos retrieved at one evaluation.

    Attributes:
        when: When it was, such as "epoch 3".
        photos: The photos, best first.
        rank: Rank of the photo that the sentence describes; None if there is no such photo.
    """

    when: str
    photos: list[Photo]
    rank: int | None


def sentences(events: Sequence[Event]) -> list[str]:
    """Return the sentences that a run searches photos for at each evaluation."""
    searches = _searches(events)
    return [str(item.get("sentence", "")) for item in searches[-1][1]] if searches else []


def results(
    events: Sequence[Event],
    sentence: int,
    address: PhotoAddress,
    *,
    keys: Sequence[str] = (),
    is_alive: bool,
) -> Markup:
    """Return the photos that a run retrieves for a watched sentence, newest evaluation first.

    Args:
        events: The events of the run.
        sentence: Number of the sentence.
        address: Addresses of photos.
        keys: Content hashes of the photos that have addresses, to find the user's own photos.
        is_alive: Whether the run is still training.
    """
    searches = [
        (epoch, items[sentence]) for epoch, items in _searches(events) if sentence < len(items)
    ]
    if not searches:
        text = translate("Photos appear after the first evaluation.")
        return html.note(text) if is_alive else Markup()
    numbers = {key: number for number, key in enumerate(keys)}
    return render(
        "training/watched.html",
        sentences=[html.tidy(text) for text in sentences(events)],
        chosen=sentence,
        searches=[
            _search(epoch, item, address, numbers) for epoch, item in reversed(thin_out(searches))
        ],
    )


def evaluations(events: Sequence[Event]) -> list[int]:
    """Return the numbers of the events after each of which the watched sentences were searched."""
    return [number for number, event in enumerate(events) if event.get("watched")]


def photos(events: Sequence[Event], sentence: int) -> list[int]:
    """Return the numbers of all photos that were retrieved for a watched sentence."""
    items = [items[sentence] for _, items in _searches(events) if sentence < len(items)]
    return list(dict.fromkeys(int(n) for item in items for n in item.get("photos", [])))


def thin_out(searches: Sequence[T]) -> list[T]:
    """Return the first four, the last, and others at growing distances; most is learned early."""
    last = len(searches) - 1
    return [
        search
        for i, search in enumerate(searches)
        if i < 4 or i == last or (i & (i - 1)) == 0  # powers of two
    ]


def _searches(events: Sequence[Event]) -> list[tuple[Any, list[dict[str, Any]]]]:
    """Return (epoch, result for each watched sentence) of each evaluation.

    The epoch is None before the training.
    """
    searches = []
    for event in events:
        items = event.get("watched")
        if isinstance(items, list) and items:
            items = [item for item in items if isinstance(item, dict)]
            searches.append((event.get("epoch"), items))
    return searches


def _search(
    epoch: Any, item: dict[str, Any], address: PhotoAddress, numbers: Mapping[str, int]
) -> Search:
    """Return what was retrieved for one watched sentence; photos that are gone are left out."""
    own = item.get("own") or {}
    retrieved, keys = item.get("photos", []), item.get("keys")
    shown = [numbers.get(str(key)) for key in keys] if isinstance(keys, list) else retrieved
    photos = []
    for rank, (number, place) in enumerate(zip(retrieved, shown, strict=False), start=1):
        is_right = number == own.get("photo")
        sentence = html.tidy(str(item.get("sentence", "")))
        photo = sentence if is_right else translate("another photo")
        text = translate("Rank {rank}: {photo}", rank=rank, photo=photo)
        if place is not None:
            photos.append(Photo(address(int(place), "small"), text, is_right))
    when = translate("before training")
    if epoch is not None:
        when = translate("epoch {epoch}", epoch=epoch)
    return Search(when=when, photos=photos, rank=own.get("rank"))
