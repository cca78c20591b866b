"""Sends the pages of the guide one by one, so that the page itself stays small."""

from __future__ import annotations

from http import HTTPStatus

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from vsdemo.ui.guide import view

HEADERS = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}


def routes() -> list[Route]:
    """Return the routes below /guide."""
    return [
        Route("/guide/teacher", _teacher),
        Route("/guide/worksheet-{number:int}.csv", _worksheet),
        Route("/guide/{name}", _fragment),
    ]


async def _fragment(request: Request) -> Response:
    page = view.fragment(request.path_params["name"])
    if page is None:
        return Response(status_code=HTTPStatus.NOT_FOUND, headers=HEADERS)
    return HTMLResponse(page, headers=HEADERS)


async def _teacher(_: Request) -> Response:
    return HTMLResponse(view.teachers_page(), headers=HEADERS)


async def _worksheet(request: Request) -> Response:
    number = request.path_params["number"]
    text = view.worksheet(number - 1)
    if text is None:
        return Response(status_code=HTTPStatus.NOT_FOUND, headers=HEADERS)
    name = f'attachment; filename="vsdemo-lesson-{number}.csv"'
    headers = {**HEADERS, "Content-Disposition": name}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)
