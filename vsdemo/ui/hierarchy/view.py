"""The HTML of the tab Hierarchy.

Each link to an item is a button that reports the item's number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import urlencode

from vsdemo.encoders.concepts import SENSE
from vsdemo.hierarchy.order import PHOTO, ROOT, Hierarchy, Item, Step
from vsdemo.ui.components.html import PhotoAddress, bar, tidy

VIOLATION = (
    "Order violation: how far the more general item is from lying above the other one; 0 if it "
    "does."
)
NOTHING_KEPT = (
    '<p class="note">Keep two or more items. Then click Compose to find what combines them (the '
    "larger value of each coordinate) or Common to find what they share (the smaller value).</p>"
)
MAX_SELECTED = 24  # items of a selection on the page


def spoken(text: str) -> str:
    """Return a text in plain words: `dog` for the concept `dog.n.01`."""
    word, sense, _ = text.partition(SENSE)
    return word.replace("_", " ") if sense else tidy(text)


def trail(
    hierarchy: Hierarchy, numbers: Sequence[int], here: str, address: Mapping[str, str]
) -> str:
    """Return breadcrumbs from the root to the node."""
    steps = "".join(
        f'<li class="{hierarchy.items[number].kind}">{_item_button(hierarchy, number)}</li>'
        for number in numbers
    )
    return (
        f'<nav class="trail" aria-label="Path from the root" '
        f'data-address="{escape(urlencode(address))}"><ol>{steps}'
        f'<li aria-current="location">{escape(tidy(here))}</li></ol></nav>'
    )


def _item_button(hierarchy: Hierarchy, number: int) -> str:
    return (
        f'<button type="button" class="sentence" data-event="select" data-keep-scroll '
        f'data-number="{number}">{escape(spoken(hierarchy.items[number].text))}</button>'
    )


def steps(hierarchy: Hierarchy, items: Sequence[Step], *, title: str, empty: str) -> str:
    """Return items above or below, the nearest first, each with its violation.

    Args:
        hierarchy: The hierarchy.
        items: The items.
        title: Heading.
        empty: Text to show if there are none.
    """
    largest = max((step.violation for step in items), default=0) or 1
    rows = "".join(
        f'<li class="{hierarchy.items[step.number].kind}">{_item_button(hierarchy, step.number)}'
        f"{bar(step.violation / largest, f'{step.violation:.3f}', '', VIOLATION)}</li>"
        for step in items
    )
    content = f"<ul>{rows}</ul>" if rows else f'<p class="note">{escape(empty)}</p>'
    return f'<section class="steps"><h3>{escape(title)}</h3>{content}</section>'


def photos(
    hierarchy: Hierarchy, numbers: Sequence[int], address: PhotoAddress, *, title: str
) -> str:
    """Return photos to go to; empty if there are none."""
    if not numbers:
        return ""
    cards = "".join(_photo(hierarchy.items[number], number, address) for number in numbers)
    strip = f'<ul class="strip">{cards}</ul>'
    return f'<section class="steps"><h3>{escape(title)}</h3>{strip}</section>'


def _photo(item: Item, number: int, address: PhotoAddress) -> str:
    label = escape(f"Go to the photo {item.text}")
    return (
        '<li class="card"><button type="button" class="frame" data-event="select" '
        f'data-keep-scroll data-number="{number}" aria-label="{label}">'
        f'<img src="{address(item.number, "small")}" '
        f'alt="{escape(item.text)}" loading="lazy" decoding="async"></button></li>'
    )


def here(text: str, kind: str, photo: str, meaning: str) -> str:
    """Return the node itself.

    Args:
        text: Its text.
        kind: Its kind, such as "concept".
        photo: Address of its photo; empty for words and sentences.
        meaning: How general the node is, in words.
    """
    content = f'<p class="node-text">{escape(tidy(text))}</p>'
    if photo:
        content = f'<div class="large"><img src="{escape(photo)}" alt="{escape(text)}"></div>'
    keep = ""
    if kind != ROOT:
        keep = (
            '<button type="button" class="action-button" data-event="apply" '
            "data-keep-scroll>Keep</button>"
        )
    return (
        f'<section class="here"><h3>Here: {escape(kind)}</h3>{content}'
        f'<div class="action-row"><span class="note">{escape(meaning)}</span>{keep}</div></section>'
    )


def selection(hierarchy: Hierarchy, numbers: Sequence[int], address: PhotoAddress) -> str:
    """Return the items selected on the map: photos as a strip, words as a list."""
    if not numbers:
        return ""
    photo_numbers = [number for number in numbers if hierarchy.items[number].kind == PHOTO]
    texts = [number for number in numbers if hierarchy.items[number].kind != PHOTO]
    title = (
        f"Selected on the map: {len(photo_numbers):,} photos, {len(texts):,} words and sentences"
    )
    if photo_numbers:
        heading = photos(hierarchy, photo_numbers[:MAX_SELECTED], address, title=title)
    else:
        heading = f'<section class="steps"><h3>{title}</h3></section>'
    return heading + (_words(hierarchy, texts[:MAX_SELECTED]) if texts else "")


def _words(hierarchy: Hierarchy, numbers: Sequence[int]) -> str:
    items = "".join(f"<li>{_item_button(hierarchy, number)}</li>" for number in numbers)
    return f'<ul class="words">{items}</ul>'


def tray(texts: Sequence[str]) -> str:
    """Return the kept items, each with a button that removes it."""
    if not texts:
        return NOTHING_KEPT
    items = "".join(
        f'<li>{escape(tidy(text))} <button type="button" class="text-button" data-event="click" '
        f'data-keep-scroll data-number="{i}" aria-label="Remove {escape(text)}">Remove</button>'
        "</li>"
        for i, text in enumerate(texts)
    )
    return f'<ul class="tray">{items}</ul>'


def joined(
    hierarchy: Hierarchy,
    nearest: Mapping[str, Sequence[Step]],
    address: PhotoAddress,
    *,
    title: str,
) -> str:
    """Return the items nearest to a join of several items.

    Args:
        hierarchy: The hierarchy.
        nearest: The nearest items by kind.
        address: Addresses of photos.
        title: Heading.
    """
    texts = [step.number for kind, of in nearest.items() if kind != PHOTO for step in of]
    photo_numbers = [step.number for step in nearest.get(PHOTO, ())]
    return (
        f'<section class="steps"><h3>{escape(title)}</h3>{_words(hierarchy, texts)}</section>'
        + photos(hierarchy, photo_numbers, address, title="Nearest photos")
    )
