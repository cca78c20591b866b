"""Helpers of callbacks: progress while a value loads, errors as one sentence, clicks."""

from __future__ import annotations

import functools
import inspect
import logging
import random
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import wait
from time import monotonic
from typing import Any, TypeVar

import gradio as gr
from markupsafe import Markup

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.language import message, translate
from vsdemo.core.paths import shorten_paths
from vsdemo.search.engine import Engine
from vsdemo.search.index import Index
from vsdemo.search.suggestions import UnreadWord
from vsdemo.ui import images
from vsdemo.ui.components import html, words
from vsdemo.ui.library import Library
from vsdemo.ui.library.pending import Pending, Status
from vsdemo.ui.requests import Requests

T = TypeVar("T")
Update = dict[Any, Any]  # widget -> its new value
Updates = Generator[Update, None, None]
# Options of event listeners, without Gradio's spinner and its API. An event that arrives while the
# previous one is being handled is ignored (QUIET), handled after it (LATEST), or handled at once
# (NEWEST): then the callback's requests need a channel, in which only the newest is answered.
QUIET: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
LATEST: dict[str, Any] = {**QUIET, "trigger_mode": "always_last"}
NEWEST: dict[str, Any] = {**QUIET, "trigger_mode": "multiple"}
DIGITS = 16  # of the number of a page's request, at most
AT_ONCE = 0.1  # seconds without a progress line, so that a value that is ready does not flicker
TICK = 0.25  # seconds between two updates of the progress
PATIENCE = 1  # seconds that a page may wait before it shows something
UNEXPECTED = message("Something went wrong in the app. The previous results are still here.")
GONE = message("That item is no longer on the page; choose another one.")
STOPPED = message("Stopped.")
REQUESTS = Requests()
log = logging.getLogger(__name__)


def report_errors(
    note: gr.HTML,
    channel: str = "",
    *,
    ended_by: Sequence[str] = (),
    tab: str = "",
    place: Sequence[Any] = (),
) -> Callable[[Callable[..., Updates]], Callable[..., Updates]]:
    """Return a decorator that shows a callback's errors in `note`, and nowhere else.

    All other widgets stay as they are. The decorated callback takes the request of the page first;
    the callback itself gets it too if it has a keyword `page`.

    Args:
        note: Where errors are shown.
        channel: What the callback fills on the page. A newer request of the same page and channel
            ends an older one: nothing of the older one arrives any more, and its work is cancelled
            unless another request wants it. A request that shows nothing ends no other. Empty for a
            callback that always runs to its end.
        ended_by: Other channels, whose newer requests end this one, too.
        tab: Key of the tab that the callback belongs to.
        place: Widgets that only callbacks of the open tab may change, and none that began before
            Back or Forward were used.
    """

    def decorate(callback: Callable[..., Updates]) -> Callable[..., Updates]:
        signature = inspect.signature(callback, eval_str=True)
        takes_page = "page" in signature.parameters

        @functools.wraps(callback)
        def run(page: gr.Request, *args: Any) -> Updates:
            session = str(page.session_hash)
            ending = [(session, other) for other in ended_by]
            number = _request_number(page)
            request = REQUESTS.begin((session, channel), ending, number=number) if channel else None
            restored = REQUESTS.restored(session)
            nothing: Update = {note: gr.skip()}  # Gradio empties widgets that get no value
            updates = callback(*args, **({"page": page} if takes_page else {}))
            try:
                for update in updates:
                    if request and not request.take_channel():
                        break
                    is_here = REQUESTS.tab(session) in (None, tab)
                    if place and not (is_here and REQUESTS.restored(session) == restored):
                        others = {w: value for w, value in update.items() if w not in place}
                        update = others or nothing
                    yield {
                        widget: value.render(restored) if isinstance(value, html.Address) else value
                        for widget, value in update.items()
                    }
            except Exception as error:
                if request is None or request.take_channel():
                    if not isinstance(error, UserError):
                        log.exception("%s failed", callback.__qualname__)
                    text = shorten_paths(str(error)) if isinstance(error, UserError) else UNEXPECTED
                    yield {note: html.problem(translate(text))}
            finally:
                updates.close()
            # At the end of a callback Gradio sends the last values again: these change nothing.
            yield nothing

        # Gradio finds gr.Request and gr.EventData by their annotations, which are strings here.
        own = [p for p in signature.parameters.values() if p.name != "page"]
        page = inspect.Parameter(
            "page", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=gr.Request
        )
        parameters = [page, *own]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def _request_number(page: gr.Request) -> int | None:
    """Return the number that the page's script stream.js has given to a request, if it has."""
    number = page.headers.get("x-request-number", "")
    return int(number) if number.isdecimal() and len(number) < DIGITS else None


def progress(status: Status) -> Markup:
    """Return the progress line of work in the background."""
    return html.progress(
        status.label,
        status.done,
        status.total,
        seconds_left=status.seconds_left,
        can_stop=True,
    )


def wait_for(note: gr.HTML, pending: Pending[T]) -> Generator[Update, None, T]:
    """Wait for a value, showing its status in `note`, and return it.

    The value is wanted until then, or until the generator is closed.
    """
    with pending.wanted():
        wait([pending.future], AT_ONCE)
        while not pending.future.done():
            yield {note: progress(pending.status)}
            wait([pending.future], TICK)
        return pending.result()


def wait_for_more(
    note: gr.HTML,
    pending: Pending[T],
    seen: T | None = None,
    line: Callable[[Status], Markup] = progress,
) -> Generator[Update, None, T]:
    """Wait for the value or a partial one other than `seen`, and return it.

    Args:
        note: Where the status is shown.
        pending: The value.
        seen: The last partial value; None to get any.
        line: Returns what to show of the status meanwhile.
    """
    with pending.wanted():
        wait([pending.future], AT_ONCE)
        while (value := pending.newest) is None or value is seen:
            yield {note: line(pending.status)}
            wait([pending.future], TICK)
        return value


def stop(note: gr.HTML) -> Callable[[], Updates]:
    """Return a callback that replaces an unfinished request, and does nothing else."""

    def callback() -> Updates:
        yield {note: html.note(translate(STOPPED))}

    return callback


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
    """Whether photos can be searched within PATIENCE seconds of `since`, a time of `monotonic`."""
    pending = library.engine(model, gallery)
    until = since + PATIENCE
    while pending.partial is None and (left := until - monotonic()) > 0:
        if wait([pending.future], min(left, AT_ONCE)).done:
            break
    return pending.is_usable


def event_data(event: gr.EventData) -> dict[str, Any]:
    """Return what the page sent with an event; empty if it is malformed."""
    data = event._data  # noqa: SLF001 (Gradio has no public name for it)
    return data if isinstance(data, dict) else {}


def clicked_name(event: gr.EventData) -> str:
    """Return the name of what was clicked; empty without one."""
    name = event_data(event).get("name")
    return name if isinstance(name, str) else ""


def corrected_text(event: gr.EventData, text: str, unread: Sequence[UnreadWord]) -> str:
    """Return a sentence after replacing an unread word with the clicked one.

    Raises UserError as `clicked_number` does.
    """
    offered = words.corrections(text, unread)
    return offered[clicked_number(event, len(offered))].text


def clicked_number(event: gr.EventData, count: int) -> int:
    """Return the number that was clicked. Raises UserError unless it is one of 0 ... count - 1."""
    number = event_data(event).get("number")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < count:
        raise UserError(GONE)
    return number
