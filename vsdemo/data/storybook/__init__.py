"""Storybook: an illustrated world whose every tree, box and entailment is known.

It needs no files: pictures are drawn when they are first used and kept below VSDEMO_HOME. Splits
are train 4,000, dev 500, test 500 and compositional 500; the scenes of the last each join a kind
of thing with a colour or an action that the others never join it with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.progress import Progress
from vsdemo.data.storybook import store
from vsdemo.data.storybook.pictures import held_out
from vsdemo.data.storybook.scene import Scene
from vsdemo.data.storybook.store import captions_of

__all__ = ["HOW_TO_GET", "captions_of", "check", "drawn", "load", "photos", "scenes"]

HOW_TO_GET = "5,500 pictures, drawn by vsdemo when they are first used"


def photos(split: str) -> tuple[Path, ...]:
    """Where the pictures of one split are, or will be once they are drawn."""
    return tuple(store.photo(number) for number in store.SPLITS[split])


def load(split: str, progress: Progress | None = None, most: int = 0) -> CaptionSet:
    """One split, or its first pictures. Draws what is missing and tells `progress` of pictures done
    and to do."""
    numbers = store.SPLITS[split]
    return drawn(numbers[:most] if most else numbers, split, progress)


def drawn(
    numbers: Sequence[int], split: str = "all", progress: Progress | None = None
) -> CaptionSet:
    """The pictures of these numbers, of which there is no end, with their captions."""
    stories = store.read(numbers, progress)
    return CaptionSet(
        "storybook",
        split,
        tuple(store.photo(number) for number in numbers),
        tuple(text for story in stories for text in story.captions),
        tuple(i for i, story in enumerate(stories) for _ in story.captions),
    )


def scenes(split: str, progress: Progress | None = None) -> tuple[Scene, ...]:
    """The scene graphs of a split, in the order of its pictures."""
    return tuple(story.scene for story in store.read(store.SPLITS[split], progress))


def check() -> tuple[list[str], list[str]]:
    """(facts, problems) about the scenes."""
    graphs = scenes("all")
    kinds = Counter(group.kind for scene in graphs for group in scene.groups)
    sizes = ", ".join(f"{name} {len(numbers):,}" for name, numbers in store.SPLITS.items())
    facts = [
        f"{len(graphs):,} pictures in {store.folder()}; {sizes}",
        f"{len(kinds)} kinds of things, each in at least {min(kinds.values())} pictures",
        f"{sum(scene.surprising for scene in graphs):,} pictures of something surprising",
    ]
    wrong = [s for s in graphs if held_out(s) != (s.number in store.SPLITS["compositional"])]
    return facts, [f"picture {s.number} is in the wrong split" for s in wrong]
