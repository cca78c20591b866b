"""Reads one photo: its content hash, size, metadata, thumbnail and look."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from PIL import ExifTags, Image

from vsdemo.core.errors import UserError
from vsdemo.core.images import decode_photo, open_header, small_jpeg
from vsdemo.data.catalog.look import look_of
from vsdemo.data.catalog.metadata import Metadata, read_metadata
from vsdemo.data.catalog.scan import PhotoFile

THUMBNAIL_SIDE, THUMBNAIL_QUALITY = 320, 78
MAX_BYTES = 1_000_000_000  # of a file; it is read as a whole
KEY_DIGITS = 32  # of a content hash; see `vsdemo.vision.features.photo_key`


@dataclass(frozen=True)
class PhotoRecord:
    """What a catalog stores about a file.

    Attributes:
        file: The file as it was when it was read.
        content: Its content hash; empty if it cannot be read.
        problem: Why it cannot be read; empty if it can.
        width: Pixels, as it is shown.
        height: Pixels, as it is shown.
        metadata: Its metadata.
        thumbnail: A small JPEG.
        look: Its `look_of`; None if it cannot be read.
    """

    file: PhotoFile
    content: str = ""
    problem: str = ""
    width: int = 0
    height: int = 0
    metadata: Metadata = field(default_factory=Metadata)
    thumbnail: bytes = b""
    look: int | None = None


def content_hash(path: Path) -> str:
    """Return the hash of a file's content.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:KEY_DIGITS]


def examine(
    folder: Path, file: PhotoFile, short: int | None = None
) -> tuple[PhotoRecord, Image.Image | None]:
    """Read a file once, and return what a catalog stores about it and the photo itself, in RGB.

    A file that cannot be read, or that changes meanwhile, has a `problem` and no photo.

    Args:
        folder: The folder of the catalog.
        file: The file, as `scan` has listed it.
        short: How many pixels are enough for the photo's short side, as for `decode_photo`.
    """
    path = folder / file.path
    if file.size > MAX_BYTES:
        return PhotoRecord(file, problem=_too_large(file)), None
    try:
        data = path.read_bytes()
        photo = decode_photo(data, path.name, short)
        with open_header(data, path.name) as image:
            metadata = read_metadata(image, path)
            width, height = shown_size(image)
        status = os.stat(path)
    except OSError as error:
        return _to_read_again(file, f"cannot be read ({error.strerror})."), None
    except UserError as error:
        return PhotoRecord(file, problem=str(error)), None
    if PhotoFile.of(file.path, status) != file:
        return _to_read_again(file, "changed while it was read; index again."), None
    thumbnail = small_jpeg(photo, THUMBNAIL_SIDE, THUMBNAIL_QUALITY)
    record = PhotoRecord(
        file=file,
        content=hashlib.sha256(data).hexdigest()[:KEY_DIGITS],
        width=width,
        height=height,
        metadata=metadata,
        thumbnail=thumbnail,
        look=look_of(thumbnail),
    )
    return record, photo


def _too_large(file: PhotoFile) -> str:
    size, limit = file.size / 1e9, MAX_BYTES / 1e9
    return f"{Path(file.path).name} has {size:,.1f} GB; the limit is {limit:.0f} GB."


def _to_read_again(file: PhotoFile, problem: str) -> PhotoRecord:
    """Return the record of a file whose content is unknown, so that the next run reads it."""
    unlike_any = PhotoFile(file.path, size=-1, modified=0)
    return PhotoRecord(unlike_any, problem=f"{Path(file.path).name} {problem}")


def shown_size(image: Image.Image) -> tuple[int, int]:
    """Return width and height of an opened image after the rotation that its EXIF data ask for."""
    turned = image.getexif().get(ExifTags.Base.Orientation, 1) in (5, 6, 7, 8)
    width, height = image.size
    return (height, width) if turned else (width, height)
