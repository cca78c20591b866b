"""All sources of relations of a split, and of the chains of HierarCaps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
from scipy.sparse import csr_matrix, vstack

from vsdemo.core.caption_set import CaptionSet
from vsdemo.data import datasets
from vsdemo.data.relations import TRUE, chains, regions
from vsdemo.data.relations.caption_sources import CaptionSources, captions_above_photos
from vsdemo.data.relations.listing import Source
from vsdemo.data.relations.storybook import StorybookRelations

BLOCK = 200  # specific things that are compared at once
CAPTION_SOURCES = ("shortened", "replaced", "concepts", "siblings", "swapped")
CHAINS = "hierarcaps"  # has chains of texts, and no captions to learn from


def sources(dataset: str, split: str) -> Mapping[str, Callable[[], Source]]:
    """Return the sources of a split by their names; each is made when it is called.

    Args:
        dataset: Name of a data set with captions, or `hierarcaps`.
        split: One of its splits; `hierarcaps` has only `train`.

    Raises:
        UserError: The data set or the split does not exist, WordNet is missing, or as for
            `regions.load` and `chains.load`.
    """
    if dataset == CHAINS:
        return {"chains": lambda: chains.load().neighbours()}
    known = datasets.load(dataset, split)
    result: dict[str, Callable[[], Source]] = {"captions": partial(captions_above_photos, known)}
    if dataset == "storybook":
        relations = StorybookRelations(known)
        result["concepts"] = partial(concepts_above_captions, relations, known)
        result["facts"] = partial(texts_above_photos, relations, known)
    else:
        own = CaptionSources(known)
        result |= {name: getattr(own, name) for name in CAPTION_SOURCES}
    if regions.is_available(dataset):
        result |= {name: partial(_of_regions, known, name) for name in regions.SOURCES}
    return result


def _of_regions(split: CaptionSet, name: str) -> Source:
    return {source.name: source for source in regions.sources(split)}[name]


def texts_above_photos(relations: StorybookRelations, split: CaptionSet) -> Source:
    """Return the captions and concepts of Storybook that are true of a picture."""
    texts, photos = np.arange(len(relations.texts)), np.arange(len(split.photos))
    blocks = [
        csr_matrix(relations.above_photos(texts, block).T == TRUE)
        for block in np.split(photos, range(BLOCK, len(photos), BLOCK))
    ]
    names = tuple(photo.name for photo in split.photos)
    meaning = "captions and concepts that are true of pictures"
    return Source("facts", meaning, "photo", names, relations.texts, csr_matrix(vstack(blocks)))


def concepts_above_captions(relations: StorybookRelations, split: CaptionSet) -> Source:
    """Return the concepts of Storybook that follow from a caption."""
    captions = np.arange(len(split.captions))
    concepts = np.arange(len(captions), len(relations.texts))
    blocks = [
        csr_matrix(relations.among_texts(concepts, block).T == TRUE)
        for block in np.split(captions, range(BLOCK, len(captions), BLOCK))
    ]
    general = relations.texts[len(captions) :]
    meaning = "concepts that follow from captions"
    above = csr_matrix(vstack(blocks))
    return Source("concepts", meaning, "caption", split.captions, general, above)
