"""Storybook on disk: pictures, scenes and captions, each made once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tqdm import tqdm

from vsdemo.core import checksums, cores, json_files, locks, rates
from vsdemo.core.checksums import DamagedFile
from vsdemo.core.errors import UserError
from vsdemo.core.paths import atomic, home, write_text
from vsdemo.core.progress import Progress
from vsdemo.data.storybook import painters
from vsdemo.data.storybook.captions import write_captions
from vsdemo.data.storybook.pictures import generate_picture
from vsdemo.data.storybook.realization import Caption
from vsdemo.data.storybook.scene import Group, Link, Scene

SPLITS = {
    "train": range(4000),
    "dev": range(4000, 4500),
    "test": range(4500, 5000),
    "compositional": range(5000, 5500),
    "all": range(5500),
}
# Names the folder of the pictures. Choose another whenever a scene, caption or drawing changes;
# tests/data/storybook/test_store.py notices.
VERSION = "4889aec129ee"
PICTURE, CHECKSUM = "picture_sha256", "sha256"  # keys of a JSON file
WORK = "drawing storybook"  # name of its rate, see `vsdemo.core.rates`


class Example(NamedTuple):
    """The scene of a picture and the texts of its captions."""

    scene: Scene
    captions: tuple[str, ...]


def folder() -> Path:
    """Return the folder below VSDEMO_HOME where this version keeps its pictures."""
    return home() / f"storybook-{VERSION}"


def photo(number: int) -> Path:
    """Return the file of a picture."""
    return folder() / f"{number:05}.png"


def captions_of(scene: Scene) -> tuple[Caption, ...]:
    """Return the five captions of a scene, with trees and links; the same each time."""
    return write_captions(scene, Random(f"captions/{scene.number}"))


def draw(numbers: Sequence[int], progress: Progress | None = None) -> None:
    """Draw missing pictures in their order on all cores, with a progress bar in the terminal.

    While `progress` blocks, only a few more pictures are drawn. A later call continues where a
    killed process stopped. While another process draws, this one counts its pictures.

    Args:
        numbers: Numbers of the pictures.
        progress: Called with the pictures drawn and the pictures to draw.

    Raises:
        UserError: A picture cannot be drawn, for instance because the disk is full.
    """
    if not (missing := _missing(numbers)):
        return

    def count_drawn() -> None:
        if progress:
            progress(len(missing) - len(_missing(missing)), len(missing))

    # A lock for each split: a page need not wait for the thousands of pictures of a training.
    try:
        with locks.turn(photo(numbers[0]), wait=count_drawn):
            _draw(_missing(missing), progress)
    except OSError as error:
        reason = error.strerror or error
        raise UserError(f"The pictures of Storybook cannot be drawn ({reason}).") from None


def _missing(numbers: Sequence[int]) -> list[int]:
    """Return the numbers of the pictures that are not drawn."""
    existing = {path.name for path in folder().glob("*.png")}
    return [number for number in numbers if photo(number).name not in existing]


def _draw(missing: Sequence[int], progress: Progress | None) -> None:
    if not missing:  # another process has drawn them
        return
    processes = min(cores.available(), -(-len(missing) // painters.CHUNK))
    # A single other process would be no faster.
    drawing = painters.draw(missing, processes) if processes > 1 else _draw_here(missing)
    watch = rates.Stopwatch()
    with closing(drawing), tqdm(drawing, total=len(missing), desc="drawing") as bar:
        for done, _ in enumerate(bar, 1):
            if progress:
                with watch.paused():
                    progress(done, len(missing))
    rates.record(WORK, len(missing), watch.seconds)


def seconds_per_picture() -> float | None:
    """Return how long a picture took lately on this machine; None if that was never measured."""
    return rates.seconds_per_item(WORK)


def _draw_here(numbers: Iterable[int]) -> Generator[int, None, None]:
    for number in numbers:
        draw_picture(number)
        yield number


def draw_picture(number: int) -> None:
    """Write a picture after its JSON file, so that an existing picture is complete."""
    picture = generate_picture(number, compositional=number in SPLITS["compositional"])
    png = picture.png()
    captions = [caption.text for caption in captions_of(picture.scene)]
    example: dict[str, Any] = {"scene": asdict(picture.scene), "captions": captions}
    example[PICTURE] = hashlib.sha256(png).hexdigest()
    example[CHECKSUM] = _checksum(example)
    write_text(photo(number).with_suffix(".json"), json.dumps(example))
    with atomic(photo(number)) as temporary:
        temporary.write_bytes(png)


def read_examples(numbers: Sequence[int], progress: Progress | None = None) -> list[Example]:
    """Return scenes and captions; missing and damaged pictures are drawn first."""
    draw(numbers, progress)
    damaged = [number for number in numbers if not is_intact(photo(number))]
    for number in damaged:
        photo(number).unlink(missing_ok=True)
    draw(damaged, progress)
    return [read_example(photo(number)) for number in numbers]


def is_intact(path: Path) -> bool:
    """Return whether a picture and its JSON file are as they were drawn."""
    try:
        return bool(checksums.sha256(path) == _read(path)[PICTURE])
    except (OSError, ValueError):
        return False


def _read(path: Path) -> dict[str, Any]:
    """Return the content of the JSON file of a picture.

    Raises:
        OSError: The file is missing.
        ValueError: The file is damaged.
    """
    example = json_files.load(path.with_suffix(".json"))
    if not isinstance(example, dict) or example.pop(CHECKSUM, None) != _checksum(example):
        raise DamagedFile(path.with_suffix(".json"))
    return example


def _checksum(example: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(example, sort_keys=True).encode()).hexdigest()


def read_example(path: Path) -> Example:
    """Return the scene and the captions of a picture that is drawn, by its file.

    Raises:
        OSError: The file is missing.
        ValueError: The file is damaged.
    """
    example = _read(path)
    fields: dict[str, Any] = example["scene"]
    groups = []
    for group in fields.pop("groups"):
        boxes = tuple(tuple(box) for box in group.pop("boxes"))
        groups.append(Group(**group, boxes=boxes))
    links = tuple(Link(**link) for link in fields.pop("links"))
    scene = Scene(**fields, groups=tuple(groups), links=links)
    return Example(scene, tuple(example["captions"]))
