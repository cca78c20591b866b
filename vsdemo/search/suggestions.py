"""Words to offer in the place of words that a model does not know."""

from __future__ import annotations

from collections.abc import Sequence

from vsdemo.core.errors import UserError
from vsdemo.data import caption_bank, datasets
from vsdemo.data.text.near_words import WordList
from vsdemo.data.text.vocab import SPECIAL, Vocab, tokenize
from vsdemo.encoders import TextEncoder
from vsdemo.models.checkpoint import Spec

Suggestions = dict[str, tuple[str, ...]]  # word of a sentence -> words to offer, the nearest first


def word_list(encoder: TextEncoder, vocab: Vocab, spec: Spec) -> WordList:
    """Return the words that a model can offer.

    These are its vocabulary. A model that reads characters offers the words of its training
    captions, which are stored with it or read from the data set, or else those of the caption bank.
    """
    if not encoder.reads_characters:
        return WordList(vocab.words[len(SPECIAL) :])
    if encoder.training_words is not None:
        return encoder.training_words
    try:
        return WordList(datasets.find(spec.dataset).words())
    except UserError:  # the data set is gone
        return WordList(caption_bank.words())


def suggest(words: WordList, unknown: Sequence[str]) -> Suggestions:
    """Return up to three words to offer for each unknown word, none if no word is near."""
    return {word: words.near(word) for word in dict.fromkeys(unknown)}


def misspelt(words: WordList, text: str) -> list[str]:
    """Return the words of a text that are neither in a list nor a form of a word in it.

    Only words with near ones count, because the list leaves out rare words of the captions.
    """
    candidates = [word for word in tokenize(text) if word not in words]
    return [word for word in candidates if words.near(word) and not words.inflections(word)]
