"""The records of the API that say more than those of the command line: addresses and names."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from vsdemo.serving import records


class PhotoHit(records.PhotoHit):
    """A photo of a result."""

    url: str = Field(description="Address of the photo, relative to that of the app")


class SearchAnswer(records.SearchAnswer):
    """The photos that a sentence describes."""

    model: str
    gallery: str
    hits: Sequence[PhotoHit]


class SimilarPhotos(records.SimilarPhotos):
    """The photos that are similar to a photo."""

    model: str
    gallery: str
    hits: Sequence[PhotoHit]


class DescribeAnswer(records.DescribeAnswer):
    """The sentences that describe a photo."""

    model: str
