"""Which sense of its nouns a set of captions means.

WordNet orders the senses of a noun by frequency in text about anything. Captions describe photos,
so a sense that is a physical thing comes before one that is not; and the captions of one photo
mention the same things, so a sense counts more if other captions name something above or below it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.sparse import csr_matrix

from vsdemo.data.pairs.wordnet import Nouns

PHYSICAL = "physical entity"
ABSTRACT_PRIOR = 0.4
EVIDENCE = 2.0  # weight of what other captions name, compared with 1 / rank
FEW = 5  # photos; evidence from this many counts half
NEAR_SENSES = 2  # senses of other nouns that may be meant


def choose(
    wordnet: Nouns, senses: Mapping[str, Sequence[int]], named: csr_matrix, photo_of: np.ndarray
) -> dict[str, int]:
    """Return a concept for each noun.

    Args:
        wordnet: The concepts.
        senses: N nouns with their concepts, the most frequent sense first, at least one each.
        named: (C, N) whether a caption names a noun.
        photo_of: (C,) the photo of each caption.
    """
    related = _related(wordnet, senses)
    photos = int(photo_of.max(initial=-1)) + 1
    of_photo = csr_matrix(
        (np.ones(len(photo_of), np.float32), (photo_of, np.arange(len(photo_of)))),
        shape=(photos, len(photo_of)),
    )
    in_photo = (of_photo @ named).tocsr()  # (P, N)
    by_noun = named.tocsc()
    result = {}
    for column, (noun, concepts) in enumerate(senses.items()):
        if len(concepts) == 1:
            result[noun] = concepts[0]
            continue
        own = np.zeros((len(senses), len(concepts)), np.float32)
        for number, concept in enumerate(concepts):
            own[[other for other in related[concept] if other != column], number] = 1
        captions = by_noun.indices[by_noun.indptr[column] : by_noun.indptr[column + 1]]
        shown = np.unique(photo_of[captions])
        beside = in_photo[shown] - (of_photo[:, captions] @ named[captions]).tocsr()[shown]
        share = ((beside @ own) > 0).mean(0) if len(shown) else np.zeros(len(concepts))
        usual = ((in_photo @ own) > 0).mean(0)
        evidence = np.maximum(share - usual, 0) * len(shown) / (len(shown) + FEW)
        prior = [
            (1 if is_physical(wordnet, concept) else ABSTRACT_PRIOR) / rank
            for rank, concept in enumerate(concepts, start=1)
        ]
        result[noun] = concepts[int(np.argmax(prior + EVIDENCE * evidence))]
    return result


def is_physical(wordnet: Nouns, concept: int) -> bool:
    """Return whether a concept is a physical entity."""
    above = wordnet.ancestors[concept] | {concept}
    return any(PHYSICAL in wordnet.words[other] for other in above)


def _related(wordnet: Nouns, senses: Mapping[str, Sequence[int]]) -> dict[int, set[int]]:
    """Return for each concept the columns of the nouns above it, below it, and of its synonyms."""
    named: dict[int, set[int]] = {}  # concept -> columns of its nouns
    below: dict[int, set[int]] = {}  # concept -> columns of the nouns below it
    for column, concepts in enumerate(senses.values()):
        for concept in concepts[:NEAR_SENSES]:
            named.setdefault(concept, set()).add(column)
            for ancestor in wordnet.ancestors[concept]:
                below.setdefault(ancestor, set()).add(column)
    empty: set[int] = set()
    return {
        concept: named.get(concept, empty).union(
            below.get(concept, empty),
            *(named.get(ancestor, empty) for ancestor in wordnet.ancestors[concept]),
        )
        for concepts in senses.values()
        for concept in concepts
    }
