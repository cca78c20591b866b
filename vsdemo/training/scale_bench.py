"""Whether a preset can be trained on as many photos as Flickr30k or COCO have, on this machine.

Photos, captions and features are generated, so nothing is learned: memory and times are those of a
training on a data set of that size whose features are cached.
"""

from __future__ import annotations

import io
import json
import os
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from vsdemo import models
from vsdemo.core.config import Config, override
from vsdemo.core.errors import UserError
from vsdemo.core.events import read
from vsdemo.core.memory import memory_of_family
from vsdemo.core.paths import fetch_root
from vsdemo.core.progress import StageProgress
from vsdemo.training import preflight
from vsdemo.training.bench import failure, train_command
from vsdemo.training.jobs.spec import JobSpec
from vsdemo.training.materials import material_class
from vsdemo.training.materials.photos import CAPTIONS, Photos
from vsdemo.vision.features import SHARD, FeatureCache, photo_keys

HELD_OUT = 1000  # photos each of dev and test, as in Flickr30k
WORDS = 10_000  # of the vocabulary of COCO's captions, about
LENGTHS = (7, 16)  # words of a caption, at least and less than
SIDE = 32  # pixels of a photo
PAUSE = 0.2  # seconds between two looks at a training
GIGABYTE = 1e9
EVENTS = "events.jsonl"  # in the folder of a training


class Run(NamedTuple):
    """What was seen of a training.

    Attributes:
        start: Seconds before the first step.
        step: Seconds of a step, the median.
        memory: Most bytes of memory of all processes, without files that are mapped into it.
        steps: Steps of the whole training.
    """

    start: float
    step: float
    memory: int
    steps: int


def measure(
    preset: str,
    settings: Sequence[str],
    *,
    photos: int,
    steps: int,
    processes: int,
    progress: StageProgress,
) -> dict[str, Any]:
    """Generate a data set, and train a preset on it for some steps.

    Args:
        preset: Name of a preset that learns from photos.
        settings: Its changed settings, as "key=value".
        photos: Number of photos to learn from, with five captions each.
        steps: How many steps to take, at least.
        processes: How many processes share each batch.
        progress: Called with (stage, done, total).

    Returns:
        `start_seconds`, before the first step; `step_seconds`, the median; `epoch_minutes`, without
        evaluations; `memory_gb` of all processes, and `features_gb` on the disk.

    Raises:
        UserError: The preset does not learn from photos, or its training fails.
        OSError: The disk is full.
    """
    plain = models.preset(preset)[1]
    config = override(plain, settings)
    if not preflight.uses_photos(config):
        raise UserError(f"{preset} learns without photos; choose a preset that learns from them.")
    with TemporaryDirectory() as folder, _home(Path(folder) / "home"):
        captions, out = Path(folder) / "data" / "captions.json", Path(folder) / "run"
        paths = _write_captions(captions, photos, progress)
        settings = (*preflight.default_settings(config, str(captions)), *settings)
        features = _write_features(override(plain, settings), paths, progress)
        job = JobSpec(preset, str(captions), settings)
        command = train_command(job, out, processes if processes > 1 else 0)
        run = _train(command, out, steps, progress)
    return {
        "photos": photos,
        "processes": processes,
        "start_seconds": round(run.start, 1),
        "step_seconds": round(run.step, 3),
        "epoch_minutes": round(run.step * run.steps / config.epochs / 60, 1),
        "memory_gb": round(run.memory / GIGABYTE, 1),
        "features_gb": round(features / GIGABYTE, 1),
    }


@contextmanager
def _home(folder: Path) -> Iterator[None]:
    """Keep generated features apart from those of real photos; weights are where they were."""
    values = {"VSDEMO_HOME": str(folder), "VSDEMO_DATA": str(fetch_root())}
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _write_captions(file: Path, photos: int, progress: StageProgress) -> list[Path]:
    """Write small photos, and captions of random words; return the photos that are needed."""
    draw = np.random.default_rng(0)
    picture = io.BytesIO()
    Image.fromarray(draw.integers(256, size=(SIDE, SIDE, 3), dtype=np.uint8)).save(picture, "JPEG")
    splits = ["train"] * photos + ["val"] * HELD_OUT + ["test"] * HELD_OUT
    images, paths = [], []
    for number, split in enumerate(splits):
        path = file.parent / split / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(picture.getvalue() + number.to_bytes(4, "big"))  # contents differ
        if split != "test":
            paths.append(path)
        ranks = [draw.zipf(1.3, size=draw.integers(*LENGTHS)) % WORDS for _ in range(CAPTIONS)]
        sentences = [{"raw": " ".join(f"word{rank}" for rank in of)} for of in ranks]
        images.append(
            {"filepath": split, "filename": path.name, "split": split, "sentences": sentences}
        )
        if number % SHARD == 0:
            progress("Captions", number, len(splits))
    file.write_text(json.dumps({"images": images}))
    return paths


def _write_features(config: Config, photos: Sequence[Path], progress: StageProgress) -> int:
    """Write random features of photos into the cache; return their bytes."""
    material = material_class(config.material)
    assert issubclass(material, Photos)
    keys, written = photo_keys(photos), 0
    for backbone, crops in material.networks(config):
        cache = FeatureCache(backbone, crops)
        example = cache.get(photos[:1], material.features)
        block = torch.randn(SHARD, *example.shape[1:]).relu_().to(example.dtype)
        for start in range(0, len(keys), SHARD):
            part = keys[start : start + SHARD]
            cache.store(part, _of_block(block, start)[: len(part)], material.features)
            progress(f"Features by {backbone} ({crops})", start, len(keys))
        written += example.nbytes * len(keys)
    return written


def _of_block(block: Tensor, start: int) -> Tensor:
    """Return a block that differs from those of other photos."""
    return block.flatten(1).roll(start, dims=1).view_as(block)


def _train(command: Sequence[str], out: Path, steps: int, progress: StageProgress) -> Run:
    """Run a training until it has taken some steps.

    Raises:
        UserError: The training fails.
    """
    errors = out.with_name("errors")
    started, memory = time.time(), 0
    with errors.open("w") as file:
        training = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=file)
        try:
            while training.poll() is None and (done := _steps_taken(out)) < steps:
                memory = max(memory, memory_of_family(training.pid))
                progress("Training", done, steps)
                time.sleep(PAUSE)
        finally:
            training.terminate()
            training.wait()
    events = list(read(out / EVENTS))
    taken = [event for event in events if event["kind"] == "step"]
    if _steps_taken(out) < steps:
        raise failure(errors.read_text())
    rates = [(b["time"] - a["time"]) / (b["step"] - a["step"]) for a, b in pairwise(taken)]
    return Run(
        start=taken[0]["time"] - started,
        step=statistics.median(rates),
        memory=memory,
        steps=next(event["steps"] for event in events if event["kind"] == "start"),
    )


def _steps_taken(out: Path) -> int:
    """Return how many steps a training has logged."""
    file = out / EVENTS
    return max((event["step"] for event in read(file)), default=0) if file.exists() else 0
