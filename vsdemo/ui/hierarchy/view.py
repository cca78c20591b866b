"""The HTML of the tab Hierarchy: where one stands, what lies above and below, what was gathered.

Whatever can be gone to is a button that reports the number of its item.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import urlencode

from vsdemo.encoders.concepts import SENSE
from vsdemo.hierarchy.order import PHOTO, ROOT, Hierarchy, Item, Step
from vsdemo.ui.components.html import Source, tidy

VIOLATION = (
    "Order violation: by how much the more general of the two does not lie above the other; 0 is "
    "without any."
)
STRIP = 24  # photos of a selection on the page at once


def spoken(text: str) -> str:
    """A text as people say it: `dog` for the concept `dog.n.01`."""
    word, sense, _ = text.partition(SENSE)
    return word.replace("_", " ") if sense else tidy(text)


def trail(world: Hierarchy, numbers: Sequence[int], here: str, address: Mapping[str, str]) -> str:
    """Breadcrumbs from the root to where one stands."""
    walked = ((n, world.items[n]) for n in numbers)
    steps = "".join(f'<li class="{i.kind}">{_go(n, spoken(i.text))}</li>' for n, i in walked)
    return (
        f'<nav class="trail" aria-label="From the root to here" '
        f'data-address="{escape(urlencode(address))}"><ol>{steps}'
        f'<li aria-current="location">{escape(tidy(here))}</li></ol></nav>'
    )


def _go(number: int, text: str) -> str:
    return (
        f'<button type="button" class="sentence" data-event="select" data-stay '
        f'data-number="{number}">{escape(text)}</button>'
    )


def steps(world: Hierarchy, found: Sequence[Step], title: str, nothing: str) -> str:
    """Items above or below, the nearest first, each with its violation."""
    most = max((step.violation for step in found), default=0) or 1
    rows = "".join(_row(world.items[s.number], s, most) for s in found)
    told = f"<ul>{rows}</ul>" if rows else f'<p class="note">{escape(nothing)}</p>'
    return f'<section class="steps"><h3>{escape(title)}</h3>{told}</section>'


def _row(item: Item, step: Step, most: float) -> str:
    return (
        f'<li class="{item.kind}">{_go(step.number, spoken(item.text))}'
        f'<span class="fit" title="{escape(VIOLATION)}"><span class="bar">'
        f'<span style="width:{step.violation / most:.1%}"></span></span>'
        f'<span class="number">{step.violation:.3f}</span></span></li>'
    )


def photos(world: Hierarchy, numbers: Sequence[int], source: Source, title: str) -> str:
    """Photos to go to."""
    if not numbers:
        return ""
    cards = "".join(_photo(world.items[n], n, source) for n in numbers)
    strip = f'<ul class="strip">{cards}</ul>'
    return f'<section class="steps"><h3>{escape(title)}</h3>{strip}</section>'


def _photo(item: Item, number: int, source: Source) -> str:
    says = escape(f"Go to the photo {item.text}")
    return (
        f'<li class="card"><button type="button" class="frame" data-event="select" data-stay '
        f'data-number="{number}" aria-label="{says}"><img src="{source(item.number, "small")}" '
        f'alt="{escape(item.text)}" loading="lazy" decoding="async"></button></li>'
    )


def here(text: str, kind: str, picture: str, height: str) -> str:
    """Where one stands; `picture` is the address of a photo."""
    shown = (
        f'<div class="large"><img src="{escape(picture)}" alt="{escape(text)}"></div>'
        if picture
        else f'<p class="at">{escape(tidy(text))}</p>'
    )
    keep = '<button type="button" class="do" data-event="apply" data-stay>Keep for joining</button>'
    if kind == ROOT:
        keep = ""
    return (
        f'<section class="here"><h3>Here: {escape(kind)}</h3>{shown}'
        f'<div class="under"><span class="note">{escape(height)}</span>{keep}</div></section>'
    )


def gathered(world: Hierarchy, numbers: Sequence[int], source: Source) -> str:
    """What a lasso holds: photos as a strip, words as a list."""
    if not numbers:
        return ""
    pictures = [n for n in numbers if world.items[n].kind == PHOTO]
    words = [n for n in numbers if world.items[n].kind != PHOTO]
    listed = "".join(f"<li>{_go(n, spoken(world.items[n].text))}</li>" for n in words[:STRIP])
    told = f"Selected on the map: {len(pictures):,} photos, {len(words):,} words and sentences"
    return (
        photos(world, pictures[:STRIP], source, told)
        if pictures
        else f'<section class="steps"><h3>{told}</h3></section>'
    ) + (f'<ul class="words">{listed}</ul>' if listed else "")


def tray(kept: Sequence[str]) -> str:
    """What was kept for joining, each with a button that puts it back."""
    if not kept:
        return (
            '<p class="note">Keep two or more places, then compose them (what is all of them at '
            "once: the larger of each coordinate) or abstract them (what they have in common: the "
            "smaller of each).</p>"
        )
    items = "".join(
        f'<li>{escape(tidy(text))} <button type="button" class="to" data-event="click" data-stay '
        f'data-number="{i}" aria-label="Put back: {escape(text)}">Put back</button></li>'
        for i, text in enumerate(kept)
    )
    return f'<ul class="tray">{items}</ul>'


def joined(
    world: Hierarchy, found: Mapping[str, Sequence[Step]], title: str, source: Source
) -> str:
    """What is nearest to a composition or an abstraction, kind by kind."""
    words = [step for kind, of in found.items() if kind != PHOTO for step in of]
    listed = "".join(f"<li>{_go(s.number, spoken(world.items[s.number].text))}</li>" for s in words)
    pictures = [step.number for step in found.get(PHOTO, ())]
    return (
        f'<section class="steps"><h3>{escape(title)}</h3><ul class="words">{listed}</ul></section>'
        + photos(world, pictures, source, "Nearest photos")
    )
