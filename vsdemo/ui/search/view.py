"""What the tab Search shows, as values of its templates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten

from markupsafe import Markup

from vsdemo.core.language import number, translate
from vsdemo.core.paths import printable
from vsdemo.data.galleries import Gallery
from vsdemo.search.engine import Engine
from vsdemo.search.query import parse_terms
from vsdemo.search.suggestions import UnreadWord
from vsdemo.ui.components.html import Bar, PhotoCard, photo_text, progress, tidy
from vsdemo.ui.components.templates import render
from vsdemo.ui.search.results import RESULTS, ShownResult, can_pick
from vsdemo.ui.search.state import SearchState

MAX_TEXT = 120  # characters of a sentence in a note


@dataclass(frozen=True)
class OwnFile:
    """The file of one of the user's own photos.

    Attributes:
        facts: Its name and, if it is indexed, date, camera, place, size and caption.
        number: Number of the photo in the gallery.
        path: Its path; empty on a public server.
    """

    facts: Sequence[str]
    number: int
    path: str


def detail(
    photo: str,
    captions: Sequence[str],
    *,
    text: str,
    bar: Bar | None,
    nearest: Sequence[PhotoCard],
    file: OwnFile | None = None,
) -> Markup:
    """Return one large photo with its captions and what to do with it.

    Args:
        photo: Address of the photo.
        captions: Captions of this photo, to click.
        text: Alternative text of the photo.
        bar: Its score for the query, if there is one.
        nearest: The nearest photos.
        file: Its file, if it is one of the visitor's own photos.
    """
    return render(
        "search/detail.html",
        photo=photo,
        text=text,
        captions=[tidy(caption) for caption in captions],
        bar=bar,
        nearest=nearest,
        file=file,
    )


def own_file(gallery: Gallery, photo: int) -> OwnFile | None:
    """Return the file of one of the user's own photos; None for a photo of a data set."""
    if not gallery.is_own:
        return None
    path = gallery.photos[photo]
    entry = gallery.entry(photo)
    facts: tuple[str, ...] = (printable(path.name),)
    if entry is not None:
        metadata = entry.metadata
        facts = (
            printable(entry.path),
            metadata.taken.replace("T", " ")[:16],
            metadata.camera,
            metadata.place,
            f"{number(entry.width)} x {number(entry.height)}",
            metadata.caption,
        )
    shown_path = printable(str(path)) if can_pick(gallery) else ""
    return OwnFile([fact for fact in facts if fact], photo, shown_path)


def unmatched_sentences(engine: Engine, state: SearchState) -> list[str]:
    """Return the sentences of the query that no photo matches.

    There are none as long as that is unknown, or other photos follow.
    """
    result = state.ongoing.ranking
    is_known = engine.knows_threshold and not engine.is_partial
    return engine.unmatched(result) if result is not None and is_known else []


def preparation(engine: Engine, state: SearchState, total: int, left: float | None) -> Markup:
    """Return the progress of a gallery whose first photos can be searched.

    Args:
        engine: An engine over the first photos.
        state: What is shown.
        total: Photos of the gallery.
        left: Seconds until all can be searched, if known.
    """
    count = len(engine.photos)
    label = translate("Preparing the other photos")
    if not state.hits:
        label = translate(
            "Type a sentence to search the first {count} photos; the others follow",
            count=number(count),
        )
    return progress(label, count, total, seconds_left=left, can_stop=True)


def unread_words(engine: Engine, state: SearchState) -> list[UnreadWord]:
    """Return the words of the sentences that the model has not learned; none for a photo."""
    texts = [str(term.source) for term in parse_terms(state.text)]
    return [word for text in texts for word in engine.unread_words(text)]


def summary(
    engine: Engine, state: SearchState, query_photo: str, unmatched: Sequence[str]
) -> Markup:
    """Return how many photos were searched by which model, and whether any matches.

    It belongs in the widget of the photos: a page that gets several updates at once may drop one,
    and would name the model of other photos.

    Args:
        engine: The engine of the results.
        state: What was searched for.
        query_photo: Address of the photo that is the query; empty if there is none.
        unmatched: Sentences that no photo matches.
    """
    result = state.ongoing.ranking
    return render(
        "search/summary.html",
        text=shorten(state.text, MAX_TEXT, placeholder=" …"),
        query_photo=query_photo,
        model=state.model,
        label=state.refinement.label,
        is_unsure=state.refinement.is_unsure,
        meaning="" if result is None else result.meaning,
        unmatched=", ".join(
            translate("“{text}”", text=shorten(text, MAX_TEXT, placeholder=" …"))
            for text in unmatched
        ),
        hits=len(state.hits),
        results=0 if result is None else len(result),
        photos=len(engine.photos) if result is None else result.candidates,
        is_filtered=not state.refinement.conditions.is_empty,
        is_region=state.refinement.within is not None,
        is_partial=engine.is_partial,
        unreadable=len(engine.unreadable),
    )


def results(engine: Engine, state: SearchState, gallery: Gallery, *, is_nearest: bool) -> Markup:
    """Return the first photos of a result, and a button that shows all.

    With `is_nearest`, none of them matches, and they are called and marked the nearest photos.
    """
    ranking = state.ongoing.ranking
    assert ranking is not None  # there are hits
    shown = ShownResult(ranking, gallery, photo_text(engine.gallery), is_nearest)
    return render(
        "search/results.html",
        name=RESULTS.add(shown),
        gallery=gallery.token,
        total=len(ranking),
        cards=shown.cards(0, len(state.hits), state.photo),
        kind="grid nearest" if is_nearest else "grid",
        can_pick=can_pick(gallery),
    )
