"""Sentences that a model composes about photos, ranked by what it is sure of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from torch import Tensor

from vsdemo.core.alignment import WHOLE, Fragment
from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence, Tree
from vsdemo.data.text.inflection import singular
from vsdemo.data.text.noun_phrases import named_things
from vsdemo.data.text.sentences import DEP_TREE, add_trees
from vsdemo.data.text.vocab import UNK, Vocab
from vsdemo.models.captioner import Captioner, Written
from vsdemo.models.dual_encoder import DualEncoder

BEAMS = 16
CANDIDATES = 24  # sentences of the beam search that are ranked
SAMPLES = 64  # sentences that are drawn to see how sure the captioner is of a thing
MIN_SHARE = 0.03  # of the samples, for things that none names
DOUBT_WEIGHT = 2.0  # beside the mean logarithm of a word; both are chosen on Flickr8k dev
SHOWN_WEIGHT = 4.0
# Nouns for people, and more general ones that can stand in their place.
GENERAL = {
    "man": "person",
    "woman": "person",
    "boy": "child",
    "girl": "child",
    "child": "person",
    "men": "people",
    "women": "people",
    "boys": "children",
    "girls": "children",
    "children": "people",
}


class Composed(NamedTuple):
    """A sentence about a photo.

    Attributes:
        text: The sentence.
        likelihood: How likely it is, as the mean of log p over its words.
        score: Its score with the photo.
        doubt: The mean of -log p over the things that it names, where p is the share of other
            sentences by the same captioner that name them too.
        shown: The mean score of the phrases of these things with their best regions.
    """

    text: str
    likelihood: float
    score: float
    doubt: float
    shown: float

    @property
    def rank(self) -> float:
        """What sentences are ranked by, the highest first."""
        return self.likelihood - DOUBT_WEIGHT * self.doubt + SHOWN_WEIGHT * self.shown


def compose(model: DualEncoder, regions: Embeddings, *, count: int = 8) -> list[list[Composed]]:
    """Compose sentences about N photos.

    A captioner writes them. As it names much that is only probable, a sentence is ranked by how
    sure the captioner is of the things that it names, and by how well regions show them. Nouns for
    people may be replaced by more general ones.

    Args:
        model: Has a captioner.
        regions: The embeddings of the regions, (N, K, D).
        count: Sentences of each photo, at most.

    Returns:
        The sentences of each photo, the best first.

    Raises:
        UserError: The model has no captioner.
    """
    captioner = model.captioner
    if captioner is None:
        raise UserError(
            "This model cannot compose sentences; train its captioner "
            "(`python -m vsdemo train-captioner CHECKPOINT`)."
        )
    encoder: Any = model.text
    regions = regions.to(model.device)
    photos = [regions[row : row + 1] for row in range(len(regions))]
    written = [_write(captioner, photo, encoder.vocab) for photo in photos]
    texts = [Sentence(sentence_of(w.words, encoder.vocab)) for own in written for w in own]
    sentences = iter(add_trees(texts, DEP_TREE))
    return [
        _rank(model, captioner, photo, [(next(sentences), w) for w in own])[:count]
        for photo, own in zip(photos, written, strict=True)
    ]


def sentence_of(words: Sequence[int], vocab: Vocab) -> str:
    """Return a sentence by the ids of its words, with a capital letter and a full stop."""
    text = " ".join(vocab.words[word] for word in words).replace(" ,", ",")
    return f"{text[:1].upper()}{text[1:]}."


def _write(captioner: Captioner, photo: Embeddings, vocab: Vocab) -> list[Written]:
    """Return sentences about one photo, (1, K, D), and more general ones."""
    (written,) = captioner.write(photo, beams=BEAMS, count=CANDIDATES)
    more = {own for each in written for own in _generalized(each.words, vocab)}
    more -= {each.words for each in written}
    return [*written, *captioner.read(sorted(more), photo)] if more else written


def _generalized(words: tuple[int, ...], vocab: Vocab) -> list[tuple[int, ...]]:
    """Return a sentence with each of its nouns for people, and all of them, made more general."""
    names = [GENERAL.get(vocab.words[word], "") for word in words]
    known = {i: word for i, word in enumerate(vocab.ids(names)) if names[i] and word != UNK}
    changes = [{i: word} for i, word in known.items()] + [known]
    return [tuple(change.get(i, word) for i, word in enumerate(words)) for change in changes]


def _implied(word: str) -> list[str]:
    """Return what a word names, in the singular: "boy", "child" and "person" for "boys"."""
    things = [singular(word)]
    while things[-1] in GENERAL:
        things.append(GENERAL[things[-1]])
    return things


def _rank(
    model: DualEncoder,
    captioner: Captioner,
    photo: Embeddings,
    written: Sequence[tuple[Sentence, Written]],
) -> list[Composed]:
    """Return the sentences that name nothing twice, the best first; all if there is none.

    Args:
        model: The model.
        captioner: Its captioner.
        photo: (1, K, D) of the regions.
        written: The sentences, with their trees.
    """
    if not written:
        return []
    encoder: Any = model.text
    (samples,) = captioner.sample(photo, SAMPLES)
    named = [
        {thing for word in words for thing in _implied(encoder.vocab.words[word])}
        for words in samples
    ]
    sentences = [sentence for sentence, _ in written]
    embedded = model.encode_text(sentences)
    aligned = model.score.align_parts(embedded, photo)  # (R, 1, K)
    scores = model.score.pool_parts(aligned, embedded, photo)[:, 0]  # (B,)
    fragments = [encoder.fragments(sentence) for sentence in sentences]
    best = aligned[:, 0].amax(-1).split(list(map(len, fragments)))
    once: list[Composed] = []
    others: list[Composed] = []
    for row, (sentence, own) in enumerate(written):
        things = named_things(cast(Tree, sentence.tree))
        doubts = [-math.log(_share(thing, named) + MIN_SHARE) for thing in things.values()]
        shown = [_shown(noun, fragments[row], best[row]) for noun in things]
        result = Composed(sentence.text, own.mean, float(scores[row]), _mean(doubts), _mean(shown))
        (once if len({*things.values()}) == len(things) else others).append(result)
    return sorted(once or others, key=lambda composed: -composed.rank)


def _share(thing: str, named: Sequence[set[str]]) -> float:
    return sum(thing in own for own in named) / len(named)


def _shown(noun: int, fragments: Sequence[Fragment], best: Tensor) -> float:
    """Return the score with its best region of the phrase that a noun is in."""
    part = next(m for m, f in enumerate(fragments) if f.relation != WHOLE and noun in f.words)
    return float(best[part])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
