"""Relations of Storybook: all of them, as its facts are known."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from vsdemo.core.caption_set import CaptionSet
from vsdemo.data.storybook import store
from vsdemo.data.storybook.concepts import concept_phrases, concepts_above
from vsdemo.data.storybook.facts import Facts, Thing, facts_of
from vsdemo.data.storybook.truth import entailed, fact_table

BLOCK = 256  # photos that are compared with all texts at a time


class StorybookRelations:
    """The captions of a split, concepts, and the scenes of the photos.

    The concepts are those of the lexicon, such as "a dog", and what the captions' things are, in
    their number and colour, such as "Animals." and "Brown dogs.".
    """

    def __init__(self, split: CaptionSet) -> None:
        scenes = [store.read_example(photo).scene for photo in split.photos]
        captions = [caption for scene in scenes for caption in store.captions_of(scene)]
        others = {phrase: Facts((Thing(name),)) for phrase, name in concept_phrases().items()}
        self.concepts = len(captions) + np.arange(len(others))
        self.common = np.array([], np.int64)  # the captions have short ones
        for caption in captions:
            for mention in caption.message.mentions:
                others |= {concept.text: concept.facts for concept in concepts_above(mention)}
        facts = [*(caption.facts for caption in captions), *others.values()]
        self.captions = len(captions)
        self.texts = (*(caption.text for caption in captions), *others)
        self._texts = fact_table(facts)
        self._photos = fact_table([facts_of(scene) for scene in scenes])

    @cached_property
    def photo_shares(self) -> np.ndarray:
        """The share of the photos that each text is true of, (T,)."""
        texts, photos = np.arange(len(self.texts)), np.arange(len(self._photos))
        blocks = np.split(photos, range(BLOCK, len(photos), BLOCK))
        true = sum(self.above_photos(texts, block).sum(1, dtype=np.int64) for block in blocks)
        return np.asarray(true) / len(photos)

    def others(self, captions: np.ndarray, count: int, draw: np.random.Generator) -> np.ndarray:
        """Return rows of different concepts, whatever the captions."""
        return self.captions + draw.permutation(len(self.texts) - self.captions)[:count]

    def among_texts(self, general: np.ndarray, specific: np.ndarray) -> np.ndarray:
        """Return whether texts follow from texts, (G, S)."""
        follows = entailed(self._texts.rows(specific), self._texts.rows(general))
        return follows.astype(np.int8)

    def above_photos(self, texts: np.ndarray, photos: np.ndarray) -> np.ndarray:
        """Return whether texts are true of photos, (T, P)."""
        return entailed(self._photos.rows(photos), self._texts.rows(texts)).astype(np.int8)
