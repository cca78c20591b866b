"""Speed of an image network on one thread, compared with decoding a photo and cutting its view."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from vsdemo.core.device import device, fast_dtype
from vsdemo.core.images import decode_photo
from vsdemo.core.progress import StageProgress
from vsdemo.data import datasets
from vsdemo.search.index_bench import CROPS, write_large
from vsdemo.vision.features import FeatureCache

BATCH = 8


def measure(backbone: str, rounds: int, progress: StageProgress) -> dict[str, Any]:
    """Time in turns an image network on random pixels, and what an index does to a photo first.

    Args:
        backbone: Name of the network.
        rounds: How often each is timed, after a warm-up.
        progress: Called with a stage, rounds done and all of them.

    Returns:
        Medians of milliseconds a photo on one thread: `batch_ms` in batches of 8, `single_ms` in
        batches of 1, and `decode_ms` of decoding a JPEG of 12 megapixels and cutting its view;
        `size`, the side of a view in pixels, `precision` and `device`.

    Raises:
        UserError: If the network is unknown or not available.
    """
    cache = FeatureCache(backbone, CROPS)
    cut, photo = cache.cutter(), _photo()
    size = cut.spec.size
    generator = np.random.default_rng(0)
    pixels = generator.integers(256, size=(BATCH, 1, 3, size, size), dtype=np.uint8)
    steps: dict[str, tuple[int, Callable[[], object]]] = {  # photos of a step, and what it does
        "batch_ms": (BATCH, lambda: cache.encode_views(pixels)),
        "single_ms": (1, lambda: cache.encode_views(pixels[:1])),
        "decode_ms": (1, lambda: cut(decode_photo(photo, "the photo", cut.short))),
    }
    times: dict[str, list[float]] = {name: [] for name in steps}
    with _one_thread():
        for number in range(rounds + 1):
            progress("Timing", number, rounds + 1)
            for name, (photos, step) in steps.items():
                started = time.perf_counter()
                step()
                times[name].append(1000 * (time.perf_counter() - started) / photos)
    return {
        "backbone": backbone,
        "size": size,
        "batch": BATCH,
        **{name: round(statistics.median(of_one[1:]), 2) for name, of_one in times.items()},
        "precision": str(fast_dtype()).removeprefix("torch."),
        "device": str(device()),
    }


def _photo() -> bytes:
    """Return a JPEG of 12 megapixels."""
    pictures = datasets.load("storybook", "test", limit=1).photos
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / "photos"
        write_large(folder, pictures, 1, lambda *_: None)
        (file,) = folder.iterdir()
        return file.read_bytes()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch compute on one thread within the block."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
