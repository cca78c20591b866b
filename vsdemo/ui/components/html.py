"""HTML that several tabs share: pure functions from records to text, everything escaped.

Whatever can be clicked is a <button> with `data-event` and `data-number`; `html.js` reports both.
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

PhotoAddress = Callable[[int, str], str]  # (number of a photo, "small" or "large") -> its address
PhotoText = Callable[[int], str]  # number of a photo -> its alternative text


def tidy(sentence: str) -> str:
    """Return a caption without the space that data sets have before punctuation."""
    return re.sub(r"\s+([.,;:!?])", r"\1", sentence)


def photo_text(photos: CaptionSet) -> PhotoText:
    """Return a function from a photo's number to its first caption, or to its file name."""

    def text(number: int) -> str:
        captions = photos.own_captions(number)
        return tidy(captions[0]) if captions else photos.photos[number].stem

    return text


def note(text: str) -> str:
    """Return a quiet line."""
    return f'<p class="note" role="status">{escape(text)}</p>'


def problem(text: str) -> str:
    """Return an error message, to show where the input was given."""
    return f'<p class="note problem" role="alert">{escape(text)}</p>'


def progress(
    label: str, done: int = 0, total: int = 0, number: Callable[[int], str] = "{:,}".format
) -> str:
    """Return a progress line, with a bar if `total` is known; `number` formats its numbers."""
    if not total:
        return f'<p class="note" role="status">{escape(label)} …</p>'
    return (
        f'<p class="note" role="status">{escape(label)}: {number(done)} of {number(total)}'
        f'<progress max="{total}" value="{done}" aria-label="{escape(label)}"></progress></p>'
    )


def message(text: str) -> str:
    """Return the one sentence of a page that has nothing to show, with `code` in backticks."""
    return f'<div class="message" role="status"><p>{with_code(text)}</p></div>'


def with_code(text: str) -> str:
    """Return text as HTML, with `code` for what is in backticks."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if i % 2 else part for i, part in enumerate(parts))


def skeleton(cards: int) -> str:
    """Return grey cards that reserve the space of photos."""
    card = '<li class="card"><span class="frame"></span><span class="bar"></span></li>'
    return f'<ul class="grid waiting" aria-hidden="true">{card * cards}</ul>'


def grey_lines(count: int) -> str:
    """Return grey lines that reserve the space of sentences."""
    return f'<ol class="sentences waiting" aria-hidden="true">{"<li></li>" * count}</ol>'


def bar(value: float, number: str, unit: str, meaning: str) -> str:
    """Return a thin bar with its number.

    Args:
        value: Length of the bar, 0 to 1; other values are clipped.
        number: The text beside it.
        unit: The unit behind the number; may be empty.
        meaning: What the number means, as a tooltip.
    """
    width = min(max(value, 0), 1)
    title = f' title="{escape(meaning)}"' if meaning else ""
    unit_html = f' <span class="unit">{escape(unit)}</span>' if unit else ""
    return (
        f'<span class="score-bar"{title}><span class="bar">'
        f'<span style="width:{width:.1%}"></span></span>'
        f'<span class="number">{number}</span>{unit_html}</span>'
    )


def score_bar(hit: Hit, score: Score) -> str:
    """Return the bar of a result, with what its score means as a tooltip."""
    return bar(hit.unit_score, f"{hit.unit_score:.2f}", score.unit, score.meaning)


def photo_grid(
    hits: Sequence[Hit],
    score: Score,
    address: PhotoAddress,
    text: PhotoText,
    *,
    chosen: int | None = None,
    kind: str = "grid",
) -> str:
    """Return results as photos to click, best first, each with its bar.

    Args:
        hits: The results.
        score: What their scores mean.
        address: Addresses of photos.
        text: Alternative texts of photos.
        chosen: Number of the photo that is marked.
        kind: CSS class, "grid" or "strip".
    """
    cards = []
    for hit in hits:
        label = f"Photo {hit.rank}, {score.unit} {hit.unit_score:.2f}: {text(hit.number)}"
        button = _photo_button(
            hit.number, address, label, text(hit.number), is_chosen=hit.number == chosen
        )
        cards.append(f'<li class="card">{button}{score_bar(hit, score)}</li>')
    return f'<ul class="{kind}">{"".join(cards)}</ul>'


def photo_picks(
    numbers: Sequence[int],
    address: PhotoAddress,
    text: PhotoText,
    *,
    label: str,
    chosen: int | None = None,
    kind: str = "picks",
) -> str:
    """Return photos to click, without a score.

    Args:
        numbers: Numbers of the photos.
        address: Addresses of photos.
        text: Alternative texts of photos.
        label: What a click does; read out before the photo's text.
        chosen: Number of the photo that is marked.
        kind: CSS class, "picks" or "grid".
    """
    cards = []
    for number in numbers:
        button = _photo_button(
            number,
            address,
            f"{label}: {text(number)}",
            text(number),
            is_chosen=number == chosen,
        )
        cards.append(f'<li class="card">{button}</li>')
    return f'<ul class="{kind}">{"".join(cards)}</ul>'


def _photo_button(
    number: int, address: PhotoAddress, label: str, text: str, *, is_chosen: bool
) -> str:
    current = ' aria-current="true"' if is_chosen else ""
    return (
        f'<button type="button" class="frame" data-event="select" '
        f'data-number="{number}"{current} aria-label="{escape(label)}">'
        f'<img src="{address(number, "small")}" alt="{escape(text)}" '
        'loading="lazy" decoding="async"></button>'
    )


def photo_detail(
    photo: str,
    captions: Sequence[str],
    *,
    score: str,
    nearest: str,
    address: Mapping[str, str],
) -> str:
    """Return one large photo with its captions and what to do with it.

    Args:
        photo: Address of the photo.
        captions: Captions of this photo, to click.
        score: HTML of its score for the query; may be empty.
        nearest: HTML of the nearest photos; may be empty.
        address: What the address bar of the browser shows.
    """
    items = "".join(f"<li>{sentence_button(i, c)}</li>" for i, c in enumerate(captions))
    captions_html = (
        f'<h3>Written for this photo</h3><ul class="written">{items}</ul>' if items else ""
    )
    nearest_html = f"<h3>Nearest photos</h3>{nearest}" if nearest else ""
    alt = captions[0] if captions else "The selected photo"
    return (
        f'<article class="detail" data-address="{escape(urlencode(address))}">'
        f'<div class="large"><img src="{photo}" alt="{escape(alt)}"></div>'
        f'<div class="action-row">{score}'
        '<button type="button" class="action-button" data-event="apply">Align</button>'
        '<button type="button" class="action-button" data-event="submit">Describe</button>'
        '<button type="button" class="action-button" data-event="expand">Hierarchy</button></div>'
        f"{captions_html}{nearest_html}</article>"
    )


def sentence_button(number: int, text: str) -> str:
    """Return a sentence that searches for photos when it is clicked."""
    return (
        f'<button type="button" class="sentence" data-event="click" data-number="{number}" '
        f'title="Find photos for this sentence">{escape(tidy(text))}</button>'
    )


def ranked_sentences(
    hits: Sequence[Hit], score: Score, own: Collection[str], address: Mapping[str, str]
) -> str:
    """Return results as sentences to click, best first; see `sentence_list`."""
    bars = [score_bar(hit, score) for hit in hits]
    return sentence_list([hit.item for hit in hits], own, address, bars)


def sentence_list(
    texts: Sequence[str],
    own: Collection[str],
    address: Mapping[str, str],
    bars: Sequence[str] = (),
) -> str:
    """Return sentences to click, each with a button that aligns it with the photo.

    Args:
        texts: The sentences.
        own: Captions of the photo itself, which are marked.
        address: What the address bar of the browser shows.
        bars: HTML of their bars; may be empty.
    """
    rows = []
    for i, (text, bar_html) in enumerate(zip_longest(texts, bars, fillvalue="")):
        mark = '<span class="mark">written for this photo</span>' if text in own else ""
        align = (
            f'<button type="button" class="text-button" data-event="apply" data-number="{i}" '
            f'aria-label="Align with the photo: {escape(tidy(text))}">Align</button>'
        )
        rows.append(
            f"<li>{sentence_button(i, text)}{mark}"
            f'<div class="score-row">{bar_html}{align}</div></li>'
        )
    return f'<ol class="sentences" data-address="{escape(urlencode(address))}">{"".join(rows)}</ol>'
