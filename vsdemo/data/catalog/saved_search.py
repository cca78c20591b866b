"""A search that is kept by name, and the names that searches and labels can have."""

from __future__ import annotations

import re
import unicodedata
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from vsdemo.core.errors import UserError
from vsdemo.data.catalog.examine import KEY_DIGITS
from vsdemo.data.catalog.filters import PhotoFilter, PhotoOrder

MAX_NAME = 64  # characters
MAX_SENTENCES = 5000  # characters
MAX_PHOTOS = 32
KEY = re.compile(rf"[0-9a-f]{{{KEY_DIGITS}}}")
JOINERS = "\u200c\u200d"  # of letters in Persian and Hindi, and of the parts of an emoji
UNPRINTABLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}  # categories of Unicode


def checked_name(text: str) -> str:
    """Return the name of a label or of a saved search, without spaces around it.

    Raises:
        UserError: It is empty, too long or not printable.
    """
    name = unicodedata.normalize("NFC", text).strip()
    if not name:
        raise UserError("A name is missing; type one.")
    if len(name) > MAX_NAME:
        raise UserError(
            f"A name has at most {MAX_NAME} characters; shorten the one that begins with "
            f"{name[:20]!r}."
        )
    if any(unicodedata.category(c) in UNPRINTABLE and c not in JOINERS for c in name):
        raise UserError(f"{name!r} has characters that cannot be printed; choose another name.")
    return name


def checked_key(text: str) -> str:
    """Return the content hash of a photo.

    Raises:
        UserError: It is not a content hash.
    """
    if not KEY.fullmatch(text):
        raise UserError(f"{text[:40]!r} is not a content hash of a photo.")
    return text


class SavedSearch(BaseModel):
    """A search as it was typed and chosen."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: Annotated[str, AfterValidator(checked_name)] = Field(description="Its name")
    sentences: str = Field(
        default="", max_length=MAX_SENTENCES, description="Sentences as they were typed"
    )
    photos: tuple[Annotated[str, AfterValidator(checked_key)], ...] = Field(
        default=(), max_length=MAX_PHOTOS, description="Content hashes of example photos"
    )
    photo_weight: float = Field(
        default=1.0, gt=0, le=10, description="Weight of the photos; a sentence has 1"
    )
    filter: PhotoFilter = Field(default=PhotoFilter(), description="Conditions on the photos")
    order: PhotoOrder = Field(default=PhotoOrder.FIT, description="Order of the photos")
    groups_copies: bool = Field(
        default=False, description="Show one of photos that are nearly the same"
    )
    model: str = Field(max_length=1000, description="Key of the model")
