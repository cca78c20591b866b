"""Open untrusted photos safely, and write images."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from math import ceil
from os import PathLike
from pathlib import Path
from threading import BoundedSemaphore
from typing import BinaryIO

import numpy as np
from PIL import ExifTags, Image, ImageFile, ImageOps, UnidentifiedImageError

from vsdemo.core.errors import UserError
from vsdemo.core.language import message, number, translate
from vsdemo.core.paths import AnyPath, atomic, to_path

MAX_MEGAPIXELS = 50
MAX_WEBP_MEGAPIXELS = 20  # the decoder takes 16 bytes per pixel and cannot decode at a lower size
MAX_ASPECT = 20
MIN_SIDE = 8
MAX_SIDE = 1600  # pixels; the long side of larger photos is reduced, but not below this
LARGE = 4_000_000  # pixels; only a few larger photos are decoded at a time
DECODERS = BoundedSemaphore(2)
STRIP = 256  # rows
NOISE = 8  # largest difference between the pixels of a blank photo, of 256 levels
SMALL_GAP = 1.5  # a small photo is made from at least this many times its width and height
# Not EPS: Pillow would run Ghostscript.
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "AVIF")
HEIF_MARK = b"ftyp"  # bytes 4 to 7 of a HEIC or AVIF file
SUFFIXES = {
    *(".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff"),
    *(".avif", ".heic", ".heif"),
}
EMPTY = message("{photo} is empty (0 bytes); choose another photo.")
DAMAGED = message("{photo} is damaged or truncated.")

PhotoSource = AnyPath | Image.Image | np.ndarray

# A small file can unpack to gigabytes, so Pillow itself must refuse to decode it.
Image.MAX_IMAGE_PIXELS = MAX_MEGAPIXELS * 1_000_000
warnings.filterwarnings("error", category=Image.DecompressionBombWarning)
ImageFile.LOAD_TRUNCATED_IMAGES = False


def _check_size(width: int, height: int, name: str, kind: str | None) -> None:
    is_webp = kind == "WEBP"
    limit = MAX_WEBP_MEGAPIXELS if is_webp else MAX_MEGAPIXELS
    if width * height > limit * 1_000_000:
        text = message("{photo} has {width} x {height} pixels; the limit is {limit} megapixels.")
        if is_webp:
            text = message(
                "{photo} has {width} x {height} pixels; the limit is {limit} megapixels for WebP; "
                "save it as JPEG."
            )
        raise UserError(
            translate(text, photo=name, width=number(width), height=number(height), limit=limit)
        )
    short, long = sorted((width, height))
    if short < MIN_SIDE or long > MAX_ASPECT * short:
        raise UserError(
            translate(
                "{photo} has {width} x {height} pixels; its short side must have at least {least} "
                "pixels, and its aspect ratio may be at most {most}:1.",
                photo=name,
                width=number(width),
                height=number(height),
                least=MIN_SIDE,
                most=MAX_ASPECT,
            )
        )


def to_rgb(image: Image.Image, factor: int = 1) -> Image.Image:
    """Convert any decoded image to 8-bit RGB, with a white background if it is transparent.

    Args:
        image: The image. A large one is converted a few rows at a time, which saves memory.
        factor: Width and height are divided by it.
    """
    width, height = image.size
    is_large = width * height > LARGE
    rows = factor * max(1, STRIP // factor) if is_large else height
    boxes = [(0, top, width, min(top + rows, height)) for top in range(0, height, rows)]
    largest = 65535.0  # of 16 bits
    if image.mode == "F":
        largest = max(_finite(image.crop(box)).max() for box in boxes)
    if not is_large:
        return _strip_to_rgb(image, largest).reduce(factor)
    result = Image.new("RGB", (-(-width // factor), -(-height // factor)))
    for box in boxes:
        strip = _strip_to_rgb(image.crop(box), largest)
        result.paste(strip.reduce(factor), (0, box[1] // factor))
    return result


def _strip_to_rgb(image: Image.Image, largest: float) -> Image.Image:
    """Convert some rows to 8-bit RGB; `largest` becomes white if they have more bits."""
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        levels = np.clip(_finite(image) * (255 / max(largest, 1e-9)), 0, 255)
        image = Image.fromarray(levels.astype(np.uint8))
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image if image.mode == "RGB" else image.convert("RGB")


def _finite(image: Image.Image) -> np.ndarray:
    """Return the values of an image with one channel, (H, W), without NaN."""
    return np.nan_to_num(np.asarray(image, dtype=np.float64))


def open_photo(path: AnyPath) -> Image.Image:
    """Return a photo in RGB, rotated according to its EXIF data; of an animation, the first frame.

    A photo with a side of 2 MAX_SIDE pixels or more is reduced by a whole factor, so that it takes
    little memory and time.

    Raises:
        UserError: The file is missing, empty, damaged, not a photo, too large or too narrow.
    """
    path = Path(path)
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder; choose a photo in it.")
        if path.stat().st_size == 0:
            raise UserError(translate(EMPTY, photo=path.name))
        with path.open("rb") as file:
            return _decode(file, path.name)
    except UserError:
        raise
    except FileNotFoundError:
        raise UserError(f"There is no file {path}.") from None
    except (OSError, ValueError):  # ValueError: a path with a null byte
        raise UserError(translate(DAMAGED, photo=path.name)) from None


def read_photo(source: PhotoSource, name: str = "the image") -> Image.Image:
    """Return the photo in a file, a Pillow image or an array, as `open_photo` does.

    Args:
        source: A path; an image, which is not changed; or an array (H, W, 3) of uint8, RGB.
        name: How to call an image or an array in errors.

    Raises:
        UserError: As `open_photo`, or the source is none of these.
    """
    if isinstance(source, (str, PathLike)):
        return open_photo(to_path(source))
    if isinstance(source, np.ndarray):
        if source.ndim != 3 or source.shape[2] != 3 or source.dtype != np.uint8:
            raise UserError(
                f"{name} is an array {source.shape} of {source.dtype}; "
                "give (height, width, 3) of uint8, the values 0 to 255 of red, green and blue."
            )
        return _from_pillow(Image.fromarray(source), name)
    if isinstance(source, Image.Image):
        return _from_pillow(source, name)
    raise UserError(
        f"{name} is of the type {type(source).__name__}; give a path, a Pillow image or an array "
        "(height, width, 3) of uint8."
    )


def decode_photo(data: bytes, name: str, short: int | None = None) -> Image.Image:
    """Return the photo in the bytes of a file, as `open_photo` does.

    Args:
        data: The bytes.
        name: How to call the photo in errors.
        short: Number of pixels that is enough for the short side; None for as many as `open_photo`
            keeps. A photo that is reduced further takes less time.

    Raises:
        UserError: As `open_photo`.
    """
    if not data:
        raise UserError(translate(EMPTY, photo=name))
    return _decode(io.BytesIO(data), name, short)


@contextmanager
def open_header(data: bytes, name: str) -> Iterator[ImageFile.ImageFile]:
    """Yield the image in the bytes of a file, not decoded, for its size and its metadata.

    Raises:
        UserError: As `open_photo`, except for damage after the header.
    """
    with _opened(io.BytesIO(data), name) as image:
        yield image


def _decode(file: BinaryIO, name: str, short: int | None = None) -> Image.Image:
    with _opened(file, name) as image:
        return _load(image, short)


@contextmanager
def _opened(file: BinaryIO, name: str) -> Iterator[ImageFile.ImageFile]:
    formats: tuple[str, ...] = FORMATS
    if file.read(8)[4:] == HEIF_MARK:
        formats = _formats_with_heif()
    file.seek(0)
    with _user_errors(name), Image.open(file, formats=formats) as image:
        _check_size(*image.size, name, image.format)
        yield image


@cache
def _formats_with_heif() -> tuple[str, ...]:
    """Let Pillow read HEIC, the photo format of many phones, and return all formats."""
    from pillow_heif import register_heif_opener  # takes 0.1 s to import

    register_heif_opener()
    return (*FORMATS, "HEIF")


def _from_pillow(image: Image.Image, name: str) -> Image.Image:
    with _user_errors(name):
        _check_size(*image.size, name, image.format)
        return _load(image.copy())  # `draft` could reduce the original of a JPEG


def _load(image: Image.Image, short: int | None = None) -> Image.Image:
    """Decode an image, reduced if it is large, and return it in RGB, rotated by its EXIF data.

    Args:
        image: The opened image.
        short: As for `decode_photo`.
    """
    enough = short or max(image.size)
    with DECODERS if image.width * image.height > LARGE else nullcontext():
        scale = min(MAX_SIDE / max(image.size), enough / min(image.size))
        if scale < 1:  # a JPEG is decoded at a reduced size
            image.draft(None, (ceil(image.width * scale), ceil(image.height * scale)))
        factor = max(1, max(image.size) // MAX_SIDE, min(image.size) // enough)
        image.load()
        photo = to_rgb(image, factor)
        orientation = image.getexif().get(ExifTags.Base.Orientation, 1)
        photo.getexif()[ExifTags.Base.Orientation] = orientation
        ImageOps.exif_transpose(photo, in_place=True)
        return photo


@contextmanager
def _user_errors(name: str) -> Iterator[None]:
    """Turn what Pillow raises for damaged images into a UserError that names the image."""
    try:
        yield
    except UserError:
        raise
    except UnidentifiedImageError:
        text = translate("{photo} is not a readable photo; use JPEG, PNG or WebP.", photo=name)
        raise UserError(text) from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        text = message("{photo} is too large; the limit is {limit} megapixels.")
        raise UserError(translate(text, photo=name, limit=MAX_MEGAPIXELS)) from None
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError):
        raise UserError(translate(DAMAGED, photo=name)) from None


def is_blank(photo: Image.Image) -> bool:
    """Return whether a photo has a single color, apart from noise."""
    pixels = np.asarray(photo.convert("RGB"))  # (H, W, 3)
    return bool((np.ptp(pixels, axis=(0, 1)) <= NOISE).all())


def small_jpeg(photo: Image.Image, side: int, quality: int = 85) -> bytes:
    """Return a JPEG of an RGB photo, at most `side` pixels wide and high."""
    scale = min(1, side / max(photo.size))
    width, height = (max(1, round(length * scale)) for length in photo.size)
    out = io.BytesIO()
    photo.resize((width, height), reducing_gap=SMALL_GAP).save(out, "JPEG", quality=quality)
    return out.getvalue()


def check_image_name(path: Path) -> str:
    """Return Pillow's name of the format that the suffix of a path selects.

    Raises:
        UserError: The suffix is not that of an image format that Pillow can write.
    """
    kind = Image.registered_extensions().get(path.suffix.lower())
    if kind not in Image.SAVE:
        raise UserError(f"{path} does not have the suffix of an image file; use .png or .jpg.")
    return kind


def save_image(image: Image.Image, path: Path) -> None:
    """Write an image in the format that the path's suffix selects.

    Raises:
        UserError: The file cannot be written.
    """
    kind = check_image_name(path)
    try:
        with atomic(path) as temporary:
            image.save(temporary, kind)
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror or error}).") from None
    except ValueError as error:  # such as a format without colours
        raise UserError(f"{path} cannot be written ({error}).") from None


def photos_in(folder: Path) -> list[Path]:
    """Return the photo files below a folder, sorted, without hidden files and folders."""
    return sorted(
        p
        for p in folder.rglob("*")
        if p.suffix.lower() in SUFFIXES
        and p.is_file()
        and not any(part.startswith(".") for part in p.relative_to(folder).parts)
    )
