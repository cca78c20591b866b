"""Labels as keywords in the XMP sidecars of indexed photos: written and removed on request only.

What was written is remembered with the labels, so that a keyword that somebody else wrote stays.
Nothing is written unless every sidecar can be written.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass
from pathlib import Path

from vsdemo.core.errors import UserError
from vsdemo.data.catalog import xmp
from vsdemo.data.catalog.annotations import Annotations, SidecarKeyword
from vsdemo.data.catalog.catalog import Catalog
from vsdemo.data.catalog.saved_search import checked_name


@dataclass(frozen=True)
class KeywordSummary:
    """What was done to sidecars.

    Attributes:
        keyword: The keyword.
        written: Sidecars that it was added to.
        unchanged: Sidecars that had it already.
        removed: Sidecars that it was removed from.
    """

    keyword: str
    written: int = 0
    unchanged: int = 0
    removed: int = 0


@dataclass(frozen=True)
class _Edit:
    """The content of a sidecar before and after; None where it does not exist."""

    before: bytes | None
    after: bytes | None


def write_keyword(
    catalog: Catalog, annotations: Annotations, keyword: str, photos: Collection[str]
) -> KeywordSummary:
    """Write a keyword into the sidecars of these photos, and remove it from those of others.

    It is only removed where it was written by this function.

    Args:
        catalog: The index of the photos.
        annotations: Where what was written is remembered.
        keyword: Name of a label.
        photos: Content hashes; those of missing photos are ignored.

    Raises:
        UserError: The keyword cannot be a name, or a sidecar is damaged or cannot be written.
            Unless a disk fails or another program changes a sidecar just then, nothing has been
            changed.
    """
    keyword = checked_name(keyword)
    _check_folder(catalog)
    known = annotations.sidecar_keywords(keyword)
    moved = {entry.photo for entry in known if entry.added and not _exists(catalog, entry.path)}
    wanted = {*photos}
    edits: dict[Path, _Edit] = {}  # two photos may have one sidecar
    entries: list[SidecarKeyword] = []
    for photo in catalog.entries():
        if photo.content not in wanted or not _exists(catalog, photo.path):
            continue
        sidecar = xmp.sidecar_of(catalog.folder / photo.path)
        if sidecar not in edits:
            before = xmp.read(sidecar)
            edits[sidecar] = _Edit(before, xmp.with_keyword(before, keyword, sidecar))
        is_new = edits[sidecar].after != edits[sidecar].before
        entries.append(
            SidecarKeyword(photo.path, photo.content, added=is_new or photo.content in moved)
        )
    additions = {sidecar: edit for sidecar, edit in edits.items() if edit.after != edit.before}
    paths = {entry.path for entry in entries}
    outdated = [entry for entry in known if entry.path not in paths]
    cuts = _cuts(catalog, keyword, outdated, kept=edits)
    for sidecar in (*additions, *cuts):
        xmp.check_writable(sidecar)
    # First, so that what a killed call has written is known to be written by vsdemo.
    annotations.remember_keywords(keyword, entries)
    _write(additions)
    _write(cuts)
    annotations.forget_keywords(keyword, [entry.path for entry in outdated])
    return KeywordSummary(
        keyword=keyword,
        written=len(additions),
        unchanged=len(edits) - len(additions),
        removed=len(cuts),
    )


def remove_keyword(catalog: Catalog, annotations: Annotations, keyword: str) -> KeywordSummary:
    """Remove a keyword from all sidecars that `write_keyword` has written it into.

    Raises:
        UserError: As `write_keyword`.
    """
    keyword = checked_name(keyword)
    _check_folder(catalog)
    known = annotations.sidecar_keywords(keyword)
    cuts = _cuts(catalog, keyword, known, kept=())
    for sidecar in cuts:
        xmp.check_writable(sidecar)
    _write(cuts)
    annotations.forget_keywords(keyword, [entry.path for entry in known])
    return KeywordSummary(keyword, removed=len(cuts))


def _cuts(
    catalog: Catalog,
    keyword: str,
    entries: Collection[SidecarKeyword],
    kept: Container[Path],
) -> dict[Path, _Edit]:
    """Return the edits that remove a keyword where it was written.

    Args:
        catalog: The index of the photos.
        keyword: The keyword.
        entries: Where it was to be written.
        kept: Sidecars that keep it.
    """
    known = {entry.path for entry in entries}
    elsewhere: dict[str, list[str]] = {}  # content hash -> where photos are that were moved
    for photo in catalog.entries():
        if photo.path not in known:
            elsewhere.setdefault(photo.content, []).append(photo.path)
    edits: dict[Path, _Edit] = {}
    for entry in entries:
        if not entry.added:
            continue
        places = [
            entry.path,
            *([] if _exists(catalog, entry.path) else elsewhere.get(entry.photo, [])),
        ]
        for path in places:
            sidecar = xmp.sidecar_of(catalog.folder / path)
            before = xmp.read(sidecar)
            if sidecar in kept or before is None or keyword not in xmp.keywords(before, sidecar):
                continue
            edits[sidecar] = _Edit(before, xmp.without_keyword(before, keyword, sidecar))
    return edits


def _write(edits: Mapping[Path, _Edit]) -> None:
    for sidecar, edit in edits.items():
        xmp.write(sidecar, edit.before, edit.after)


def _check_folder(catalog: Catalog) -> None:
    if not catalog.folder.is_dir():
        raise UserError(f"The folder {catalog.folder} is not there; connect its drive.")


def _exists(catalog: Catalog, path: str) -> bool:
    return (catalog.folder / path).exists()
