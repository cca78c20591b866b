"""Captions by photo, and what is wrong with some of them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from pathlib import Path
from typing import NamedTuple

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import MAX_CHARACTERS

MAX_BYTES = 500_000_000  # of a file of captions
INVISIBLE = ("Cc", "Cs")  # control characters and surrogates
BOMS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


class Kind(Enum):
    """What is wrong with a caption."""

    MISSING_PHOTO = auto()
    EMPTY = auto()
    TOO_LONG = auto()
    INCOMPLETE = auto()
    ENCODING = auto()


class Problem(NamedTuple):
    """Something that is left out or may be wrong: a sentence about it, with what to do."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class Captions:
    """The captions of the photos in a folder.

    Attributes:
        of: The captions of each photo that has some, by its path below the folder.
        problems: What was left out, and why.
        splits: Photo -> split, where the file of captions says so; None where it does not.
    """

    of: Mapping[str, tuple[str, ...]]
    problems: Sequence[Problem] = ()
    splits: Mapping[str, str] | None = None


@dataclass
class CaptionList:
    """Collects captions; those that cannot be learned from become problems.

    Attributes:
        captions: The captions of each photo, none twice.
        problems: What was left out, and why.
    """

    captions: dict[str, list[str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def add(self, photo: str, text: str, where: str) -> None:
        """Add a caption.

        Args:
            photo: The path of its photo.
            text: The caption.
            where: The place of the caption, to begin a sentence with.
        """
        caption = tidy(text)
        if not caption:
            self.problem(Kind.EMPTY, f"{where}: the caption of {photo} is empty; write one.")
        elif len(caption) > MAX_CHARACTERS:
            self.problem(
                Kind.TOO_LONG,
                f"{where}: the caption of {photo} has {len(caption):,} characters; shorten it to "
                f"{MAX_CHARACTERS:,}.",
            )
        elif caption not in (known := self.captions.setdefault(photo, [])):
            known.append(caption)

    def problem(self, kind: Kind, text: str) -> None:
        """Add a problem."""
        self.problems.append(Problem(kind, text))

    def result(self, splits: Mapping[str, str] | None = None) -> Captions:
        """Return the captions."""
        of = {photo: tuple(texts) for photo, texts in self.captions.items()}
        return Captions(of, self.problems, splits)


class PhotoNames:
    """Finds photos by their names in a file of captions.

    A name also finds a photo that differs in upper and lower case, or in how its accents are
    encoded, if only one does.

    Args:
        paths: The photos, as paths below their folder with forward slashes.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._similar: dict[str, str | None] = {}
        for path in self._paths:
            key = _folded(path)
            self._similar[key] = None if key in self._similar else path

    def find(self, name: str) -> str | None:
        """Return the path of a photo; None if there is none of this name."""
        return name if name in self._paths else self._similar.get(_folded(name))


def tidy(text: str) -> str:
    """Return a text on one line with single spaces, without control characters."""
    if not text.isprintable():
        text = "".join(" " if unicodedata.category(c) in INVISIBLE else c for c in text)
    return " ".join(text.split())


def read_text(file: Path, problems: list[Problem], limit: int = MAX_BYTES) -> str:
    """Return the text of a file; one that is not in UTF-8 adds a problem.

    Args:
        file: The file.
        problems: Problems with the file are added to it.
        limit: The most bytes that it may have.

    Raises:
        UserError: The file cannot be read, or is too large.
    """
    try:
        if (size := file.stat().st_size) > limit:
            raise UserError(f"{file} has {size:,} bytes; the limit is {limit:,}.")
        data = file.read_bytes()
    except OSError as error:
        raise UserError(
            f"{file} cannot be read ({error.strerror}); check its permissions."
        ) from None
    mark = next((mark for mark in BOMS if data.startswith(mark)), b"")
    encoding = BOMS.get(mark, "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        name = "UTF-16" if encoding == "utf-16" else "UTF-8"
        problems.append(
            Problem(
                Kind.ENCODING,
                f"{file.name} is not valid {name}, so letters with accents may be wrong; save it "
                "as UTF-8.",
            )
        )
        return data.decode(encoding if mark else "cp1252", errors="replace")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
