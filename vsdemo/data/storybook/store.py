"""Storybook on disk: pictures, scenes and captions, each made once."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import parent_process
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any, NamedTuple

from tqdm import tqdm

from vsdemo.core.paths import atomic, home, write_text
from vsdemo.core.progress import Progress
from vsdemo.data.storybook import plausibility
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
CHUNK = 8  # pictures that a process draws before it asks for more


class Story(NamedTuple):
    """A picture's scene and the texts of its captions."""

    scene: Scene
    captions: tuple[str, ...]


def folder() -> Path:
    """Return the folder below VSDEMO_HOME where this version keeps its pictures."""
    return home() / f"storybook-{VERSION}"


def photo(number: int) -> Path:
    """The file of a picture."""
    return folder() / f"{number:05}.png"


def captions_of(scene: Scene) -> tuple[Caption, ...]:
    """The five captions of a scene of a split, with trees and links; the same each time."""
    return write_captions(scene, Random(f"captions/{scene.number}"))


def draw(numbers: Sequence[int], progress: Progress | None = None) -> None:
    """Draws what is missing on all cores. Shows a progress bar in the terminal, and calls
    `progress`. A run that was killed goes on where it stood."""
    there = {path.name for path in folder().glob("*.png")}
    missing = [n for n in numbers if photo(n).name not in there]
    if not missing:
        return
    plausibility.actions()  # kept, so that processes that are forked need not work it out again
    workers = min(os.cpu_count() or 1, -(-len(missing) // CHUNK))
    if workers == 1:  # a process of its own would be no faster
        for done, number in enumerate(missing, 1):
            _draw(number)
            if progress:
                progress(done, len(missing))
        return
    with (
        ProcessPoolExecutor(workers, initializer=_end_with_parent) as pool,
        tqdm(pool.map(_draw, missing, chunksize=CHUNK), total=len(missing), desc="drawing") as bar,
    ):
        for done, _ in enumerate(bar, 1):
            if progress:
                progress(done, len(missing))


def read(numbers: Sequence[int], progress: Progress | None = None) -> list[Story]:
    """Scenes and captions, drawn first where they are missing."""
    draw(numbers, progress)
    return [_read(number) for number in numbers]


def _end_with_parent() -> None:
    """So that nothing stays behind when the program is killed with -9."""

    def wait() -> None:
        if parent := parent_process():
            parent.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()


def _draw(number: int) -> None:
    """The picture goes last: where it is, all is."""
    made = generate_picture(number, number in SPLITS["compositional"])
    texts = [caption.text for caption in captions_of(made.scene)]
    story = {"scene": asdict(made.scene), "captions": texts}
    write_text(photo(number).with_suffix(".json"), json.dumps(story))
    with atomic(photo(number)) as temporary:
        temporary.write_bytes(made.png())


def _read(number: int) -> Story:
    story = json.loads(photo(number).with_suffix(".json").read_text(encoding="utf-8"))
    scene: dict[str, Any] = story["scene"]
    groups = tuple(
        Group(**(g | {"boxes": tuple(tuple(box) for box in g["boxes"])})) for g in scene["groups"]
    )
    links = tuple(Link(**link) for link in scene["links"])
    return Story(Scene(**(scene | {"groups": groups, "links": links})), tuple(story["captions"]))
