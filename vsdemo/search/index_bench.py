"""Speed of indexing, compared with decoding and the network alone, of a second run and a search."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image

from vsdemo.core import cores
from vsdemo.core.device import device
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.images import open_photo
from vsdemo.core.progress import StageProgress
from vsdemo.data import datasets
from vsdemo.data.catalog.catalog import Catalog
from vsdemo.data.catalog.examine import PhotoRecord
from vsdemo.data.catalog.metadata import Metadata
from vsdemo.data.catalog.scan import scan
from vsdemo.models.scores import Cosine
from vsdemo.search import indexing
from vsdemo.search.index import Index
from vsdemo.vision.features import FeatureCache

NETWORK, CROPS = "pocket", "whole"
SIZE = (4000, 3000)  # 12 megapixels
DIFFERENT = 16  # encoded pictures; the files differ in bytes after the end of the image
NOISE = 0.2  # share of noise, so that files are as large as those of a camera
QUALITY = 90
SMALL_FILES = 10_000
STORED, DIM = 100_000, 512  # photos of the search, and length of their embeddings
ROUNDS = 20


def measure(photos: int, progress: StageProgress) -> dict[str, Any]:
    """Index generated photos of 12 megapixels in a temporary VSDEMO_HOME.

    Args:
        photos: Number of photos, each about 2.5 MB on disk meanwhile.
        progress: Called with a stage, photos done and all of them.

    Returns:
        Photos a second of `index` and of `bare` (decoding and network alone), their ratio, seconds
        of a second run over 10,000 small files, and milliseconds of a search over 100,000 photos;
        `megabytes` of a photo.
    """
    pictures = draw_pictures()
    with temporary_home() as folder:
        large, small = folder / "large", folder / "small"
        write_large(large, pictures, photos, progress)
        megabytes = sum(file.stat().st_size for file in large.iterdir()) / photos / 1e6
        cache = FeatureCache(NETWORK, CROPS)
        cache.load()
        bare = photos / _seconds_bare(cache, large, progress)
        catalog = Catalog.create("large", large)
        indexed = indexing.index_folder(catalog, [cache], progress, Event())
        again = _seconds_again(small, progress)
    rate = photos / indexed.seconds
    return {
        "photos": photos,
        "megabytes": round(megabytes, 1),
        "index": round(rate, 2),
        "bare": round(bare, 2),
        "ratio": round(rate / bare, 3),
        "again_seconds": round(again, 3),
        "again_files": SMALL_FILES,
        "search_ms": round(_search_milliseconds(), 1),
        "search_photos": STORED,
        "cores": cores.available(),
        "device": str(device()),
    }


@contextmanager
def temporary_home() -> Iterator[Path]:
    """Yield a temporary folder; within the block VSDEMO_HOME is `home` below it."""
    before = os.environ.get("VSDEMO_HOME")
    with TemporaryDirectory() as folder:
        os.environ["VSDEMO_HOME"] = str(Path(folder) / "home")
        try:
            yield Path(folder)
        finally:
            if before is None:
                del os.environ["VSDEMO_HOME"]
            else:
                os.environ["VSDEMO_HOME"] = before


def draw_pictures() -> Sequence[Path]:
    """Return the pictures that photos are made from."""
    datasets.load("storybook", "test", limit=DIFFERENT)  # so that they are drawn
    return datasets.photos("storybook", "test")[:DIFFERENT]


def write_large(
    folder: Path,
    pictures: Sequence[Path],
    count: int,
    progress: StageProgress,
    size: tuple[int, int] = SIZE,
) -> None:
    """Write JPEGs of a width and height in pixels, no two of which are the same file."""
    folder.mkdir()
    noise = Image.effect_noise((size[0] // 2, size[1] // 2), 40).resize(size).convert("RGB")
    encoded = []
    for picture in pictures:
        photo = Image.blend(
            open_photo(picture).resize(size, Image.Resampling.BICUBIC), noise, NOISE
        )
        photo.save(file := folder / "new.jpg", quality=QUALITY)
        encoded.append(file.read_bytes())
        file.unlink()
    for number in range(count):
        content = encoded[number % len(encoded)] + number.to_bytes(4, "big")
        (folder / f"{number:06}.jpg").write_bytes(content)
        progress("Writing photos", number + 1, count)


def _seconds_bare(cache: FeatureCache, folder: Path, progress: StageProgress) -> float:
    """Return how long decoding photos and computing their features takes, and nothing else."""
    paths, cut = sorted(folder.iterdir()), cache.cutter()
    size = cache.photos_per_batch
    started = time.monotonic()
    with cores.thread_pool() as pool:
        for start in range(0, len(paths), size):
            part = paths[start : start + size]
            views = list(pool.map(lambda path: cut(open_photo(path)), part))
            cache.encode_views(np.stack(views))
            progress("Decoding and network alone", start + len(part), len(paths))
    return time.monotonic() - started


def _seconds_again(folder: Path, progress: StageProgress) -> float:
    """Return how long a run takes that finds nothing new among many small files."""
    for number in range(SMALL_FILES):
        path = folder / f"{number // 500:02}" / f"{number:05}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(number.to_bytes(4, "big"))
        progress("Writing small files", number + 1, SMALL_FILES)
    catalog = Catalog.create("small", folder)
    files = scan(folder, lambda done, total: None, Event()).files
    records = [
        PhotoRecord(file, content=f"{number:032x}", width=1, height=1, metadata=Metadata())
        for number, file in enumerate(files)
    ]
    catalog.write(records)
    return indexing.index_folder(catalog, [], progress, Event()).seconds


def _search_milliseconds() -> float:
    """Return how long the best 12 of many photos take, after the sentence is encoded."""
    generator = torch.Generator().manual_seed(0)
    vectors = F.normalize(torch.randn(STORED, DIM, generator=generator), dim=-1).to(device())
    index = Index(Embeddings(vectors), [str(number) for number in range(STORED)], Cosine())
    times = []
    for number in range(ROUNDS):
        started = time.perf_counter()
        index.top_specific(Embeddings(vectors[number : number + 1]), 12)
        times.append(1000 * (time.perf_counter() - started))
    return statistics.median(times)
