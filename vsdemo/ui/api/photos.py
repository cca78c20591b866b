"""The photos that requests name: bytes, photos of a gallery, and uploaded files."""

from __future__ import annotations

import base64
import binascii
import re
from http import HTTPStatus
from typing import Any

from PIL import Image

from vsdemo.core.images import decode_photo, open_photo
from vsdemo.core.paths import printable
from vsdemo.serving.request_errors import RequestError
from vsdemo.ui.library import Library
from vsdemo.ui.uploads import is_uploaded

MAX_BYTES = 20_000_000
YOUR_PHOTO = "Your photo"
DATA_URL = re.compile(r"data:[\w.+-]*/?[\w.+-]*(;[\w=.-]+)*,")
GALLERY_PHOTO = re.compile(r"(?:^|/)photo/([0-9a-f]+)/(\d{1,9})(?:/(?:small|large))?$")


def open_api_photo(library: Library, value: str | dict[str, Any]) -> tuple[Image.Image, str]:
    """Return the photo that a request names, and its name.

    Args:
        library: The galleries.
        value: Base64 or a data URL of an image file, the address of a photo of a gallery, or an
            uploaded file.

    Raises:
        UserError: There is no such photo, or it cannot be read.
    """
    if isinstance(value, dict):
        return open_photo(uploaded_path(value)), YOUR_PHOTO
    if match := GALLERY_PHOTO.search(value[-100:]):
        gallery, number = library.gallery_of(match[1]), int(match[2])
        if gallery is None or number >= len(gallery.photos):
            raise RequestError(
                "There is no photo at this address; take it from a result of /search.",
                code="unknown_photo",
                status=HTTPStatus.NOT_FOUND,
            )
        photo = gallery.photos[number]
        return open_photo(photo), printable(photo.name)
    return decode_photo(_bytes(value), YOUR_PHOTO), YOUR_PHOTO


def uploaded_path(value: dict[str, Any]) -> str:
    """Return the path of an uploaded file.

    Raises:
        UserError: It is any other file of the server.
    """
    path = value.get("path")
    if isinstance(path, str) and is_uploaded(path):
        return path
    raise RequestError(
        "This file was not uploaded; upload the photo first, or send its bytes in base64.",
        code="not_uploaded",
        status=HTTPStatus.FORBIDDEN,
    )


def _bytes(text: str) -> bytes:
    """Return the bytes of base64, with or without the head of a data URL."""
    if len(text) > MAX_BYTES * 4 // 3 + 100:
        raise RequestError(
            f"The photo is too large; the limit is {MAX_BYTES // 1_000_000} MB.",
            code="too_large",
            status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        )
    if text.startswith(("http:", "https:")):
        raise RequestError(
            "This server does not download photos; send the bytes of the file in base64.",
            code="not_uploaded",
        )
    try:
        return base64.b64decode(DATA_URL.sub("", text, count=1), validate=True)
    except (binascii.Error, ValueError):
        raise RequestError(
            "photo: send the bytes of an image file in base64, or the `url` of a result.",
            code="invalid",
        ) from None
