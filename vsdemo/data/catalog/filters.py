"""Conditions on photos that are not about what they show: folder, date, camera, shape, size."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class Orientation(StrEnum):
    """Whether a photo is wider than high."""

    ANY = ""
    LANDSCAPE = "landscape"
    PORTRAIT = "portrait"
    SQUARE = "square"


class PhotoOrder(StrEnum):
    """In which order photos are shown."""

    FIT = "fit"  # the best first
    NEWEST = "newest"
    OLDEST = "oldest"


class PhotoFilter(BaseModel):
    """Conditions that a photo has to meet, all of them; an empty one is met by every photo.

    A photo without a date meets no condition on the date, and one without a camera none on the
    camera.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: str = Field(
        default="", max_length=4096, description="Folder below that of the index, with subfolders"
    )
    since: date | None = Field(default=None, description="Taken on this day or later")
    until: date | None = Field(default=None, description="Taken on this day or earlier")
    camera: str = Field(default="", max_length=200, description="Part of the camera's name")
    orientation: Orientation = Field(default=Orientation.ANY, description="Shape of the photo")
    megapixels: float = Field(default=0, ge=0, description="At least this many megapixels")

    @property
    def is_empty(self) -> bool:
        """Whether every photo meets it."""
        return self == PhotoFilter()
