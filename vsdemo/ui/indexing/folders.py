"""What a folder chooser shows: the subfolders of a folder, and where to begin."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

import platformdirs

from vsdemo.core.errors import UserError
from vsdemo.core.images import SUFFIXES
from vsdemo.core.language import message, number, translate
from vsdemo.core.paths import printable, to_path

MAX_SHOWN = 200  # subfolders
MAX_COUNTED = 1000  # photos of a folder
COUNT_SECONDS = 0.3  # for counting the photos of all subfolders
DRIVES = ("media/*", "media/*/*", "run/media/*/*", "mnt/*", "Volumes/*")  # below the root


@dataclass(frozen=True)
class Place:
    """A folder to choose.

    Attributes:
        path: The folder.
        label: Its name.
        count: How many photos are directly in it, if more than MAX_COUNTED only one more than that;
            None if they were not counted.
    """

    path: Path
    label: str
    count: int | None = None

    @property
    def photos(self) -> str:
        """How many photos are directly in it; empty if that was not counted."""
        if self.count is None:
            return ""
        if self.count > MAX_COUNTED:
            return translate("more than {count}", count=number(MAX_COUNTED))
        return number(self.count)


@dataclass(frozen=True)
class FolderList:
    """A folder and where to go from there.

    Attributes:
        folder: The folder.
        start: What the names of the subfolders begin with; empty for all of them.
        places: Where photos are on most machines, and drives.
        above: The folder above; None at the root.
        subfolders: The first subfolders by name, without hidden ones.
        more: How many others there are.
        count: How many photos are directly in the folder.
    """

    folder: Path
    start: str
    places: tuple[Place, ...]
    above: Place | None
    subfolders: tuple[Place, ...]
    more: int
    count: int

    @property
    def photos(self) -> str:
        """How many photos are directly in the folder, as text."""
        return number(self.count)

    @property
    def choices(self) -> list[Place]:
        """Every place to go to; a click reports the number of one."""
        return [*self.places, *([self.above] if self.above else []), *self.subfolders]

    @property
    def name(self) -> str:
        """The name of the folder."""
        return printable(self.folder.name or str(self.folder))

    @property
    def text(self) -> str:
        """The path for a text field."""
        return printable(str(self.folder / self.start))


def first_folder() -> Path:
    """Return the folder to begin with: that of the pictures if there is one, else the home."""
    return next((place.path for place in places()), Path("/"))


def find_folder(text: str, shown: FolderList | None) -> FolderList:
    """Return the folder of a text field.

    Where no folder has the name, its last part is the beginning of the names to list.

    Args:
        text: What was typed.
        shown: The folder that is shown. If the text is its path, it is that folder, as a name that
            is not UTF-8 cannot be typed.

    Raises:
        UserError: There is no such folder, or it cannot be read.
    """
    text = text.strip()
    if shown and text == shown.text:
        return list_folder(shown.folder, shown.start)
    if not text:
        raise UserError(translate("Type the path of a folder, or choose one from the list."))
    path = to_path(text)
    if not path.is_absolute():
        raise UserError(translate("{path!r} is not a full path; begin with / or ~.", path=text))
    with suppress(OSError, ValueError):  # ValueError: a null character
        if path.is_dir():
            return list_folder(path)
        if path.parent.is_dir() and not path.exists():
            listed = list_folder(path.parent, path.name)
            if listed.subfolders:
                return listed
    problem = message("There is no folder {path}; if it is on a drive, connect that.")
    raise UserError(translate(problem, path=text))


def list_folder(folder: Path, start: str = "") -> FolderList:
    """Return the subfolders of a folder whose names begin with `start`.

    Raises:
        UserError: The folder cannot be read.
    """
    names, photos = [], 0
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if _is_photo(entry.name):
                    photos += 1
                elif entry.name.lower().startswith(start.lower()) and _is_folder(entry):
                    names.append(entry.name)
    except OSError as error:
        problem = message(
            "The folder {path} cannot be read ({reason}); choose another one, or check its "
            "permissions."
        )
        path = printable(str(folder))
        raise UserError(translate(problem, path=path, reason=error.strerror)) from None
    names.sort(key=lambda name: (name.lower(), name))
    until = monotonic() + COUNT_SECONDS
    subfolders = [
        Place(folder / name, printable(name), _count_photos(folder / name, until))
        for name in names[:MAX_SHOWN]
    ]
    above = folder.parent
    return FolderList(
        folder=folder,
        start=start,
        places=tuple(places()),
        above=None if above == folder else Place(above, printable(above.name or str(above))),
        subfolders=tuple(subfolders),
        more=len(names) - len(subfolders),
        count=photos,
    )


def places() -> Iterator[Place]:
    """Yield the folders of pictures and of the user, and the drives that are connected."""
    known = {
        message("Pictures"): platformdirs.user_pictures_path(),
        message("Home"): Path(os.path.expanduser("~")),
    }
    for label, path in known.items():
        if path.is_absolute() and os.access(path, os.R_OK | os.X_OK):
            yield Place(path, label)
    for pattern in DRIVES:
        for path in sorted(Path("/").glob(pattern)):
            if os.path.ismount(path):
                yield Place(path, printable(path.name))


def _is_photo(name: str) -> bool:
    return os.path.splitext(name)[1].lower() in SUFFIXES and not name.startswith(".")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return not entry.name.startswith(".") and entry.is_dir()
    except OSError:  # a link to itself
        return False


def _count_photos(folder: Path, until: float) -> int | None:
    """Return how many photos are directly in a folder, as `Place.count`.

    It is None if counting takes too long.
    """
    photos = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if monotonic() > until:
                return None
            if _is_photo(entry.name):
                photos += 1
            if photos > MAX_COUNTED:
                break
        return photos
    return None
