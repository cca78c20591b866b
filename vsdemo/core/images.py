"""Open untrusted photos safely, and write images."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from PIL import Image, ImageFile, ImageOps, UnidentifiedImageError

from vsdemo.core.errors import UserError
from vsdemo.core.paths import atomic

MAX_MEGAPIXELS = 50
MAX_ASPECT = 20
MIN_SIDE = 8
FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF")  # not EPS: Pillow would run Ghostscript
SUFFIXES = {".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff"}

# A small file can unpack to gigabytes, so Pillow itself must refuse to decode it.
Image.MAX_IMAGE_PIXELS = MAX_MEGAPIXELS * 1_000_000
warnings.filterwarnings("error", category=Image.DecompressionBombWarning)
ImageFile.LOAD_TRUNCATED_IMAGES = False


def _check_size(width: int, height: int, name: str) -> None:
    if width * height > MAX_MEGAPIXELS * 1_000_000:
        raise UserError(
            f"{name} has {width:,} x {height:,} pixels; the limit is {MAX_MEGAPIXELS} megapixels."
        )
    short, long = sorted((width, height))
    if short < MIN_SIDE or long > MAX_ASPECT * short:
        raise UserError(
            f"{name} has {width:,} x {height:,} pixels; its short side must have at least "
            f"{MIN_SIDE} and its long side at most {MAX_ASPECT} times as many."
        )


def to_rgb(image: Image.Image) -> Image.Image:
    """Convert any decoded image to 8-bit RGB, with a white background if it is transparent."""
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        grey = np.nan_to_num(np.asarray(image, dtype=np.float64))
        scale = 255 / (65535 if image.mode != "F" else max(grey.max(), 1e-9))
        image = Image.fromarray(np.clip(grey * scale, 0, 255).astype(np.uint8))
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def open_photo(path: Path | str) -> Image.Image:
    """Return a photo in RGB, rotated according to its EXIF data; of an animation, the first frame.

    Raises:
        UserError: The file is missing, empty, damaged, no photo, or too large or too narrow.
    """
    path = Path(path)
    name = path.name
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder; choose a photo in it.")
        if path.stat().st_size == 0:
            raise UserError(f"{name} is empty (0 bytes); choose another photo.")
        with Image.open(path, formats=FORMATS) as image:
            _check_size(*image.size, name)
            return to_rgb(ImageOps.exif_transpose(image))
    except UserError:
        raise
    except FileNotFoundError:
        raise UserError(f"There is no file {path}.") from None
    except UnidentifiedImageError:
        raise UserError(f"{name} is not a readable photo; use JPEG, PNG or WebP.") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise UserError(f"{name} is too large; the limit is {MAX_MEGAPIXELS} megapixels.") from None
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError):
        raise UserError(f"{name} is damaged or truncated.") from None


def check_image_name(path: Path) -> str:
    """Return Pillow's name of the format that the suffix of a path selects.

    Raises:
        UserError: The suffix is none of an image format that Pillow can write.
    """
    kind = Image.registered_extensions().get(path.suffix.lower())
    if kind not in Image.SAVE:
        raise UserError(f"{path} does not end like an image file; use .png or .jpg.")
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
