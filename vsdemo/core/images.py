"""Opening photos that strangers hand in: upright RGB, or one clear sentence; writing images."""

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

# A small file can unpack to gigabytes: Pillow itself must refuse before it decodes.
Image.MAX_IMAGE_PIXELS = MAX_MEGAPIXELS * 1_000_000
warnings.filterwarnings("error", category=Image.DecompressionBombWarning)
ImageFile.LOAD_TRUNCATED_IMAGES = False


def _check_size(width: int, height: int, name: str) -> None:
    if width * height > MAX_MEGAPIXELS * 1_000_000:
        raise UserError(
            f"{name} has {width:,} x {height:,} pixels; at most {MAX_MEGAPIXELS} megapixels "
            "are read."
        )
    short, long = sorted((width, height))
    if short < MIN_SIDE or long > MAX_ASPECT * short:
        raise UserError(
            f"{name} has {width:,} x {height:,} pixels; a photo needs at least {MIN_SIDE} on its "
            f"short side and at most {MAX_ASPECT} times as many on its long side."
        )


def to_rgb(image: Image.Image) -> Image.Image:
    """Any decoded image as 8-bit RGB: 16-bit is scaled, transparency laid on white."""
    if image.mode.startswith("I;16") or image.mode in ("I", "F"):
        grey = np.nan_to_num(np.asarray(image, dtype=np.float64))
        scale = 255 / (65535 if image.mode != "F" else max(grey.max(), 1e-9))
        image = Image.fromarray(np.clip(grey * scale, 0, 255).astype(np.uint8))
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image.convert("RGB")


def open_photo(path: Path | str) -> Image.Image:
    """The photo, upright (EXIF) and RGB; of an animation, the first frame.

    Raises UserError when the file is missing, empty, no photo, damaged or of a hopeless size.
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
        raise UserError(f"{name} is not a photo that can be read; use JPEG, PNG or WebP.") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise UserError(
            f"{name} is too large; at most {MAX_MEGAPIXELS} megapixels are read."
        ) from None
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError):
        raise UserError(f"{name} is damaged or cut off and cannot be read.") from None


def check_image_name(to: Path) -> str:
    """The format that a file's name asks for. Raises UserError when it is no image's."""
    formats = Image.registered_extensions()
    if formats.get(to.suffix.lower()) not in Image.SAVE:
        raise UserError(f"{to} is not the name of an image file; end it in .png or .jpg.")
    return formats[to.suffix.lower()]


def save_image(image: Image.Image, to: Path) -> None:
    """Writes an image in the format of its name. Raises UserError when that cannot be done."""
    format = check_image_name(to)
    try:
        with atomic(to) as temporary:
            image.save(temporary, format)
    except (OSError, ValueError) as error:  # such as a format that has no colours
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"{to} cannot be written ({reason}).") from None


def photos_in(folder: Path) -> list[Path]:
    """The photo files below a folder, sorted; hidden files and folders are left out."""
    return sorted(
        p
        for p in folder.rglob("*")
        if p.suffix.lower() in SUFFIXES
        and p.is_file()
        and not any(part.startswith(".") for part in p.relative_to(folder).parts)
    )
