"""Whether the server lives, and whether it can answer a search."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

NO_STORE = {"cache-control": "no-store"}


def routes(problem: Callable[[], str]) -> list[Route]:
    """Return GET /health, which answers as long as the server lives, and GET /ready.

    Args:
        problem: Returns why no search can be answered yet; empty if it can.
    """

    async def health(_: Request) -> JSONResponse:
        return JSONResponse({"status": "ok"}, headers=NO_STORE)

    async def ready(_: Request) -> JSONResponse:
        why = await run_in_threadpool(problem)
        status = HTTPStatus.SERVICE_UNAVAILABLE if why else HTTPStatus.OK
        content = {"status": "preparing", "problem": why} if why else {"status": "ok"}
        return JSONResponse(content, status_code=status, headers=NO_STORE)

    return [Route("/health", health), Route("/ready", ready)]
