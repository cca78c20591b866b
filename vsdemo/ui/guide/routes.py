"""Sends the pages of the guide one by one, so that the page itself stays small.

They are in the language that the browser asks for.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from vsdemo.core import language
from vsdemo.ui.guide import view

HEADERS = {
    "Cache-Control": "no-cache",
    "Vary": "Accept-Language",
    "X-Content-Type-Options": "nosniff",
}


def routes() -> list[Route]:
    """Return the routes below /guide."""
    return [
        Route("/guide/teacher", _teacher),
        Route("/guide/worksheet-{number}.csv", _worksheet),
        Route("/guide/{name}", _fragment),
    ]


async def _fragment(request: Request) -> Response:
    with _speaking(request):
        page = view.fragment(request.path_params["name"])
    if page is None:
        return Response(status_code=HTTPStatus.NOT_FOUND, headers=HEADERS)
    return HTMLResponse(page, headers=HEADERS)


async def _teacher(request: Request) -> Response:
    with _speaking(request):
        page = view.teachers_page()
    return HTMLResponse(page, headers=HEADERS)


async def _worksheet(request: Request) -> Response:
    number = request.path_params["number"]
    with _speaking(request):
        text = view.worksheet(number)
    if text is None:
        return Response(status_code=HTTPStatus.NOT_FOUND, headers=HEADERS)
    name = f'attachment; filename="vsdemo-lesson-{number}.csv"'
    headers = {**HEADERS, "Content-Disposition": name}
    content = text.encode("utf-8-sig")  # by whose mark Excel recognises the encoding
    return Response(content, media_type="text/csv; charset=utf-8", headers=headers)


def _speaking(request: Request) -> AbstractContextManager[None]:
    """Let texts be in the language that the browser asks for."""
    accepted = request.headers.get("accept-language", "")
    return language.speaking(language.preferred(accepted))
