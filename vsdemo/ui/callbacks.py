"""How callbacks answer: waiting is told, bad input is one sentence, nothing ever is a traceback."""

from __future__ import annotations

import functools
import inspect
import logging
import random
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, wait
from html import escape
from time import monotonic
from typing import Any, TypeVar

import gradio as gr

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.search.engine import Engine, Reader
from vsdemo.search.index import Index
from vsdemo.ui import images
from vsdemo.ui.components import html
from vsdemo.ui.library import Library
from vsdemo.ui.library.pending import Reading, Work

T = TypeVar("T")
Update = dict[Any, Any]  # widget -> its new value
Answer = Iterator[Update]
TICK = 0.25  # seconds between two looks at how far the work is
PATIENCE = 1  # seconds that a page may stay as it is before it shows what there is
UNEXPECTED = "That did not work, and the fault is the app's; what was shown before is still here."
log = logging.getLogger(__name__)


def telling(note: gr.HTML) -> Callable[[Callable[..., Answer]], Callable[..., Answer]]:
    """Makes a callback say in `note`, and in a toast, what went wrong; all else stays as it was."""

    def wrap(callback: Callable[..., Answer]) -> Callable[..., Answer]:
        @functools.wraps(callback)
        def run(*args: Any) -> Answer:
            shown: Update = {note: gr.skip()}  # Gradio empties the widgets of a silent callback
            try:
                yield shown
                for update in callback(*args):
                    # All of it again: of updates in quick succession the page drops some.
                    shown = {**shown, **update}
                    yield shown
            except UserError as error:
                yield {**shown, note: _told(str(error))}
            except Exception:
                log.exception("%s failed", callback.__qualname__)
                yield {**shown, note: _told(UNEXPECTED)}

        # Gradio finds arguments such as gr.EventData by their annotations, which here are text.
        run.__signature__ = inspect.signature(callback, eval_str=True)  # type: ignore[attr-defined]
        return run

    return wrap


def _told(sentence: str) -> str:
    gr.Warning(escape(sentence), title="Please note")
    return html.problem(sentence)


def _wait(note: gr.HTML, work: Work, future: Future[T]) -> Generator[Update, None, T]:
    try:
        return future.result(timeout=0.1)  # most often it is there: nothing flickers
    except TimeoutError:
        pass
    while not future.done():
        yield {note: html.progress(work.what, work.done, work.of)}
        try:
            return future.result(timeout=TICK)
        except TimeoutError:
            continue
    return future.result()


def photos(library: Library, note: gr.HTML, gallery: str) -> Generator[Update, None, CaptionSet]:
    """The photos and captions of a gallery, telling in `note` how far they are."""
    opening = library.opening(gallery)
    return (yield from _wait(note, opening, opening.photos))


def some(
    library: Library, note: gr.HTML, gallery: str, count: int
) -> Generator[Update, None, tuple[list[int], html.Source, html.Words]]:
    """Numbers of some photos of a gallery, where they are and what stands for them."""
    found = yield from photos(library, note, gallery)
    numbers = random.sample(range(len(found.photos)), min(count, len(found.photos)))
    return numbers, images.source(library.galleries[gallery].token), html.words_of(found)


def soon(library: Library, model: str, gallery: str, since: float) -> bool:
    """Whether the engine is there before somebody who waits since then gets impatient."""
    future = library.loading(model, gallery).engine
    wait([future], max(0, since + PATIENCE - monotonic()))
    return future.done() and future.exception() is None


def engine(
    library: Library, note: gr.HTML, model: str, gallery: str
) -> Generator[Update, None, Engine]:
    """The engine, telling in `note` how far it is."""
    loading = library.loading(model, gallery)
    yield from photos(library, note, gallery)
    return (yield from _wait(note, loading, loading.engine))


def captions(
    library: Library, note: gr.HTML, model: str, gallery: str
) -> Generator[Update, None, Index]:
    """The engine's embedded captions, telling in `note` how far they are."""
    loading = library.loading(model, gallery)
    yield from _wait(note, loading, loading.engine)
    return (yield from _wait(note, loading, library.captions(loading)))


def reading(library: Library, note: gr.HTML, model: str) -> Generator[Update, None, Reading]:
    """What describes a photo from elsewhere, telling in `note` how far it is."""
    found = library.reading(model)
    yield from _wait(note, found, found.reader)
    return found


def aligning(
    library: Library, note: gr.HTML, model: str, gallery: str
) -> Generator[Update, None, Reading]:
    """What aligns a sentence with a photo, telling in `note` how far it is."""
    found = library.aligning(model, gallery)
    yield from _wait(note, found, found.reader)
    return found


def readers(library: Library, note: gr.HTML) -> Generator[Update, None, dict[str, Reader | str]]:
    """Every model or why it cannot be read, telling in `note` how far they are."""
    found = library.gathering()
    return (yield from _wait(note, found, found.readers))


def settled(note: gr.HTML, work: Work, future: Future[T]) -> Generator[Update, None, T]:
    """What some work brings, telling in `note` how far it is."""
    return (yield from _wait(note, work, future))


def number(event: gr.EventData, count: int) -> int:
    """The number that was clicked. Raises UserError unless it is one of 0 ... count - 1."""
    data = event._data if isinstance(event._data, dict) else {}
    found = data.get("number")
    if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < count:
        raise UserError("What was clicked is no longer on the page; choose another.")
    return found
