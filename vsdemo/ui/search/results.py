"""Serves the results of searches part by part, so that a page can scroll through all of them.

Each result has a name that nobody can guess, as only its page may read it. Paths of photos are sent
only on the visitor's own machine.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from threading import Lock

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from vsdemo.core.errors import UserError
from vsdemo.core.language import message
from vsdemo.core.paths import printable
from vsdemo.data.galleries import Gallery
from vsdemo.search.ranking import Ranking
from vsdemo.serving import desktop
from vsdemo.serving.access import is_public
from vsdemo.ui import images
from vsdemo.ui.components import html
from vsdemo.ui.components.html import PhotoText
from vsdemo.ui.components.templates import render

MAX_PHOTOS = 2_000_000  # in all results that are kept, of all pages; each takes 16 bytes
MAX_CARDS = 200  # in an answer
MAX_PATHS = 100_000
HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}


@dataclass(frozen=True)
class ShownResult:
    """The result of a search on a page.

    Attributes:
        ranking: The photos in order.
        gallery: Their gallery.
        text: Alternative texts of the photos.
        is_nearest: Whether none of them matches.
    """

    ranking: Ranking
    gallery: Gallery
    text: PhotoText
    is_nearest: bool

    def cards(self, start: int, count: int, chosen: int | None = None) -> list[html.PhotoCard]:
        """Return `count` photos, starting with the one at `start`."""
        cards = html.hit_cards(
            self.ranking.hits(start, count),
            self.ranking,
            images.addresses(self.gallery.token),
            self.text,
            chosen,
            label=message("Nearest photo") if self.is_nearest else message("Photo"),
        )
        if self.ranking.copies is None:
            return cards
        copies = self.ranking.copies[start : start + count].tolist()
        return [replace(card, copies=count) for card, count in zip(cards, copies, strict=True)]


def can_pick(gallery: Gallery) -> bool:
    """Whether the photos of a gallery can be selected, to do something with their files."""
    return gallery.is_own and not is_public()


class Results:
    """The newest results, by name."""

    def __init__(self) -> None:
        self._results: OrderedDict[str, ShownResult] = OrderedDict()
        self._photos = 0
        self._lock = Lock()

    def add(self, result: ShownResult) -> str:
        """Keep a result, and return its name."""
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._results[name] = result
            self._photos += len(result.ranking)
            while self._photos > MAX_PHOTOS and len(self._results) > 1:
                _, oldest = self._results.popitem(last=False)
                self._photos -= len(oldest.ranking)
        return name

    def get(self, name: str) -> ShownResult | None:
        """Return a result; None if it is unknown or was dropped."""
        with self._lock:
            return self._results.get(name)


RESULTS = Results()


def routes() -> list[Route]:
    """Return the routes below /results/{name}."""

    def route(
        path: str, answer: Callable[[ShownResult, Request], Awaitable[Response]], method: str
    ) -> Route:
        async def endpoint(request: Request) -> Response:
            result = RESULTS.get(request.path_params["name"])
            if result is None or (method == "POST" and not can_pick(result.gallery)):
                return Response(status_code=HTTPStatus.NOT_FOUND, headers=HEADERS)
            try:
                return await answer(result, request)
            except UserError as error:
                return PlainTextResponse(str(error), HTTPStatus.BAD_REQUEST, headers=HEADERS)

        return Route(f"/results/{{name}}/{path}", endpoint, methods=[method])

    return [
        route("cards", _cards, "GET"),
        route("numbers", _numbers, "GET"),
        route("paths", _paths, "POST"),
        route("show", _show, "POST"),
    ]


async def _cards(result: ShownResult, request: Request) -> Response:
    """Return cards as HTML, starting at `start`, at most `count` of them."""
    start, count = (_number(request.query_params.get(name)) for name in ("start", "count"))
    cards = result.cards(start, min(count, MAX_CARDS))
    content = render(
        "components/photo_cards.html", cards=cards, kind="", can_pick=can_pick(result.gallery)
    )
    return HTMLResponse(content, headers=HEADERS)


async def _numbers(result: ShownResult, _: Request) -> Response:
    """Return the numbers of all photos in order, as 32-bit integers (little-endian)."""
    content = result.ranking.numbers.numpy().astype("<i4").tobytes()
    return Response(content, media_type="application/octet-stream", headers=HEADERS)


async def _paths(result: ShownResult, request: Request) -> Response:
    """Return the paths of photos, one a line; the body has their numbers as 32-bit integers."""
    photos = result.gallery.photos
    numbers = np.frombuffer(await request.body(), "<i4")[:MAX_PATHS].tolist()
    lines = [printable(str(photos[n])) for n in numbers if 0 <= n < len(photos)]
    return PlainTextResponse("\n".join(lines), headers=HEADERS)


async def _show(result: ShownResult, request: Request) -> Response:
    """Show the photo with the number in the query in the file manager of this machine."""
    number = min(_number(request.query_params.get("number")), len(result.gallery.photos) - 1)
    await run_in_threadpool(desktop.show_file, result.gallery.photos[number])
    return Response(status_code=HTTPStatus.NO_CONTENT, headers=HEADERS)


def _number(text: str | None) -> int:
    return int(text) if text and text.isascii() and text.isdecimal() and len(text) < 10 else 0
