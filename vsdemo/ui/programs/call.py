"""The request whose answer a tab shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

OWN_PHOTO = -1  # in place of a number: a visitor's own photo


@dataclass(frozen=True)
class ProgramCall:
    """A request to the API.

    Attributes:
        endpoint: Name of the endpoint, which is that of the command too.
        texts: Sentences by parameter.
        photo: Number of a photo in the gallery, or OWN_PHOTO; None without a photo.
        is_mixed: Whether the photo is one of a list, in addition to the sentence.
        model: Key of the model; empty if the endpoint takes none, or several.
        models: Keys of several models.
        gallery: Key of the gallery.
        takes_gallery: Whether the endpoint searches the gallery.
        k: Number of results; 0 if the endpoint takes none.
        refinement: Parameters that narrow a search down, as the API takes them.
    """

    endpoint: str
    texts: Mapping[str, str] = field(default_factory=dict)
    photo: int | None = None
    is_mixed: bool = False
    model: str = ""
    models: tuple[str, ...] = ()
    gallery: str = ""
    takes_gallery: bool = False
    k: int = 0
    refinement: Mapping[str, Any] = field(default_factory=dict)
