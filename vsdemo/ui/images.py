"""Serves photos of the galleries by number, so that no address contains a file name."""

from __future__ import annotations

import hashlib
import mimetypes
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from urllib.parse import quote

from PIL import Image
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from vsdemo.core.errors import UserError
from vsdemo.core.images import open_photo, small_jpeg
from vsdemo.core.paths import atomic
from vsdemo.data.galleries import Gallery
from vsdemo.serving import visitors

SIDES = {"small": 480, "large": 1280}  # pixels: a card at twice its size, and the page's width
BROWSER_FORMATS = {".jpg", ".jpeg", ".png", ".webp"}
CACHED = 64_000_000  # bytes of photos that were sent last
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
    a progress line, even while a browser reads it. Nobody can guess its name, not even someone who
    has the photo.
    """
    data = small_jpeg(photo, side)
    name = hashlib.blake2b(data, key=visitors.key(), digest_size=16).hexdigest()
    path = folder / f"{name}.jpeg"
    if not path.exists():
        with atomic(path) as temporary:
            temporary.write_bytes(data)
    return str(path)


def upload_address(path: str, side: int, folder: str) -> str:
    """Return the address of a copy of a visitor's photo, which is written into `folder`."""
    return f"gradio_api/file={quote(save_jpeg(open_photo(path), side, Path(folder)))}"


def _is_small(path: Path, side: int) -> bool:
    """Whether to send the file itself; reads only its header."""
    if path.suffix.lower() not in BROWSER_FORMATS:
        return False
    with Image.open(path) as photo:
        return max(photo.size) <= side


@dataclass(frozen=True)
class File:
    """A photo as it is sent.

    Args:
        data: The bytes of the file.
        media_type: Its media type, such as "image/jpeg".
    """

    data: bytes
    media_type: str


def _read(path: Path, side: int) -> File:
    if _is_small(path, side):
        return File(path.read_bytes(), mimetypes.guess_type(path.name)[0] or "image/jpeg")
    return File(small_jpeg(open_photo(path), side), "image/jpeg")


class PhotoCache:
    """The photos that were sent last, up to `max_bytes`."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes, self._bytes, self._lock = max_bytes, 0, Lock()
        self._files: OrderedDict[tuple[Path, int], File] = OrderedDict()

    def get(self, path: Path, side: int) -> File | None:
        """Return a photo; None if it is not there."""
        with self._lock:
            file = self._files.get((path, side))
            if file is not None:
                self._files.move_to_end((path, side))
            return file

    def load(self, path: Path, side: int) -> File:
        """Read a photo and keep it.

        Raises:
            UserError: It cannot be read; or as Pillow does.
        """
        file = _read(path, side)
        with self._lock:
            replaced = self._files.pop((path, side), None)
            self._bytes += len(file.data) - (len(replaced.data) if replaced else 0)
            self._files[path, side] = file
            while self._bytes > self._max_bytes:
                _, dropped = self._files.popitem(last=False)
                self._bytes -= len(dropped.data)
        return file


def route(gallery_of: Callable[[str], Gallery | None]) -> Route:
    """Return the route GET /photo/{token}/{number}/{small|large}.

    Args:
        gallery_of: Returns a gallery by its token.
    """
    cache = PhotoCache(CACHED)

    async def photo(request: Request) -> Response:
        gallery = gallery_of(request.path_params["token"])
        size, number = request.path_params["size"], request.path_params["number"]
        if gallery is None or size not in SIDES or number >= len(gallery.photos):
            return Response(status_code=404, headers=MISSING)
        path, side = gallery.photos[number], SIDES[size]
        try:
            # A cached photo does not wait for a thread behind those that are not cached.
            file = cache.get(path, side)
            if file is None and size == "small" and gallery.keys:
                jpeg = await run_in_threadpool(gallery.thumbnail, number)
                file = File(jpeg, "image/jpeg") if jpeg else None
            if file is None:
                file = await run_in_threadpool(cache.load, path, side)
        except (UserError, OSError, ValueError, Image.DecompressionBombError):
            return Response(status_code=404, headers=MISSING)
        return Response(file.data, media_type=file.media_type, headers=HEADERS)

    return Route("/photo/{token}/{number:int}/{size}", photo)
