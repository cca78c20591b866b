"""Serves photos of the galleries by number, so that no address ever names a file."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from PIL import Image
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from vsdemo.photos import open_photo
from vsdemo.types import UserError

SIDES = {"small": 480, "large": 1280}  # pixels: a card at twice its size, and the page's width
AS_IS = {".jpg", ".jpeg", ".png", ".webp"}  # every browser shows these
KEEP = {"Cache-Control": "private, max-age=3600", "X-Content-Type-Options": "nosniff"}


def address(token: str, number: int, size: str) -> str:
    """The address of a photo, relative to the page so that it works below any root path."""
    return f"photo/{token}/{number}/{size}"


def fitted(photo: Image.Image, side: int) -> Image.Image:
    """The photo, at most `side` pixels wide and high."""
    photo = photo.copy()
    photo.thumbnail((side, side))
    return photo


@lru_cache(maxsize=512)
def _jpeg(path: Path, side: int) -> bytes:
    out = io.BytesIO()
    fitted(open_photo(path), side).save(out, "JPEG", quality=85)
    return out.getvalue()


def _fits(path: Path, side: int) -> bool:
    """Whether the file itself is small enough to send; only its header is read."""
    if path.suffix.lower() not in AS_IS:
        return False
    with Image.open(path) as photo:
        return max(photo.size) <= side


def route(photos_of: Callable[[str], Sequence[Path]]) -> Route:
    """GET /photo/{token}/{number}/{small|large}; `photos_of` gives a gallery's photos by token."""

    def photo(request: Request) -> Response:
        photos = photos_of(request.path_params["token"])
        side = SIDES.get(request.path_params["size"])
        number = request.path_params["number"]
        if side is None or number >= len(photos):
            return Response(status_code=404)
        try:
            if _fits(photos[number], side):
                return FileResponse(photos[number], headers=KEEP)
            return Response(_jpeg(photos[number], side), media_type="image/jpeg", headers=KEEP)
        except (UserError, OSError, ValueError, Image.DecompressionBombError):
            return Response(status_code=404)

    return Route("/photo/{token}/{number:int}/{size}", photo)
