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
from vsdemo.data.text.noun_phrases import named_noun, noun_phrases
from vsdemo.data.text.sentences import DEP_TREE, add_trees
from vsdemo.data.text.vocab import UNK, Vocab
from vsdemo.models.captioner import Captioner, Written
from vsdemo.models.dual_encoder import DualEncoder

BEAMS = 16
CANDIDATES = 24  # sentences of the beam search that are ranked
SAMPLES = 64  # sentences that are drawn to see how sure the captioner is of a thing
LEAST_SHARE = 0.03  # of the samples, for things that none names
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
    photos = regions.to(model.device)
    return [_compose(model, captioner, photos[row : row + 1], count) for row in range(len(photos))]


def sentence_of(words: Sequence[int], vocab: Vocab) -> str:
    """Return a sentence by the ids of its words, with a capital letter and a full stop."""
    text = " ".join(vocab.words[word] for word in words).replace(" ,", ",")
    return f"{text[:1].upper()}{text[1:]}."


def _compose(
    model: DualEncoder, captioner: Captioner, photo: Embeddings, count: int
) -> list[Composed]:
    """Compose sentences about one photo, (1, K, D)."""
    encoder: Any = model.text
    (written,) = captioner.write(photo, beams=BEAMS, count=CANDIDATES)
    if not written:
        return []
    more = {own for each in written for own in _generalized(each.words, encoder.vocab)}
    if more := more - {each.words for each in written}:
        written += captioner.read(sorted(more), photo)
    (samples,) = captioner.sample(photo, SAMPLES)
    named = [
        {thing for word in words for thing in _implied(encoder.vocab.words[word])}
        for words in samples
    ]
    composed = _measure(model, written, photo, named)
    return sorted(composed, key=lambda own: -own.rank)[:count]


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


def _measure(
    model: DualEncoder, written: Sequence[Written], photo: Embeddings, named: Sequence[set[str]]
) -> list[Composed]:
    """Return the sentences that name nothing twice; all of them if there is none.

    Args:
        model: The model.
        written: The sentences.
        photo: (1, K, D) of the regions.
        named: The things that each of the samples names.
    """
    encoder: Any = model.text
    texts = [sentence_of(own.words, encoder.vocab) for own in written]
    sentences = add_trees([Sentence(text) for text in texts], DEP_TREE)
    embedded = model.encode_text(sentences)
    aligned = model.score.align_parts(embedded, photo)  # (R, 1, K)
    scores = model.score.pool_parts(aligned, embedded, photo)[:, 0]  # (B,)
    fragments = [encoder.fragments(sentence) for sentence in sentences]
    best = aligned[:, 0].amax(-1).split(list(map(len, fragments)))
    once: list[Composed] = []
    others: list[Composed] = []
    for row, (text, own) in enumerate(zip(texts, written, strict=True)):
        things = _things(cast(Tree, sentences[row].tree))
        doubts = [-math.log(_share(thing, named) + LEAST_SHARE) for thing in things.values()]
        shown = [_shown(noun, fragments[row], best[row]) for noun in things]
        composed = Composed(text, own.mean, float(scores[row]), _mean(doubts), _mean(shown))
        (once if len({*things.values()}) == len(things) else others).append(composed)
    return once or others


def _things(tree: Tree) -> dict[int, str]:
    """Return the numbers of the nouns that name things, and the things in the singular."""
    nouns = (named_noun(tree, phrase) for phrase in noun_phrases(tree))
    return {noun: singular(tree.words[noun].lower()) for noun in nouns if noun is not None}


def _share(thing: str, named: Sequence[set[str]]) -> float:
    return sum(thing in own for own in named) / len(named)


def _shown(noun: int, fragments: Sequence[Fragment], best: Tensor) -> float:
    """Return the score with its best region of the phrase that a noun is in."""
    part = next(m for m, f in enumerate(fragments) if f.relation != WHOLE and noun in f.words)
    return float(best[part])


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
