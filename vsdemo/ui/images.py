"""Serves photos of the galleries by number, so that no address ever names a file."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

from PIL import Image
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.core.paths import atomic

SIDES = {"small": 480, "large": 1280}  # pixels: a card at twice its size, and the page's width
AS_IS = {".jpg", ".jpeg", ".png", ".webp"}  # every browser shows these
KEEP = {"Cache-Control": "private, max-age=3600", "X-Content-Type-Options": "nosniff"}


def address(token: str, number: int, size: str) -> str:
    """The address of a photo, relative to the page so that it works below any root path."""
    return f"photo/{token}/{number}/{size}"


def source(token: str) -> Callable[[int, str], str]:
    """The addresses of a gallery's photos, by number and size."""
    return lambda number, size: address(token, number, size)


def saved(photo: Image.Image, side: int, folder: Path) -> str:
    """The path of a photo's file in `folder`, at most `side` pixels wide and high.

    It is written once: Gradio would write a photo in memory again with every look at how far the
    work is, also while a browser reads it.
    """
    data = _jpeg(photo, side)
    path = folder / f"{hashlib.sha256(data).hexdigest()[:32]}.jpeg"
    if not path.exists():
        with atomic(path) as temporary:
            temporary.write_bytes(data)
    return str(path)


@lru_cache(maxsize=512)
def _file(path: Path, side: int) -> bytes:
    return _jpeg(open_photo(path), side)


def _jpeg(photo: Image.Image, side: int) -> bytes:
    photo, out = photo.copy(), io.BytesIO()
    photo.thumbnail((side, side))
    photo.save(out, "JPEG", quality=85)
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
            return Response(_file(photos[number], side), media_type="image/jpeg", headers=KEEP)
        except (UserError, OSError, ValueError, Image.DecompressionBombError):
            return Response(status_code=404)

    return Route("/photo/{token}/{number:int}/{size}", photo)
