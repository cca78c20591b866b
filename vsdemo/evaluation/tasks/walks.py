"""Free walks through the hierarchy of a model over photos whose captions' relations are known.

A walk up begins at a photo and goes, step by step, to the nearest concept or caption above; a walk
down begins at a concept or caption and goes to the nearest one below, at last to a photo. The items
are the concepts that the model knows, the captions of the split and its photos.

A step is true if the upper item follows from the lower one. On Storybook this is known by the
facts. On captions that people wrote it is known by grammar and by WordNet (`data.relations`, and
`data.relations.meaning` for two given texts): a text is true of a photo if it follows from one of
the photo's captions. What may follow but does not by these rules counts as false.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import ClassVar, cast

import numpy as np

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data import relations
from vsdemo.data.relations import generalize
from vsdemo.data.relations.meaning import Meanings
from vsdemo.data.storybook.concepts import concept_phrases
from vsdemo.data.storybook.facts import Facts, Thing, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.truth import entailed, fact_table
from vsdemo.encoders import TextEncoder
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.hierarchy.order import (
    CAPTION,
    CONCEPT,
    Hierarchy,
    Item,
    check_order,
    hierarchy_of_photos,
)
from vsdemo.hierarchy.walks import climb, descend
from vsdemo.models.dual_encoder import DualEncoder

FIRST = 5  # items listed below an item, among which its children should be


@dataclass(frozen=True)
class World:
    """The texts and photos of a split, and what is true of them.

    Args:
        texts: The N texts, concepts before captions.
        kinds: Of each text, (N,).
        follows: (N, N) whether text i follows from text j.
        describes: (N, P) whether a text is true of a photo.
        starts: (P, 2) the texts where walks down begin for each photo: the concept of its main
            thing, or the most special one that most of its captions name, and its first caption.
    """

    texts: tuple[str, ...]
    kinds: tuple[str, ...]
    follows: np.ndarray
    describes: np.ndarray
    starts: np.ndarray

    @cached_property
    def strict(self) -> np.ndarray:
        """Whether text i follows from text j, but not the other way round, (N, N)."""
        strict: np.ndarray = self.follows & ~self.follows.T
        return strict

    def children(self, text: int, known: np.ndarray) -> np.ndarray:
        """Return the known texts directly below a text: more specific, with none between."""
        below = self.strict[text] & known
        between = (self.strict[:, below] & below[:, None]).any(0)
        children: np.ndarray = np.flatnonzero(below)[~between]
        return children


@lru_cache(maxsize=1)
def world(split: CaptionSet) -> World:
    """Return the texts and truths of a split."""
    return _storybook(split) if split.name in relations.EXACT else _captions(split)


def _captions(split: CaptionSet) -> World:
    known = relations.load(split)
    rows = {known.texts[row]: row for row in known.concepts}
    count = len(rows)
    keys = {generalize.key(text) for text in split.captions}
    rows |= {known.texts[row]: row for row in known.common if known.texts[row] not in keys}
    for row, caption in enumerate(split.captions):
        rows.setdefault(caption, row)
    texts = np.array([*rows.values()])
    labels = known.among_texts(texts, texts)
    possible = np.argwhere(labels == relations.UNKNOWN)
    implied = Meanings(split).implied(tuple(rows), possible)
    labels[tuple(possible[implied].T)] = relations.TRUE
    true = labels == relations.TRUE
    number = {row: i for i, row in enumerate(texts.tolist())}
    of_concepts = true[:count]
    generality = of_concepts[:, :count].sum(0)  # concepts above each concept
    of_photo = [
        [number[rows[split.captions[row]]] for row in captions] for captions in split.captions_of
    ]
    starts = []
    for captions in of_photo:
        shared = 2 * of_concepts[:, captions].sum(1) > len(captions)
        starts.append([int(np.where(shared, generality, 0).argmax()), captions[0]])
    return World(
        texts=tuple(rows),
        kinds=(CONCEPT,) * count + (CAPTION,) * (len(rows) - count),
        follows=true,
        describes=np.stack([true[:, captions].any(1) for captions in of_photo], axis=1),
        starts=np.array(starts),
    )


def _storybook(split: CaptionSet) -> World:
    scenes, captions = stories(split)
    concepts = concept_phrases()
    facts = {phrase: Facts((Thing(name),)) for phrase, name in concepts.items()}
    count = len(facts)
    facts |= {caption.text: caption.facts for caption in captions if caption.text not in facts}
    number = {text: i for i, text in enumerate(facts)}
    phrase_of = {name: phrase for phrase, name in concepts.items()}
    main = [phrase_of[load_lexicon().named_concept(scene.groups[0].kind)] for scene in scenes]
    first = [captions[own[0]].text for own in split.captions_of]
    table = fact_table([*facts.values()])
    return World(
        texts=tuple(facts),
        kinds=(CONCEPT,) * count + (CAPTION,) * (len(facts) - count),
        follows=entailed(table, table),
        describes=entailed(fact_table([facts_of(scene) for scene in scenes]), table),
        starts=np.array([[number[a], number[b]] for a, b in zip(main, first, strict=True)]),
    )


@dataclass(frozen=True)
class WalkCounts:
    """What was counted on the walks that belong to each photo, all (P,).

    Args:
        up: True steps up.
        steps_up: Steps up.
        down: True steps down.
        steps_down: Steps down; an empty walk counts as one.
        children: True children among the first items below.
        possible: Children that there could be among them.
    """

    up: np.ndarray
    steps_up: np.ndarray
    down: np.ndarray
    steps_down: np.ndarray
    children: np.ndarray
    possible: np.ndarray

    def __len__(self) -> int:
        return len(self.up)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, float]:
        """Return the metrics of all photos or of a sample."""
        rows = slice(None) if photos is None else photos

        def share(right: np.ndarray, of: np.ndarray) -> float:
            return 100 * float(right[rows].sum() / max(1, of[rows].sum()))

        return {
            "up": share(self.up, np.maximum(self.steps_up, 1)),
            "steps_up": float(self.steps_up[rows].mean()),
            "down": share(self.down, self.steps_down),
            "children": share(self.children, self.possible),
        }


@dataclass(frozen=True)
class Walks(PairedTask):
    """Walks from photos up, and from concepts and captions down."""

    name: ClassVar[str] = "walks"
    needs: ClassVar[frozenset[str]] = frozenset({"photos", "relations"})
    primary: ClassVar[str] = "up"

    def check(self, model: DualEncoder) -> None:
        """Raise UserError for a model whose score is no order of captions above photos."""
        order = model.score.order
        if order is None or order.reversed:
            raise UserError("The task walks needs an order-embedding with captions above photos.")

    def measure(self, model: DualEncoder, data: PhotoData) -> WalkCounts:
        """Return what is counted on the walks of each photo."""
        truth = world(data.split)
        known = known_texts(model, truth)
        hierarchy, numbers = hierarchy_of(model, data, truth, known)
        photos = range(len(data.split.photos))
        first_photo = len(hierarchy) - len(photos)
        ups = [_walk_up(hierarchy, truth, numbers, first_photo, photo) for photo in photos]
        item_of = {text: item for item, text in enumerate(numbers) if text >= 0}
        below = {
            text: _walk_down(hierarchy, truth, numbers, first_photo, item_of[text], known)
            for text in dict.fromkeys(truth.starts.ravel().tolist())
            if text in item_of
        }
        downs = np.array(
            [
                np.sum([below.get(text, (0, 0, 0, 0)) for text in texts], axis=0)
                for texts in truth.starts.tolist()
            ]
        )
        up, steps_up = np.array(ups).T
        down, steps_down, children, possible = downs.T
        return WalkCounts(up, steps_up, down, steps_down, children, possible)

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return percentages, with ci95 over photos.

        up, down: steps that are true, an empty walk counting as one that is not; steps_up: mean
        number of steps of a walk up, without the root; children: of the texts directly below the
        starts of the walks down, those among the first FIRST listed below.
        """
        return dict(with_intervals(self.measure(model, data)))


def known_texts(model: DualEncoder, truth: World) -> np.ndarray:
    """Return of which texts a model knows all words and, if it learned concepts, the concept."""
    encoder = cast(TextEncoder, model.text)
    known = np.array([not encoder.unknown(Sentence(text))[1] for text in truth.texts])
    if model.concepts:
        is_caption = np.array([kind == CAPTION for kind in truth.kinds])
        known &= is_caption | np.isin(truth.texts, model.concepts)
    return known


def hierarchy_of(
    model: DualEncoder, data: PhotoData, truth: World, known: np.ndarray
) -> tuple[Hierarchy, Sequence[int]]:
    """Return the hierarchy of the known texts, and the text of each item; -1 for others.

    The root comes first, then texts, then photos.
    """
    texts = np.flatnonzero(known).tolist()
    encoded = model.encode_text([Sentence(truth.texts[text]) for text in texts]).x
    photos = model.encode_image(data.features).x
    order, part = check_order(model.score, "This model"), model.score.order_part
    items = [Item(truth.kinds[text], truth.texts[text]) for text in texts]
    names = [photo.name for photo in data.split.photos]
    hierarchy = hierarchy_of_photos(items, part(encoded), names, part(photos), order, model.limits)
    return hierarchy, [-1, *texts, *[-1] * len(photos)]


def _walk_up(
    hierarchy: Hierarchy, truth: World, numbers: Sequence[int], first_photo: int, photo: int
) -> tuple[int, int]:
    """Return how many steps of a walk up are true, and how many there are."""
    steps = climb(hierarchy, hierarchy.node(first_photo + photo))
    texts = [numbers[step.number] for step in steps if numbers[step.number] >= 0]
    right = [bool(truth.describes[text, photo]) for text in texts[:1]]
    right += [bool(truth.follows[b, a]) for a, b in pairwise(texts)]
    return sum(right), len(right)


def _walk_down(
    hierarchy: Hierarchy,
    truth: World,
    numbers: Sequence[int],
    first_photo: int,
    item: int,
    known: np.ndarray,
) -> tuple[int, int, int, int]:
    """Return true steps, steps, true children among the first ones listed, and possible ones."""
    right, text = [], numbers[item]
    for step in descend(hierarchy, item):
        lower = numbers[step.number]
        if lower >= 0:
            right.append(bool(truth.follows[text, lower]))
            text = lower
        else:
            right.append(bool(truth.describes[text, step.number - first_photo]))
    children = set(truth.children(numbers[item], known).tolist())
    listed = hierarchy.children(hierarchy.node(item))[:FIRST]
    reached = sum(numbers[step.number] in children for step in listed)
    return sum(right), max(1, len(right)), reached, min(FIRST, len(children))
