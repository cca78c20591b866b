"""What is true of the texts and photos of a split, and a model's hierarchy over them.

A text follows from another one by Storybook's facts or, on captions that people wrote, by grammar
and by WordNet (`data.relations`, and `data.relations.meaning` for two given texts): such a text is
true of a photo if it follows from one of the photo's captions. What may follow but does not by
these rules counts as false.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import cast

import numpy as np

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.sentences import Sentence
from vsdemo.data import relations
from vsdemo.data.relations import generalize
from vsdemo.data.relations.meaning import Meanings
from vsdemo.data.storybook.concepts import concept_phrases
from vsdemo.data.storybook.facts import Facts, Thing, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.truth import entailed, fact_table
from vsdemo.encoders import TextEncoder
from vsdemo.evaluation.storybook_facts import stories
from vsdemo.evaluation.task import PhotoData
from vsdemo.hierarchy.order import (
    CAPTION,
    CONCEPT,
    Hierarchy,
    Item,
    check_order,
    hierarchy_of_photos,
)
from vsdemo.models.dual_encoder import DualEncoder


@dataclass(frozen=True)
class World:
    """The texts and photos of a split, and what is true of them.

    Args:
        texts: The N texts, concepts before captions.
        kinds: Kind of each text, (N,).
        follows: (N, N) whether text i follows from text j.
        describes: (N, P) whether a text is true of a photo.
        starts: (P, 2) the texts where walks down begin for each photo: the concept of its main
            thing, or the most specific one that most of its captions name, and its first caption.
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


def known_texts(model: DualEncoder, truth: World) -> np.ndarray:
    """Return which texts a model knows: all words and, if it learned concepts, the concept."""
    encoder = cast(TextEncoder, model.text)
    known = np.array([not encoder.unknown(Sentence(text))[1] for text in truth.texts])
    if model.concepts:
        is_caption = np.array([kind == CAPTION for kind in truth.kinds])
        known &= is_caption | np.isin(truth.texts, model.concepts)
    return known


def hierarchy_of(
    model: DualEncoder, data: PhotoData, truth: World, known: np.ndarray
) -> tuple[Hierarchy, Sequence[int]]:
    """Return a model's hierarchy of the known texts and the photos, and the text of each item.

    The root comes first, then texts, then photos; the text of the root and of photos is -1.
    """
    texts = np.flatnonzero(known).tolist()
    encoded = model.encode_text([Sentence(truth.texts[text]) for text in texts]).x
    photos = model.encode_image(data.features).x
    order, part = check_order(model.score, "This model"), model.score.order_part
    items = [Item(truth.kinds[text], truth.texts[text]) for text in texts]
    names = [photo.name for photo in data.split.photos]
    hierarchy = hierarchy_of_photos(items, part(encoded), names, part(photos), order, model.limits)
    return hierarchy, [-1, *texts, *[-1] * len(photos)]
