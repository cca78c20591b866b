"""The HTML of what is on show: pure functions from records to text, everything escaped.

Whatever can be clicked is a <button> with `data-event` and `data-number`; `page.js` reports both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from html import escape
from urllib.parse import urlencode

from vsdemo.scores import Score
from vsdemo.types import Hit

Source = Callable[[int, str], str]  # (number of a photo, "small" or "large") -> its address
Words = Callable[[int], str]  # number of a photo -> what stands for it when it cannot be seen


def tidy(sentence: str) -> str:
    """A caption as people write it: data sets set punctuation apart, as in "A dog runs ."."""
    return re.sub(r"\s+([.,;:!?])", r"\1", sentence)


def note(text: str) -> str:
    """A quiet line."""
    return f'<p class="note" role="status">{escape(text)}</p>'


def problem(text: str) -> str:
    """What was wrong with the input, where it was given."""
    return f'<p class="note problem" role="alert">{escape(text)}</p>'


def progress(what: str, done: int, of: int) -> str:
    """Work that takes longer than a moment."""
    if not of:
        return f'<p class="note" role="status">{escape(what)} …</p>'
    return (
        f'<p class="note" role="status">{escape(what)}: {done:,} of {of:,}'
        f'<progress max="{of}" value="{done}" aria-label="{escape(what)}"></progress></p>'
    )


def message(text: str) -> str:
    """The one sentence of a page that has nothing to show; `code` between backticks."""
    parts = escape(text).split("`")
    marked = "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(parts))
    return f'<div class="message" role="status"><p>{marked}</p></div>'


def skeleton(cards: int) -> str:
    """Grey cards that keep the place of photos."""
    card = '<li class="card"><span class="frame"></span><span class="bar"></span></li>'
    return f'<ul class="grid waiting" aria-hidden="true">{card * cards}</ul>'


def lines(rows: int) -> str:
    """Grey lines that keep the place of sentences."""
    return f'<ol class="sentences waiting" aria-hidden="true">{"<li></li>" * rows}</ol>'


def bar(hit: Hit, score: Score) -> str:
    """How well a result fits: a thin bar, the number and its unit; what it means as a tooltip."""
    return (
        f'<span class="fit" title="{escape(score.meaning)}">'
        f'<span class="bar"><span style="width:{hit.fit:.1%}"></span></span>'
        f'<span class="number">{hit.fit:.2f}</span> <span class="unit">{escape(score.unit)}</span>'
        "</span>"
    )


def grid(
    hits: Sequence[Hit],
    score: Score,
    source: Source,
    words: Words,
    chosen: int | None = None,
    kind: str = "grid",
) -> str:
    """Photos to click, best first, each with its bar; `kind` is grid or strip."""
    cards = []
    for hit in hits:
        current = ' aria-current="true"' if hit.number == chosen else ""
        label = f"Photo {hit.rank}, {score.unit} {hit.fit:.2f}: {words(hit.number)}"
        cards.append(
            f'<li class="card"><button type="button" class="frame" data-event="select" '
            f'data-number="{hit.number}"{current} aria-label="{escape(label)}">'
            f'<img src="{source(hit.number, "small")}" alt="{escape(words(hit.number))}" '
            f'loading="lazy" decoding="async"></button>{bar(hit, score)}</li>'
        )
    return f'<ul class="{kind}">{"".join(cards)}</ul>'


def picks(numbers: Sequence[int], source: Source, words: Words) -> str:
    """Photos to pick from, without a score."""
    cards = (
        f'<li class="card"><button type="button" class="frame" data-event="select" '
        f'data-number="{n}" aria-label="Describe this photo: {escape(words(n))}">'
        f'<img src="{source(n, "small")}" alt="{escape(words(n))}" decoding="async"></button></li>'
        for n in numbers
    )
    return f'<ul class="picks">{"".join(cards)}</ul>'


def detail(
    photo: str,
    captions: Sequence[str],
    fit: str,
    near: str,
    address: Mapping[str, str],
) -> str:
    """One photo, large: what people wrote of it, its fit to the query, the photos most like it."""
    said = "".join(
        f'<li><button type="button" class="sentence" data-event="click" data-number="{i}" '
        f'title="Find photos for this sentence">{escape(tidy(c))}</button></li>'
        for i, c in enumerate(captions)
    )
    written = f'<h3>What people wrote</h3><ul class="written">{said}</ul>' if said else ""
    alt = captions[0] if captions else "The selected photo"
    return (
        f'<article class="detail" data-address="{escape(urlencode(address))}">'
        f'<div class="large"><img src="{photo}" alt="{escape(alt)}"></div>'
        f'<div class="under">{fit}<button type="button" class="do" data-event="submit">'
        f"Describe</button></div>{written}<h3>Nearest photos</h3>{near}</article>"
    )


def sentences(
    hits: Sequence[Hit], score: Score, own: Collection[str], address: Mapping[str, str]
) -> str:
    """Sentences to click, best first; those that people wrote for this very photo are marked."""
    rows = []
    for i, hit in enumerate(hits):
        mark = '<span class="mark">written for this photo</span>' if hit.item in own else ""
        rows.append(
            f'<li><button type="button" class="sentence" data-event="click" data-number="{i}" '
            f'title="Find photos for this sentence">{escape(tidy(hit.item))}</button>{mark}'
            f"{bar(hit, score)}</li>"
        )
    return f'<ol class="sentences" data-address="{escape(urlencode(address))}">{"".join(rows)}</ol>'
