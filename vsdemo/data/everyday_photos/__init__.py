"""Photos like those of visitors, each with the words that may describe it.

They measure how well sentences of the caption bank describe photos that no data set of captions
has. `photos.toml` says how they were chosen; the photos are below VSDEMO_DATA.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.paths import require_data
from vsdemo.data import packaged
from vsdemo.data.text import inflection
from vsdemo.data.text.vocab import tokenize

FILE = Path(__file__).with_name("photos.toml")
FOLDER = "photos_unlabelled"  # below VSDEMO_DATA


@dataclass(frozen=True)
class DescribedPhoto:
    """A photo and the words that may describe it.

    Args:
        file: Its path in the folder of photos.
        shows: Words of which a sentence must have one.
        fits: All words that a sentence may have, these included.
    """

    file: str
    shows: frozenset[str]
    fits: frozenset[str]

    def is_described_by(self, text: str) -> bool:
        """Return whether a sentence is right about the photo."""
        words = set(tokenize(text))
        return bool(words & self.shows) and words <= self.fits


@cache
def described_photos() -> tuple[DescribedPhoto, ...]:
    """Return the photos in the order of the file.

    Raises:
        DamagedFile: If the file has changed.
    """
    content = tomllib.loads(packaged.read_text(FILE))
    anywhere = set(content["anywhere"].split())
    result = []
    for photo in content["photos"]:
        shows, fits = set(photo["shows"].split()), set(photo["fits"].split())
        does = {form for verb in photo["does"].split() for form in _forms(verb)}
        every = shows | fits | does | anywhere
        result.append(DescribedPhoto(photo["file"], frozenset(shows), frozenset(every)))
    return tuple(result)


def _forms(verb: str) -> tuple[str, ...]:
    """Return the forms of a verb: they sit, it sits, sitting."""
    return inflection.conjugate(verb)[:3]


def load() -> CaptionSet:
    """Return the photos, without captions.

    Raises:
        UserError: A photo is missing.
    """
    folder = require_data(FOLDER, what="The set of photos without labels")
    photos = tuple(folder / photo.file for photo in described_photos())
    if missing := next((photo for photo in photos if not photo.is_file()), None):
        raise UserError(f"{missing} is missing; put it there, or choose another task.")
    return CaptionSet(name="everyday photos", split="test", photos=photos)
