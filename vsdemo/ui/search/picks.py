"""What is done with the photos that a visitor has selected: exported, or marked for a label."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vsdemo.core.errors import UserError
from vsdemo.core.language import message
from vsdemo.core.paths import home
from vsdemo.data.catalog.annotations import Annotations
from vsdemo.data.galleries import Gallery
from vsdemo.search.photo_export import ExportedPhoto, ExportForm, export_photos
from vsdemo.search.ranking import Ranking
from vsdemo.ui.callbacks import GONE
from vsdemo.ui.library.pending import Status
from vsdemo.ui.search.results import can_pick

FITS, DOES_NOT_FIT = "fits", "not"  # actions that mark photos for a label
FOLDER = "exports"  # below VSDEMO_HOME
NO_INDEX = message("Labels need an index of these photos; “Add photos …” makes one.")


def annotations_of(gallery: Gallery) -> Annotations | None:
    """Return what the user keeps of an index; None where nothing can be kept."""
    catalog = gallery.catalog if can_pick(gallery) else None
    return Annotations(catalog.name) if catalog else None


def picked_numbers(data: dict[str, Any], gallery: Gallery) -> list[int]:
    """Return the numbers of the selected photos that a page has sent.

    Raises:
        UserError: There are none, one is not valid, or the visitor may not use the files.
    """
    numbers, count = data.get("numbers"), len(gallery.photos)
    if not can_pick(gallery) or not isinstance(numbers, list):
        raise UserError(GONE)
    valid = [n for n in numbers if isinstance(n, int) and 0 <= n < count]
    if not valid or len(valid) < len(numbers):
        raise UserError(GONE)
    return valid


def export(
    gallery: Gallery, ranking: Ranking | None, numbers: Sequence[int], form: str, status: Status
) -> Path:
    """Write photos to a new file or folder below VSDEMO_HOME, and return its path.

    Args:
        gallery: Their gallery.
        ranking: The results on the page, whose ranks and scores go into a table.
        numbers: Their numbers.
        form: A value of `ExportForm`.
        status: Where the progress is reported.

    Raises:
        UserError: As `export_photos`, or there is no such form.
    """
    if form not in {*ExportForm}:
        raise UserError(GONE)
    suffix = "" if form == ExportForm.LINKS else f".{form}"
    name = f"{Path(gallery.name).name}-{time.strftime('%Y-%m-%d-%H%M%S')}{suffix}"
    target = home() / FOLDER / name
    places = ranking.places_of(numbers) if ranking else {}
    scores = ranking.scores.tolist() if ranking else []
    entries, photos = gallery.entries(numbers), []
    for number in sorted(numbers, key=lambda n: places.get(n, len(places))):
        place, photo = places.get(number), gallery.photos[number]
        rank, score = (0, 0.0) if place is None else (place + 1, scores[place])
        photos.append(ExportedPhoto.of(photo, photo.name, rank, score, entry=entries.get(number)))
    export_photos(photos, target, ExportForm(form), progress=status.report, cancel=status.cancelled)
    return target


def mark(gallery: Gallery, name: str, numbers: Sequence[int], *, fits: bool) -> int:
    """Mark photos as examples of a label, and return how many.

    Raises:
        UserError: The gallery is not indexed, or the label cannot have this name.
    """
    kept = annotations_of(gallery)
    if kept is None or not gallery.keys:
        raise UserError(NO_INDEX)
    keys = {gallery.keys[number] for number in numbers}
    kept.mark(name, keys, positive=fits)
    return len(keys)
