"""Parts of pages that several tabs share: from records of the app to values of templates."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, zip_longest
from typing import Protocol

from markupsafe import Markup

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.hits import BarScale, Hit
from vsdemo.core.language import number, translate
from vsdemo.core.paths import printable
from vsdemo.ui.components.templates import render

PhotoAddress = Callable[[int, str], str]  # (number of a photo, "small" or "large") -> its address
ADDRESSES = count()  # distinguishes an address that Gradio sends twice from a new one
PhotoText = Callable[[int], str]  # number of a photo -> its alternative text


class Meaning(Protocol):
    """What the scores of a model, or of a query of several parts, mean."""

    @property
    def unit(self) -> str:
        """Unit of the scores."""

    @property
    def meaning(self) -> str:
        """What they mean, in a sentence."""


@dataclass(frozen=True)
class Bar:
    """A thin bar with its number.

    Attributes:
        share: Length of the bar, 0 to 1.
        number: The text beside it.
        unit: The unit behind the number; may be empty.
        meaning: What the number means, as a tooltip; may be empty.
    """

    share: float
    number: str
    unit: str = ""
    meaning: str = ""

    @classmethod
    def of(cls, value: float, unit: str, meaning: str, scale: BarScale | None = None) -> Bar:
        """Return the bar of a value from 0 to 1.

        Its length is that on the scale, if there is one; the number is always the value itself.
        """
        unit, meaning = translate(unit), translate(meaning)
        if scale is None:
            return cls(min(max(value, 0.0), 1.0), number(value, 2), unit, meaning)
        ends = translate(
            "The bar is empty at {empty} (9 of 10 unrelated pairs score lower) and full at {full} "
            "(the score of the best pairs).",
            empty=number(scale.empty, scale.decimals),
            full=number(scale.full, scale.decimals),
        )
        return cls(
            share=scale.share(value),
            number=number(value, scale.decimals),
            unit=unit,
            meaning=f"{meaning} {ends}",
        )

    @classmethod
    def of_hit(cls, hit: Hit, score: Meaning) -> Bar:
        """Return the bar of a result."""
        return cls.of(hit.unit_score, score.unit, score.meaning, hit.scale)


@dataclass(frozen=True)
class PhotoCard:
    """A photo to click.

    Attributes:
        number: What a click reports.
        address: Address of the photo.
        label: What it is and what a click does, for screen readers.
        alt: What is in the photo.
        current: Whether it is marked as chosen.
        bar: Its score.
        copies: How many photos that are nearly the same are left out.
        keep_scroll: Whether the page keeps its scroll position on a click.
    """

    number: int
    address: str
    label: str
    alt: str
    current: bool = False
    bar: Bar | None = None
    copies: int = 0
    keep_scroll: bool = False


@dataclass(frozen=True)
class Address:
    """What the address bar of the browser is to show.

    Attributes:
        values: The parts of the address.
        upload: Token of a visitor's photo, which the address leaves out; empty if there is none.
    """

    values: Mapping[str, str]
    upload: str = ""

    def render(self, restored: int = 0) -> Markup:
        """Return the address for the page.

        Args:
            restored: How often Back or Forward had been used when the answer with this address
                began. The page does not follow the address of an earlier answer.
        """
        return render(
            "components/address.html",
            address=self.values,
            upload=self.upload,
            number=next(ADDRESSES),
            restored=restored,
        )


@dataclass(frozen=True)
class SentenceRow:
    """A sentence to click, whether it was written for the photo, and its score."""

    text: str
    is_own: bool = False
    bar: Bar | None = None


def tidy(sentence: str) -> str:
    """Return a caption without the space that data sets have before punctuation."""
    return re.sub(r"\s+([.,;:!?])", r"\1", sentence)


def photo_text(photos: CaptionSet) -> PhotoText:
    """Return a function from a photo's number to what is in it.

    That is its first caption or, without captions, the words of its file name and its number.
    """

    def text(photo: int) -> str:
        if captions := photos.own_captions(photo):
            return tidy(captions[0])
        name = " ".join(re.split(r"[\s_\-.]+", printable(photos.photos[photo].stem))).strip()
        place = translate(
            "photo {place} of {total}", place=number(photo + 1), total=number(len(photos.photos))
        )
        return f"{name}, {place}" if name else place

    return text


def upload_text(sentence: str = "") -> str:
    """Return the alternative text of a visitor's photo, with the sentence that describes it."""
    if not sentence:
        return translate("Your photo")
    return translate("Your photo: {sentence}", sentence=tidy(sentence))


def about(text: str) -> Markup:
    """Return the line that says what a tab shows."""
    return render("components/about.html", text=text)


def note(text: str) -> Markup:
    """Return a quiet line."""
    return render("components/note.html", text=text, is_problem=False)


def problem(text: str) -> Markup:
    """Return an error message, to show where the input was given."""
    return render("components/note.html", text=text, is_problem=True)


def duration(seconds: float) -> str:
    """Return a duration, rounded to a readable unit."""
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 5400 else f"{number(whole / 3600, 1)} h"


def examples(texts: Sequence[str]) -> Markup:
    """Return texts to try, to click."""
    return render("components/examples.html", texts=texts)


def progress(
    label: str,
    done: int = 0,
    total: int = 0,
    *,
    count: Callable[[int], str] = number,
    seconds_left: float | None = None,
    can_stop: bool = False,
) -> Markup:
    """Return a progress line.

    Args:
        label: What the app is doing.
        done: Items that are done.
        total: All items; 0 while it is unknown, then there is no bar.
        count: Formats the numbers of items.
        seconds_left: The remaining seconds, if known.
        can_stop: Whether the line has a button that reports a `stop` event.
    """
    return render(
        "components/progress.html",
        label=translate(label),
        done=done,
        total=total,
        count=count,
        left="" if seconds_left is None else duration(seconds_left),
        can_stop=can_stop,
    )


def message(text: str) -> Markup:
    """Return the one sentence of a page that has nothing to show, with `code` in backticks."""
    return render("components/message.html", text=text)


def skeleton(cards: int) -> Markup:
    """Return grey cards that reserve the space of photos."""
    return render("components/skeleton.html", cards=cards)


def grey_lines(count: int) -> Markup:
    """Return grey lines that reserve the space of sentences."""
    return render("components/grey_lines.html", count=count)


def with_code(text: str) -> Markup:
    """Return text as HTML, with `code` for what is in backticks."""
    return render("components/with_code.html", text=text)


def hit_cards(
    hits: Sequence[Hit],
    score: Meaning,
    address: PhotoAddress,
    text: PhotoText,
    chosen: int | None = None,
    *,
    label: str = "Photo",
) -> list[PhotoCard]:
    """Return the photos of results, best first, each with its score.

    Args:
        hits: The results.
        score: What their scores mean; without a unit they have no bars.
        address: Addresses of photos.
        text: Alternative texts of photos.
        chosen: Number of the photo that is marked.
        label: What a photo is, in English; read out before its rank.
    """
    cards = []
    for hit in hits:
        bar = Bar.of_hit(hit, score) if score.unit else None
        score_text = f", {bar.unit} {bar.number}" if bar else ""
        card = PhotoCard(
            number=hit.number,
            address=address(hit.number, "small"),
            label=f"{translate(label)} {hit.rank}{score_text}: {text(hit.number)}",
            alt=text(hit.number),
            current=hit.number == chosen,
            bar=bar,
        )
        cards.append(card)
    return cards


def photo_picks(
    numbers: Sequence[int],
    address: PhotoAddress,
    text: PhotoText,
    *,
    label: str,
    chosen: int | None = None,
    kind: str = "picks",
) -> Markup:
    """Return photos to click, without a score.

    Args:
        numbers: Numbers of the photos.
        address: Addresses of photos.
        text: Alternative texts of photos.
        label: What a click does; read out before the photo's text.
        chosen: Number of the photo that is marked.
        kind: CSS class, "picks" or "grid".
    """
    cards = [
        PhotoCard(
            number=number,
            address=address(number, "small"),
            label=f"{translate(label)}: {text(number)}",
            alt=text(number),
            current=number == chosen,
        )
        for number in numbers
    ]
    return render("components/photo_cards.html", cards=cards, kind=kind, can_pick=False)


def ranked_sentences(hits: Sequence[Hit], score: Meaning, own: Collection[str]) -> Markup:
    """Return results as sentences to click, best first; see `sentence_list`."""
    bars = [Bar.of_hit(hit, score) for hit in hits]
    return sentence_list([hit.item for hit in hits], own, bars)


def sentence_list(
    texts: Sequence[str],
    own: Collection[str],
    bars: Sequence[Bar] = (),
) -> Markup:
    """Return sentences to click, each with a button that aligns it with the photo.

    Args:
        texts: The sentences.
        own: Captions of the photo itself, which are marked.
        bars: Their scores, if there are any.
    """
    rows = [SentenceRow(tidy(text), text in own, bar) for text, bar in zip_longest(texts, bars)]
    return render("components/sentence_list.html", rows=rows)
