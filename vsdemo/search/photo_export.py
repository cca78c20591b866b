"""Photos that a search has found as a folder of links, a zip file or a table.

The photos themselves are only read. The target appears when it is complete, never half done, and
nothing that exists is replaced.

The names below the target are those below the gallery's folder, made safe for every system: no
absolute paths, no "..", no two that differ in case only.

NAME.csv has a row for each photo: rank, file, score, date, camera, place, width, height, caption;
UTF-8 without a byte order mark. A text that a spreadsheet would take for a formula begins with an
apostrophe.
"""

from __future__ import annotations

import csv
import errno
import os
import re
import shutil
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path, PurePosixPath
from threading import Event, get_ident
from typing import NamedTuple
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from vsdemo.core.errors import Cancelled, UserError
from vsdemo.core.language import number, translate
from vsdemo.core.paths import AnyPath, atomic, printable, to_path
from vsdemo.core.progress import Progress
from vsdemo.data.catalog.catalog import CatalogEntry
from vsdemo.data.catalog.metadata import Metadata

COLUMNS = ("rank", "file", "score", "date", "camera", "place", "width", "height", "caption")
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")  # beginnings that a spreadsheet may execute
UNSAFE = re.compile(r'[\x00-\x1f\x7f\ud800-\udfff\\:*?"<>|]')  # in names, on some system
NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EMLINK}
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
BLOCK = 1_000_000  # bytes that are copied at a time


class ExportForm(StrEnum):
    """What an export is."""

    LINKS = "links"  # a folder
    ZIP = "zip"
    CSV = "csv"


@dataclass(frozen=True)
class ExportedPhoto:
    """A photo to be exported.

    Attributes:
        path: The file.
        name: Its path below the gallery's folder.
        rank: Its rank in the search, from 1.
        score: The model's score.
        width: Pixels; 0 if unknown.
        height: Pixels; 0 if unknown.
        metadata: What it says about itself.
    """

    path: Path
    name: str
    rank: int
    score: float
    width: int = 0
    height: int = 0
    metadata: Metadata = field(default_factory=Metadata)

    @classmethod
    def of(
        cls, path: Path, name: str, rank: int, score: float, entry: CatalogEntry | None
    ) -> ExportedPhoto:
        """Return a photo with what its index knows; None for a photo that is not indexed."""
        if entry is None:
            return cls(path, name, rank, score)
        return cls(path, entry.path, rank, score, entry.width, entry.height, entry.metadata)


class _Report(NamedTuple):
    """How an export reports its progress, and learns that it must stop."""

    progress: Progress
    cancel: Event

    def check(self) -> None:
        """Raise Cancelled if the user has cancelled."""
        if self.cancel.is_set():
            raise Cancelled("Stopped; nothing was exported.")


def form_of(target: AnyPath) -> ExportForm:
    """Return the form that the name of a target selects: .zip, .csv, or else a folder of links."""
    try:
        return ExportForm(to_path(target).suffix.lower().removeprefix("."))
    except ValueError:
        return ExportForm.LINKS


def check_target(target: AnyPath) -> None:
    """Raise UserError for a target that exists, before photos are read, which takes long."""
    path = to_path(target)
    if not path.name:
        raise UserError(f"{target} cannot be the name of an export; choose another one.")
    if os.path.lexists(path):
        raise UserError(f"{path} exists already; choose another name.")


def export_photos(
    photos: Sequence[ExportedPhoto],
    target: AnyPath,
    form: ExportForm | None = None,
    *,
    progress: Progress = lambda done, total: None,
    cancel: Event | None = None,
) -> None:
    """Write found photos to a new folder or file.

    Args:
        photos: The photos, in the order of the rows.
        target: The folder or file; its folder is made if it is missing.
        form: What to write; by default what the suffix of `target` says, see `form_of`.
        progress: Called with the number of photos done and the total.
        cancel: Set it to stop; nothing is left then.

    Raises:
        Cancelled: `cancel` is set.
        UserError: There are no photos, or some of them are gone; the target exists already or
            cannot be written, or the disk is full.
    """
    path = to_path(target)
    if not photos:
        raise UserError(translate("There are no photos to export."))
    check_target(path)
    write = WRITERS[form or form_of(path)]
    try:
        write(photos, path, _Report(progress, cancel or Event()))
    except OSError as error:
        if error.errno in DISK_FULL:
            raise UserError(
                f"The disk of {path} is full; make room or export fewer photos."
            ) from None
        raise UserError(f"{path} cannot be written ({error.strerror or error}).") from None


def safe_names(names: Iterable[str]) -> list[str]:
    """Return relative paths that every system can create, no two of which are the same there."""
    result: list[str] = []
    taken: set[str] = set()
    for name in names:
        parts = [UNSAFE.sub("_", part).rstrip(". ") for part in name.split("/")]
        safe = PurePosixPath(*[part for part in parts if part] or ["photo"])
        candidate, number = safe, 1
        while (key := unicodedata.normalize("NFC", str(candidate)).casefold()) in taken:
            number += 1
            candidate = safe.with_name(f"{safe.stem} ({number}){safe.suffix}")
        taken.add(key)
        result.append(str(candidate))
    return result


def _check_exist(photos: Sequence[ExportedPhoto]) -> None:
    """Raise UserError if files of photos are gone."""
    if gone := [photo for photo in photos if not photo.path.is_file()]:
        raise UserError(
            translate(
                "{gone} of {count} photos are gone, such as {photo}; connect their drive, or index "
                "the folder again and repeat the search.",
                gone=number(len(gone)),
                count=number(len(photos)),
                photo=printable(gone[0].name),
            )
        )


def _write_links(photos: Sequence[ExportedPhoto], target: Path, report: _Report) -> None:
    """Make a folder of links to photos, symbolic ones if the file system has them."""
    _check_exist(photos)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.{get_ident()}.tmp")
    try:
        temporary.mkdir()
        names = safe_names(photo.name for photo in photos)
        for done, (photo, name) in enumerate(zip(photos, names, strict=True), start=1):
            report.check()
            link = temporary / name
            link.parent.mkdir(parents=True, exist_ok=True)
            _link(photo.path.absolute(), link, target)
            report.progress(done, len(photos))
        check_target(target)  # it may have been made meanwhile
        temporary.rename(target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)  # which follows no links


def _link(photo: Path, link: Path, target: Path) -> None:
    """Make a symbolic link or, where there are none, a hard one."""
    for make in (link.symlink_to, link.hardlink_to):
        try:
            make(photo)
            return
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
    raise UserError(
        f"The disk of {target} cannot hold links to these photos; export a .zip file instead."
    )


def _write_zip(photos: Sequence[ExportedPhoto], target: Path, report: _Report) -> None:
    """Write photos to a zip file as they are, as photos are compressed already."""
    _check_exist(photos)
    names = safe_names(photo.name for photo in photos)
    with atomic(target) as temporary:
        with ZipFile(temporary, "x", ZIP_STORED) as archive:
            for done, (photo, name) in enumerate(zip(photos, names, strict=True), start=1):
                try:
                    _add(archive, photo.path, name, report)
                except OSError as error:
                    if str(error.filename) != str(photo.path):  # it is about the target
                        raise
                    raise UserError(
                        f"The photo {printable(photo.name)} cannot be read ({error.strerror}); "
                        "nothing was exported."
                    ) from None
                report.progress(done, len(photos))
        check_target(target)  # it may have been made meanwhile


def _add(archive: ZipFile, photo: Path, name: str, report: _Report) -> None:
    """Copy a file into an archive, a block at a time."""
    about = ZipInfo.from_file(photo, name, strict_timestamps=False)
    with photo.open("rb") as source, archive.open(about, "w") as copy:
        while block := source.read(BLOCK):
            report.check()
            copy.write(block)


def _write_csv(photos: Sequence[ExportedPhoto], target: Path, report: _Report) -> None:
    """Write a table of photos, whose files are not read."""
    with atomic(target) as temporary:
        with temporary.open("x", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(COLUMNS)
            for done, photo in enumerate(photos, start=1):
                report.check()
                table.writerow(_row(photo))
                report.progress(done, len(photos))
        check_target(target)  # it may have been made meanwhile


def _row(photo: ExportedPhoto) -> tuple[str | int | float, ...]:
    """Return the cells of COLUMNS; unknown ones are empty."""
    about = photo.metadata
    return (
        photo.rank,
        _cell(photo.name),
        photo.score,
        about.taken,
        _cell(about.camera),
        _cell(about.place),
        photo.width or "",
        photo.height or "",
        _cell(about.caption),
    )


def _cell(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula."""
    shown = printable(text)
    return f"'{shown}" if shown.startswith(FORMULA) else shown


WRITERS: dict[ExportForm, Callable[[Sequence[ExportedPhoto], Path, _Report], None]] = {
    ExportForm.LINKS: _write_links,
    ExportForm.ZIP: _write_zip,
    ExportForm.CSV: _write_csv,
}
