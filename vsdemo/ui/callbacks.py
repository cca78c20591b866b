"""Helpers of callbacks: progress while a value loads, errors as one sentence, clicks."""

from __future__ import annotations

import functools
import inspect
import logging
import random
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import wait
from time import monotonic
from typing import Any, TypeVar

import gradio as gr
from markupsafe import Markup

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.search.engine import Engine
from vsdemo.search.index import Index
from vsdemo.ui import images
from vsdemo.ui.components import html
from vsdemo.ui.library import Library
from vsdemo.ui.library.pending import Pending

T = TypeVar("T")
Update = dict[Any, Any]  # widget -> its new value
Updates = Iterator[Update]
# Options of event listeners: without Gradio's spinner and its API; LATEST also handles an event
# that arrives while the previous one is being handled.
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
LATEST: dict[str, Any] = {**QUIET, "trigger_mode": "always_last"}
AT_ONCE = 0.1  # seconds without a progress line, so that a value that is ready does not flicker
TICK = 0.25  # seconds between two updates of the progress
PATIENCE = 1  # seconds that a page may wait before it shows something
UNEXPECTED = "Something went wrong in the app. The previous results are still here."
GONE = "That item is no longer on the page; choose another one."
log = logging.getLogger(__name__)


def report_errors(note: gr.HTML) -> Callable[[Callable[..., Updates]], Callable[..., Updates]]:
    """Return a decorator that shows a callback's errors in `note` and in a toast.

    All other widgets stay as they are.
    """

    def decorate(callback: Callable[..., Updates]) -> Callable[..., Updates]:
        @functools.wraps(callback)
        def run(*args: Any) -> Updates:
            current: Update = {note: gr.skip()}  # Gradio empties widgets that get no value
            try:
                yield current
                for update in callback(*args):
                    # Repeat earlier values: of updates in quick succession the page drops some.
                    current = {**current, **update}
                    yield current
            except UserError as error:
                yield {**current, note: _warn(str(error))}
            except Exception:
                log.exception("%s failed", callback.__qualname__)
                yield {**current, note: _warn(UNEXPECTED)}

        # Gradio finds arguments such as gr.EventData by their annotations, which are strings here.
        signature = inspect.signature(callback, eval_str=True)
        run.__signature__ = signature  # type: ignore[attr-defined]
        return run

    return decorate


def _warn(sentence: str) -> Markup:
    gr.Warning(html.toast(sentence), title="Please note")
    return html.problem(sentence)


def wait_for(note: gr.HTML, pending: Pending[T]) -> Generator[Update, None, T]:
    """Wait for a value, showing its status in `note`, and return it."""
    wait([pending.future], AT_ONCE)
    while not pending.future.done():
        status = pending.status
        yield {note: html.progress(status.label, status.done, status.total)}
        wait([pending.future], TICK)
    return pending.result()


def load_engine(
    library: Library, note: gr.HTML, model: str, gallery: str
) -> Generator[Update, None, Engine]:
    """Wait for a gallery and then for an engine over it, and return the engine."""
    pending = library.engine(model, gallery)
    yield from wait_for(note, library.photos(gallery))
    return (yield from wait_for(note, pending))


def load_captions(
    library: Library, note: gr.HTML, model: str, gallery: str
) -> Generator[Update, None, Index]:
    """Wait for an engine and then for its embedded captions, and return these."""
    yield from wait_for(note, library.engine(model, gallery))
    return (yield from wait_for(note, library.captions(model, gallery)))


def sample_photos(
    library: Library, note: gr.HTML, gallery: str, count: int
) -> Generator[Update, None, tuple[list[int], html.PhotoAddress, html.PhotoText]]:
    """Return numbers of random photos of a gallery, and functions for their address and text."""
    captions: CaptionSet = yield from wait_for(note, library.photos(gallery))
    size = len(captions.photos)
    numbers = random.sample(range(size), min(count, size))
    return numbers, images.addresses(library.galleries[gallery].token), html.photo_text(captions)


def is_ready_soon(library: Library, model: str, gallery: str, *, since: float) -> bool:
    """Whether an engine is loaded within PATIENCE seconds of `since`, a time of `monotonic`."""
    future = library.engine(model, gallery).future
    wait([future], max(0, since + PATIENCE - monotonic()))
    return future.done() and future.exception() is None


def event_data(event: gr.EventData) -> dict[str, Any]:
    """Return what the page sent with an event; empty if it is malformed."""
    data = event._data  # noqa: SLF001 (Gradio has no public name for it)
    return data if isinstance(data, dict) else {}


def clicked_number(event: gr.EventData, count: int) -> int:
    """Return the number that was clicked. Raises UserError unless it is one of 0 ... count - 1."""
    number = event_data(event).get("number")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < count:
        raise UserError(GONE)
    return number
