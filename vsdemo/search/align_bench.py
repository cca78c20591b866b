"""Speed of alignments: a new photo with a new sentence, and the regions of a gallery."""

from __future__ import annotations

import statistics
import time
from typing import Any

from vsdemo.core import cores
from vsdemo.core.device import device
from vsdemo.core.images import open_photo
from vsdemo.core.paths import AnyPath, checkpoints_root, short_name, to_path
from vsdemo.core.progress import StageProgress
from vsdemo.search.engine import Engine, Reader
from vsdemo.search.index_bench import draw_pictures, temporary_home, write_large

DEFAULT = "flickr8k/fragments"
GALLERY_SIZE = (1024, 768)  # pixels of the photos of the gallery
SUBJECTS = ("man", "woman", "dog", "child", "horse")
PLACES = ("on the beach", "near a tree", "in the snow", "beside a car", "under a bridge")
REGIONS = 12  # of a search


def measure(
    checkpoint: AnyPath | None, photos: int, rounds: int, progress: StageProgress
) -> dict[str, Any]:
    """Align generated photos in a temporary VSDEMO_HOME, none of which was seen before.

    Args:
        checkpoint: A model that aligns; None for DEFAULT.
        photos: Number of photos of the gallery.
        rounds: Photos of 12 megapixels that are aligned, after another one.
        progress: Called with a stage, photos done and all of them.

    Returns:
        `first_ms`, the median of milliseconds from the file of a photo of 12 megapixels and a
        sentence to their alignment, and `first_ms_most`, the largest; `gallery_seconds` until
        regions of `photos` photos can be searched, and `search_ms` of such a search.

    Raises:
        UserError: The checkpoint is damaged, or its model aligns no parts.
    """
    checkpoint = checkpoint or checkpoints_root() / DEFAULT
    reader = Reader(checkpoint)
    reader.check_can_align()
    pictures = draw_pictures()
    times = []
    with temporary_home() as folder:
        large, gallery = folder / "large", folder / "gallery"
        write_large(large, pictures, rounds + 1, progress)
        for number, path in enumerate(sorted(large.iterdir())):
            progress("Aligning photos", number, rounds + 1)
            started = time.perf_counter()
            reader.align(open_photo(path), _sentence(number))
            times.append(1000 * (time.perf_counter() - started))
        write_large(gallery, pictures, photos, progress, size=GALLERY_SIZE)
        started = time.perf_counter()
        engine = Engine(
            checkpoint, gallery, progress=lambda done, of: progress("Reading photos", done, of)
        )
        seconds = time.perf_counter() - started
        started = time.perf_counter()
        engine.regions(_sentence(0), min(REGIONS, photos))
        search = 1000 * (time.perf_counter() - started)
    return {
        "checkpoint": short_name(to_path(checkpoint)),
        "first_ms": round(statistics.median(times[1:]), 1),
        "first_ms_most": round(max(times[1:]), 1),
        "photos": photos,
        "gallery_seconds": round(seconds, 1),
        "search_ms": round(search, 1),
        "cores": cores.available(),
        "device": str(device()),
    }


def _sentence(number: int) -> str:
    """Return one of 25 sentences."""
    place, subject = divmod(number % (len(SUBJECTS) * len(PLACES)), len(SUBJECTS))
    return f"a {SUBJECTS[subject]} with a red hat stands {PLACES[place]}"
