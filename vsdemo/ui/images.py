"""Serves photos of the galleries by number, so that no address contains a file name."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote

from PIL import Image
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo
from vsdemo.core.paths import atomic
from vsdemo.serving import visitors

SIDES = {"small": 480, "large": 1280}  # pixels: a card at twice its size, and the page's width
BROWSER_FORMATS = {".jpg", ".jpeg", ".png", ".webp"}
MISSING = {"Cache-Control": "no-store"}  # it may still be drawn
HEADERS = {"Cache-Control": "private, max-age=3600", "X-Content-Type-Options": "nosniff"}


def address(token: str, number: int, size: str) -> str:
    """Return the address of a photo, relative to the page so that any root path works."""
    return f"photo/{token}/{number}/{size}"


def addresses(token: str) -> Callable[[int, str], str]:
    """Return a function from number and size ("small", "large") to the address of a photo."""
    return lambda number, size: address(token, number, size)


def save_jpeg(photo: Image.Image, side: int, folder: Path) -> str:
    """Write a photo into `folder`, at most `side` pixels wide and high, and return its path.

    It is written once per content: Gradio would write a photo in memory again with every update of
    a progress line, even while a browser reads it. Nobody can guess its name, also who has the
    photo.
    """
    data = _jpeg(photo, side)
    name = hashlib.blake2b(data, key=visitors.key(), digest_size=16).hexdigest()
    path = folder / f"{name}.jpeg"
    if not path.exists():
        with atomic(path) as temporary:
            temporary.write_bytes(data)
    return str(path)


def upload_address(path: str, side: int, folder: str) -> str:
    """Return the address of a copy of a visitor's photo, which is written into `folder`."""
    return f"gradio_api/file={quote(save_jpeg(open_photo(path), side, Path(folder)))}"


@lru_cache(maxsize=512)
def _read_jpeg(path: Path, side: int) -> bytes:
    return _jpeg(open_photo(path), side)


def _jpeg(photo: Image.Image, side: int) -> bytes:
    resized, out = photo.copy(), io.BytesIO()
    resized.thumbnail((side, side))
    resized.save(out, "JPEG", quality=85)
    return out.getvalue()


def _is_small(path: Path, side: int) -> bool:
    """Whether to send the file itself; reads only its header."""
    if path.suffix.lower() not in BROWSER_FORMATS:
        return False
    with Image.open(path) as photo:
        return max(photo.size) <= side


def route(photos_of: Callable[[str], Sequence[Path]]) -> Route:
    """Return the route GET /photo/{token}/{number}/{small|large}.

    Args:
        photos_of: Returns the photos of a gallery by its token.
    """

    def photo(request: Request) -> Response:
        photos = photos_of(request.path_params["token"])
        side = SIDES.get(request.path_params["size"])
        number = request.path_params["number"]
        if side is None or number >= len(photos):
            return Response(status_code=404, headers=MISSING)
        try:
            if _is_small(photos[number], side):
                return FileResponse(photos[number], headers=HEADERS)
            data = _read_jpeg(photos[number], side)
            return Response(data, media_type="image/jpeg", headers=HEADERS)
        except (UserError, OSError, ValueError, Image.DecompressionBombError):
            return Response(status_code=404, headers=MISSING)

    return Route("/photo/{token}/{number:int}/{size}", photo)
