"""What the page shows of answers."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from vsdemo.core.language import message, number, translate
from vsdemo.search.description import likely_text
from vsdemo.search.suggestions import UnreadWord
from vsdemo.serving.api_records import DescribeAnswer, PhotoHit, SearchAnswer
from vsdemo.ui.backend.photos import address
from vsdemo.ui.components import html
from vsdemo.ui.components.html import Bar, PhotoCard
from vsdemo.ui.components.templates import render

SCORE = message("The model's own score, mapped to 0..1.")


def unread_words(answer: SearchAnswer) -> list[UnreadWord]:
    """Return the words of the sentence that the model has not learned, with words to try."""
    unknown = answer.unknown_words
    return [
        UnreadWord(word, is_ignored=word in unknown, near=tuple(answer.suggestions.get(word, ())))
        for word in dict.fromkeys([*unknown, *answer.suggestions])
    ]


def summary(answer: SearchAnswer, shown: int) -> Markup:
    """Return how many photos were searched and by which model, and whether any matches."""
    values = {"shown": number(shown), "photos": number(answer.photos), "model": answer.model}
    text = translate("Best {shown} of {photos} photos by {model}.", **values)
    if not answer.matches:
        text = translate(
            "Nothing here matches this well. These are the nearest {shown} of {photos} photos by "
            "{model}.",
            **values,
        )
    return html.note(text)


def grid(hits: Sequence[PhotoHit], unit: str, chosen: int) -> Markup:
    """Return the photos of a result to click; a click reports the place of one."""
    cards = [
        PhotoCard(
            number=place,
            address=address(hit, "small"),
            label=translate("Photo {rank}: {photo}", rank=hit.rank, photo=hit.photo),
            alt=hit.photo,
            current=place == chosen,
            bar=_bar(hit.unit_score, unit),
        )
        for place, hit in enumerate(hits)
    ]
    return render("components/photo_cards.html", cards=cards, kind="grid", can_pick=False)


def detail(hit: PhotoHit, unit: str) -> Markup:
    """Return one large photo, with its name and score."""
    bar = _bar(hit.unit_score, unit)
    return render("backend/detail.html", photo=address(hit, "large"), name=hit.photo, bar=bar)


def sentences(answer: DescribeAnswer) -> Markup:
    """Return the sentences that describe a photo, best first."""
    rows = [(html.tidy(hit.sentence), _bar(hit.unit_score, answer.unit)) for hit in answer.hits]
    count, model = number(len(rows)), answer.model
    text = translate("Best {count} sentences by {model}.", count=count, model=model)
    likely = Markup() if answer.likely is None else html.note(likely_text(answer.likely))
    return likely + html.note(text) + render("backend/sentences.html", rows=rows)


def _bar(unit_score: float, unit: str) -> Bar | None:
    return Bar.of(unit_score, unit, SCORE) if unit else None
