"""What the tab Hierarchy shows, as values of its templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isinf

from markupsafe import Markup

from vsdemo.core import language
from vsdemo.core.language import message, translate
from vsdemo.encoders.concepts import SENSE
from vsdemo.hierarchy.order import PHOTO, ROOT, Hierarchy, Node, Step
from vsdemo.ui.components.html import Bar, PhotoAddress, PhotoCard, tidy
from vsdemo.ui.components.templates import render

OWN_PHOTO = message("your photo")
VIOLATION = message(
    "Order violation: how far the more general item is from lying above the other one; 0 is a "
    "perfect fit."
)
SHORTEST_BAR = 0.15  # of the length of a bar
MAX_SELECTED = 24  # items of a selection on the page


@dataclass(frozen=True)
class Link:
    """A button that goes to an item.

    Attributes:
        number: Number of the item, which a click reports.
        kind: Its kind, such as "concept".
        text: Its text in plain words.
        truth: Whether the step to it is true; None if that is not known.
    """

    number: int
    kind: str
    text: str
    truth: bool | None = None


def spoken(text: str) -> str:
    """Return a text in plain words: `dog` for the concept `dog.n.01`."""
    word, sense, _ = text.partition(SENSE)
    return word.replace("_", " ") if sense else tidy(text)


def name_of(node: Node) -> str:
    """Return what a node is called on the page."""
    is_own = node.kind == PHOTO and node.number is None
    return translate(node.text) if is_own else spoken(node.text)


def trail(
    hierarchy: Hierarchy, numbers: Sequence[int], here: str, truths: Sequence[bool | None] = ()
) -> Markup:
    """Return breadcrumbs from the root to the node.

    Args:
        hierarchy: The hierarchy.
        numbers: The items.
        here: The node.
        truths: Whether the steps from item to item and to the node are true; empty if unknown.
    """
    of_items = (None, *truths[:-1]) if truths else ()
    return render(
        "hierarchy/trail.html",
        links=_links(hierarchy, numbers, of_items),
        here=tidy(here),
        truth=truths[-1] if truths else None,
    )


def steps(
    hierarchy: Hierarchy,
    items: Sequence[Step],
    *,
    title: str,
    empty: str,
    limit: float = inf,
    truths: Sequence[bool | None] = (),
) -> Markup:
    """Return items above or below, the nearest first, each with its violation.

    Args:
        hierarchy: The hierarchy.
        items: The items.
        title: Heading.
        empty: Text to show if there are none.
        limit: The largest violation that is listed.
        truths: Whether the items are really above or below; empty if unknown.
    """
    links = _links(hierarchy, [step.number for step in items], truths)
    bars = violation_bars([step.violation for step in items], limit)
    return render(
        "hierarchy/steps.html",
        title=title,
        steps=list(zip(links, bars, strict=True)),
        empty=empty,
    )


def violation_bars(violations: Sequence[float], limit: float) -> list[Bar]:
    """Return a bar for each violation: full at 0, short at the limit, or at the largest one.

    No bar is empty, as all listed items hold.
    """
    largest = (max(violations, default=0) if isinf(limit) else limit) or 1
    return [
        Bar(
            share=max(SHORTEST_BAR, 1 - (1 - SHORTEST_BAR) * violation / largest),
            number=language.number(violation, 3),
            meaning=translate(VIOLATION),
        )
        for violation in violations
    ]


def photos(
    hierarchy: Hierarchy, numbers: Sequence[int], address: PhotoAddress, *, title: str
) -> Markup:
    """Return photos to go to; empty if there are none."""
    if not numbers:
        return Markup()
    cards = _cards(hierarchy, numbers, address)
    return render("hierarchy/photos.html", title=title, cards=cards)


def here(text: str, kind: str, photo: str, meaning: str) -> Markup:
    """Return the node itself.

    Args:
        text: Its text.
        kind: Its kind, such as "concept".
        photo: Address of its photo; empty for words and sentences.
        meaning: How general the node is, in words.
    """
    return render(
        "hierarchy/here.html",
        text=tidy(text),
        kind=translate(kind),
        photo=photo,
        meaning=meaning,
        can_be_kept=kind != ROOT,
    )


def selection(hierarchy: Hierarchy, numbers: Sequence[int], address: PhotoAddress) -> Markup:
    """Return the items selected on the map: photos as a strip, words as a list."""
    if not numbers:
        return Markup()
    photo_numbers = [number for number in numbers if hierarchy.items[number].kind == PHOTO]
    texts = [number for number in numbers if hierarchy.items[number].kind != PHOTO]
    title = translate(
        "Selected on the map: {photos} photos, {texts} words and sentences",
        photos=language.number(len(photo_numbers)),
        texts=language.number(len(texts)),
    )
    return render(
        "hierarchy/selection.html",
        title=title,
        cards=_cards(hierarchy, photo_numbers[:MAX_SELECTED], address),
        words=_links(hierarchy, texts[:MAX_SELECTED]),
    )


def tray(texts: Sequence[str]) -> Markup:
    """Return the kept items, each with a button that removes it."""
    return render("hierarchy/tray.html", texts=[tidy(text) for text in texts])


def joined(
    hierarchy: Hierarchy,
    items: Mapping[str, Sequence[Step]],
    address: PhotoAddress,
    *,
    title: str,
    truths: Mapping[str, Sequence[bool | None]],
) -> Markup:
    """Return what several items say together, or have in common.

    Args:
        hierarchy: The hierarchy.
        items: The items by kind.
        address: Addresses of photos.
        title: Heading.
        truths: Whether each item is above or below all of the joined ones, by kind.
    """
    kinds = [kind for kind in items if kind != PHOTO]
    texts = [step for kind in kinds for step in items[kind]]
    photo_numbers = [step.number for step in items.get(PHOTO, ())]
    return render(
        "hierarchy/joined.html",
        title=title,
        words=_links(
            hierarchy,
            [step.number for step in texts],
            [truth for kind in kinds for truth in truths[kind]],
        ),
        cards=_cards(hierarchy, photo_numbers, address),
    )


def _links(
    hierarchy: Hierarchy, numbers: Sequence[int], truths: Sequence[bool | None] = ()
) -> list[Link]:
    items = [hierarchy.items[number] for number in numbers]
    return [
        Link(number, item.kind, spoken(item.text), truth)
        for number, item, truth in zip(numbers, items, truths or [None] * len(items), strict=True)
    ]


def _cards(hierarchy: Hierarchy, numbers: Sequence[int], address: PhotoAddress) -> list[PhotoCard]:
    items = [hierarchy.items[number] for number in numbers]
    return [
        PhotoCard(
            number=number,
            address=address(item.number, "small"),
            label=translate("Go to the photo {name}", name=item.text),
            alt=item.text,
            keep_scroll=True,
        )
        for number, item in zip(numbers, items, strict=True)
    ]
