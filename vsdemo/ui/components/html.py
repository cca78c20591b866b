"""The HTML of what is on show: pure functions from records to text, everything escaped.

Whatever can be clicked is a <button> with `data-event` and `data-number`; `page.js` reports both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from html import escape
from itertools import zip_longest
from urllib.parse import urlencode

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.hits import Hit
from vsdemo.models.scores import Score

Source = Callable[[int, str], str]  # (number of a photo, "small" or "large") -> its address
Words = Callable[[int], str]  # number of a photo -> what stands for it when it cannot be seen


def tidy(sentence: str) -> str:
    """A caption as people write it: data sets set punctuation apart, as in "A dog runs ."."""
    return re.sub(r"\s+([.,;:!?])", r"\1", sentence)


def words_of(photos: CaptionSet) -> Words:
    """The first caption of a photo, or its file's name."""

    def words(number: int) -> str:
        written = photos.own_captions(number)
        return tidy(written[0]) if written else photos.photos[number].stem

    return words


def note(text: str) -> str:
    """A quiet line."""
    return f'<p class="note" role="status">{escape(text)}</p>'


def problem(text: str) -> str:
    """What was wrong with the input, where it was given."""
    return f'<p class="note problem" role="alert">{escape(text)}</p>'


def progress(what: str, done: int, of: int, say: Callable[[int], str] = "{:,}".format) -> str:
    """Work that takes longer than a moment; `say` gives the words for a number."""
    if not of:
        return f'<p class="note" role="status">{escape(what)} …</p>'
    return (
        f'<p class="note" role="status">{escape(what)}: {say(done)} of {say(of)}'
        f'<progress max="{of}" value="{done}" aria-label="{escape(what)}"></progress></p>'
    )


def message(text: str) -> str:
    """The one sentence of a page that has nothing to show, as `marked`."""
    return f'<div class="message" role="status"><p>{marked(text)}</p></div>'


def marked(text: str) -> str:
    """Text with `code` between backticks."""
    parts = escape(text).split("`")
    return "".join(f"<code>{p}</code>" if i % 2 else p for i, p in enumerate(parts))


def _sentence(number: int, text: str) -> str:
    return (
        f'<button type="button" class="sentence" data-event="click" data-number="{number}" '
        f'title="Find photos for this sentence">{escape(tidy(text))}</button>'
    )


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
        f'<span class="bar"><span style="width:{hit.unit_score:.1%}"></span></span>'
        f'<span class="number">{hit.unit_score:.2f}</span> '
        f'<span class="unit">{escape(score.unit)}</span>'
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
        says = f"Photo {hit.rank}, {score.unit} {hit.unit_score:.2f}"
        cards.append(_card(hit.number, source, words, says, hit.number == chosen, bar(hit, score)))
    return f'<ul class="{kind}">{"".join(cards)}</ul>'


def picks(
    numbers: Sequence[int],
    source: Source,
    words: Words,
    says: str,
    chosen: int | None = None,
    kind: str = "picks",
) -> str:
    """Photos to click, without a score; `kind` is picks or grid."""
    cards = (_card(n, source, words, says, n == chosen) for n in numbers)
    return f'<ul class="{kind}">{"".join(cards)}</ul>'


def _card(
    number: int, source: Source, words: Words, says: str, chosen: bool, under: str = ""
) -> str:
    current, text = ' aria-current="true"' if chosen else "", escape(words(number))
    return (
        f'<li class="card"><button type="button" class="frame" data-event="select" '
        f'data-number="{number}"{current} aria-label="{escape(says)}: {text}">'
        f'<img src="{source(number, "small")}" alt="{text}" '
        f'loading="lazy" decoding="async"></button>{under}</li>'
    )


def detail(
    photo: str,
    captions: Sequence[str],
    fit: str,
    near: str,
    address: Mapping[str, str],
) -> str:
    """One photo, large: what was written for it, its fit to the query, the photos most like it."""
    said = "".join(f"<li>{_sentence(i, c)}</li>" for i, c in enumerate(captions))
    written = f'<h3>Written for this photo</h3><ul class="written">{said}</ul>' if said else ""
    nearest = f"<h3>Nearest photos</h3>{near}" if near else ""
    alt = captions[0] if captions else "The selected photo"
    return (
        f'<article class="detail" data-address="{escape(urlencode(address))}">'
        f'<div class="large"><img src="{photo}" alt="{escape(alt)}"></div>'
        f'<div class="under">{fit}<button type="button" class="do" data-event="apply">Align'
        '</button><button type="button" class="do" data-event="submit">Describe</button>'
        '<button type="button" class="do" data-event="expand">Hierarchy</button></div>'
        f"{written}{nearest}</article>"
    )


def sentences(
    hits: Sequence[Hit], score: Score, own: Collection[str], address: Mapping[str, str]
) -> str:
    """Sentences to click, best first; those that were written for this very photo are marked."""
    return written([h.item for h in hits], own, address, [bar(h, score) for h in hits])


def written(
    texts: Sequence[str],
    own: Collection[str],
    address: Mapping[str, str],
    bars: Sequence[str] = (),
) -> str:
    """Sentences to click, those of `own` marked, with their bars where there are some."""
    rows = []
    for i, (text, fit) in enumerate(zip_longest(texts, bars, fillvalue="")):
        mark = '<span class="mark">written for this photo</span>' if text in own else ""
        align = (
            f'<button type="button" class="to" data-event="apply" data-number="{i}" '
            f'aria-label="Align with the photo: {escape(tidy(text))}">Align</button>'
        )
        rows.append(f'<li>{_sentence(i, text)}{mark}<div class="beside">{fit}{align}</div></li>')
    return f'<ol class="sentences" data-address="{escape(urlencode(address))}">{"".join(rows)}</ol>'
