"""Passes on the photos of an app that answers for this one, so that pages contact only one host."""

from __future__ import annotations

import re

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vsdemo.core.errors import UserError
from vsdemo.serving.api_records import PhotoHit
from vsdemo.serving.running_app import RunningApp
from vsdemo.ui import images

TOKEN = re.compile("[0-9a-f]{1,64}")


def address(hit: PhotoHit, size: str) -> str:
    """Return the address of the photo of a result: "small" or "large"."""
    return f"{hit.url.rpartition('/')[0]}/{size}"


def photo_route(app: RunningApp) -> Route:
    """Return the route GET /photo/{token}/{number}/{small|large}."""

    async def photo(request: Request) -> Response:
        token, number, size = (request.path_params[name] for name in ("token", "number", "size"))
        if not TOKEN.fullmatch(token) or size not in images.SIDES:
            return Response(status_code=404, headers=images.MISSING)
        try:
            data, kind = await run_in_threadpool(app.photo, images.address(token, number, size))
        except UserError:
            return Response(status_code=404, headers=images.MISSING)
        return Response(data, media_type=kind, headers=images.HEADERS)

    return Route("/photo/{token}/{number:int}/{size}", photo)
