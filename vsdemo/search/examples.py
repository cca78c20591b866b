"""Which sentences to offer to a visitor: those that a model answers correctly in a gallery."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from vsdemo.core.errors import UserError
from vsdemo.core.paths import checkpoints_root
from vsdemo.data import datasets, examples, packaged
from vsdemo.data.examples import TOPICS, Example
from vsdemo.models import checkpoint
from vsdemo.search.engine import Engine

COUNT = 3  # sentences to offer
SPLIT = "test"  # which is checked for the shipped checkpoints
CHECKED = ("storybook", "flickr8k")  # data sets


def file(dataset: str) -> Path:
    """Return the file with the answers of the shipped checkpoints in a data set."""
    return examples.FOLDER / f"{dataset}.json"


def answered(engine: Engine) -> Iterator[tuple[Example, str]]:
    """Yield the examples that an engine answers correctly, each with the name of the first photo.

    The example is true of this photo, the model has learned all its words, and the engine says that
    something matches.
    """
    true_photos = examples.true_photos(engine.gallery)
    for example in examples.examples(engine.gallery.name):
        if photo := _answer(engine, example, true_photos[example.text]):
            yield example, photo


def offered(engine: Engine) -> tuple[str, ...]:
    """Return sentences to offer that an engine answers correctly; none without captions.

    If there are too few examples, captions of the gallery follow.
    """
    right = [example for example, _ in answered(engine)]
    for example, photo in examples.short_captions(engine.gallery).items():
        if len(right) >= COUNT:
            break
        if _answer(engine, example, {photo}):
            right.append(example)
    return choose(right)


def _answer(engine: Engine, example: Example, true_photos: Collection[str]) -> str | None:
    """Return the name of the first photo if an engine answers an example correctly."""
    if not true_photos:
        return None
    try:
        hits = engine.search(example.text, 1)
    except UserError:  # the model knows no word of it
        return None
    is_right = (
        hits[0].item in true_photos
        and not engine.unread_words(example.text)
        and engine.matches(example.text, hits)
    )
    return hits[0].item if is_right else None


def choose(answers: Sequence[Example], count: int = COUNT) -> tuple[str, ...]:
    """Return the first of each topic, then the first others, at most `count` sentences."""
    first = [next((e for e in answers if e.topic == topic), None) for topic in TOPICS]
    varied = [example for example in first if example is not None]
    others = [example for example in answers if example not in varied]
    return tuple(example.text for example in [*varied, *others][:count])


def stored(
    folder: Path, dataset: str, split: str, photos: Collection[str] | None = None
) -> tuple[str, ...] | None:
    """Return the sentences to offer by what `check` wrote; None if it found fewer than COUNT.

    If only some photos are given, there may be fewer.

    Args:
        folder: A checkpoint, which must be as it was when it was checked.
        dataset: Name of the data set of the gallery.
        split: Its split.
        photos: Names of the photos of the split that the gallery has; None for all.
    """
    if split != SPLIT or dataset not in CHECKED:
        return None
    content = content_hash(folder)
    for record in _read(dataset)["checkpoints"].values():
        if record["checkpoint"] == content:
            first: dict[str, str] = record["first_photos"]
            # The first of all photos is also the first of any subset with it.
            right = {text for text, photo in first.items() if photos is None or photo in photos}
            chosen = choose([e for e in examples.examples(dataset) if e.text in right])
            return chosen if photos is not None or len(chosen) == COUNT else None
    return None


@cache
def content_hash(folder: Path) -> str:
    """Return `checkpoint.content_hash`, which takes a while for a large checkpoint."""
    return checkpoint.content_hash(folder)


@cache
def _read(dataset: str) -> Mapping[str, Any]:
    values: dict[str, Any] = json.loads(packaged.read_text(file(dataset)))
    return values


def check(dataset: str) -> dict[str, dict[str, str]]:
    """Search for every example with all shipped checkpoints, and write what `stored` reads.

    Returns:
        By the name of each checkpoint, the sentences that it answers correctly, each with the name
        of the first photo.

    Raises:
        UserError: The data set or the image network of a checkpoint is missing.
    """
    gallery = datasets.load(dataset, SPLIT)
    records, answers = {}, {}
    root = checkpoints_root()
    for folder in checkpoint.shipped():
        if not checkpoint.read_spec(folder).features:
            continue
        name = folder.relative_to(root).as_posix()
        engine = Engine(folder, dataset, SPLIT)
        answers[name] = {example.text: photo for example, photo in answered(engine)}
        records[name] = {
            "checkpoint": checkpoint.content_hash(folder),
            "first_photos": answers[name],
        }
    photos = {text: sorted(names) for text, names in examples.true_photos(gallery).items()}
    content = {"split": SPLIT, "photos": photos, "checkpoints": records}
    packaged.write_text(file(dataset), json.dumps(content, indent=1) + "\n")
    return answers
