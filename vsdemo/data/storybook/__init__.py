"""Storybook: an illustrated world in which every tree, box and entailment is known.

It needs no files: pictures are drawn when they are first used and kept below VSDEMO_HOME. The
splits are train (4,000), dev, test and compositional (500 each). Every scene of the last combines a
kind of thing with a colour or an action that it has in no other split.

How a picture and its captions come about:

- `lexicon.toml`, `lexicon.py`, `lexicon_entries.py`: nouns, verbs, colours and settings.
- `plausibility.py`, `capacity.py`: which of them go together, and in what numbers.
- `layouts.py`, `sprites.py`, `canvas.py`: where things stand; `drawing.py` draws them.
- `pictures.py`, `scene.py`, `relations.py`: the scene graph and its picture, by number.
- `facts.py`: what is true of a scene or a sentence, and entailment.
- `captions.py`, `realization.py`, `phrases.py`: what captions say, and their sentences with trees.
- `variants.py`, `false_twins.py`: captions that differ from another in one respect; the twins are
  false of a picture as far as `visible_facts.py` can tell.
- `typing_style.py`, `typing_style.toml`, `typing_words.py`, `negation.py`: sentences as people type
  them, also about what is absent.
- `training_sentences.py`, `sentence_store.py`: all sentences that a model may learn from about one
  scene, and files of them; `free_scenes.py`: scenes beyond the splits.
- `typed.py`, `typed.toml`, `truth.py`: typed sentences to measure models with, and the scenes that
  they are true of.
- `store.py`, `painters.py`, `contact_sheet.py`: files on disk, processes that draw them, and an
  overview.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.progress import Progress
from vsdemo.data.storybook import store
from vsdemo.data.storybook.pictures import is_held_out
from vsdemo.data.storybook.scene import Scene
from vsdemo.data.storybook.store import captions_of

__all__ = ["HOW_TO_GET", "captions_of", "check", "drawn", "load", "of_examples", "photos", "scenes"]

HOW_TO_GET = "5,500 pictures, drawn by vsdemo when they are first used"


def photos(split: str) -> tuple[Path, ...]:
    """Return the files of the pictures of a split; they may not be drawn yet."""
    return tuple(store.photo(number) for number in store.SPLITS[split])


def load(split: str, progress: Progress | None = None, limit: int = 0) -> CaptionSet:
    """Return a split, drawing missing pictures.

    Args:
        split: A key of `store.SPLITS`.
        progress: Called with the pictures drawn and the pictures to draw.
        limit: Only the first pictures; 0 for all.
    """
    numbers = store.SPLITS[split]
    return drawn(numbers[:limit] if limit else numbers, split, progress)


def drawn(
    numbers: Sequence[int], split: str = "all", progress: Progress | None = None
) -> CaptionSet:
    """Return the pictures of some numbers with their captions; any number has a picture."""
    return of_examples(store.read_examples(numbers, progress), split)


def of_examples(examples: Sequence[store.Example], split: str) -> CaptionSet:
    """Return the pictures of examples with their captions."""
    return CaptionSet(
        name="storybook",
        split=split,
        photos=tuple(store.photo(example.scene.number) for example in examples),
        captions=tuple(text for example in examples for text in example.captions),
        photo_of=tuple(i for i, example in enumerate(examples) for _ in example.captions),
    )


def scenes(split: str, progress: Progress | None = None) -> tuple[Scene, ...]:
    """Return the scene graphs of a split, in the order of its pictures."""
    examples = store.read_examples(store.SPLITS[split], progress)
    return tuple(example.scene for example in examples)


def check() -> tuple[list[str], list[str]]:
    """Return facts about the scenes, and problems with them."""
    graphs = scenes("all")
    kinds = Counter(group.kind for scene in graphs for group in scene.groups)
    sizes = ", ".join(f"{name} {len(numbers):,}" for name, numbers in store.SPLITS.items())
    facts = [
        f"{len(graphs):,} pictures in {store.folder()}; {sizes}",
        f"{len(kinds)} kinds of things, each in at least {min(kinds.values())} pictures",
        f"{sum(scene.surprising for scene in graphs):,} pictures of something surprising",
    ]
    compositional = store.SPLITS["compositional"]
    wrong = [scene for scene in graphs if is_held_out(scene) != (scene.number in compositional)]
    return facts, [f"picture {scene.number} is in the wrong split" for scene in wrong]
