"""Words that a model has not learned, and words to offer in their place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from vsdemo.core.errors import UserError
from vsdemo.data import caption_bank, datasets
from vsdemo.data.text.near_words import WordList
from vsdemo.data.text.vocab import SPECIAL, Vocab, tokenize
from vsdemo.encoders import TextEncoder
from vsdemo.models.checkpoint import Spec

LETTER = r"[^\W_]"
Suggestions = dict[str, tuple[str, ...]]  # word of a sentence -> words to offer, the nearest first


@dataclass(frozen=True)
class UnreadWord:
    """A word of a sentence that a model has not learned.

    Attributes:
        word: The word in lower case.
        is_ignored: Whether the model leaves it out; a model of characters still reads it.
        near: Known words to offer in its place, the nearest first.
    """

    word: str
    is_ignored: bool
    near: tuple[str, ...] = ()


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

    Only words near one in the list count, because it leaves out rare words of the captions.
    """
    candidates = [word for word in tokenize(text) if word not in words]
    return [word for word in candidates if words.near(word) and not words.inflections(word)]


def unread(words: WordList, text: str) -> list[str]:
    """Return the words of a text that no training caption has, not even in another form.

    It is for models that read characters. A word with a near spelling counts too: it is misspelt.
    """
    return [word for word in tokenize(text) if not words.covers(word) or misspelt(words, word)]


def split(text: str, words: Sequence[UnreadWord]) -> Iterator[tuple[str, UnreadWord | None]]:
    """Yield the parts of a sentence as typed, each unread word with its record.

    Joined, the parts are the sentence.
    """
    of_word = {word.word: word for word in words}
    if not of_word:
        yield text, None
        return
    longest_first = sorted(of_word, key=len, reverse=True)
    pattern = "|".join(_pattern(word) for word in longest_first)
    for number, part in enumerate(re.split(f"({pattern})", text, flags=re.IGNORECASE)):
        if part:
            yield part, of_word.get(part.lower()) if number % 2 else None


def replace_word(text: str, old: str, new: str) -> str:
    """Return a sentence with each `old` replaced by another word; capitals stay capitals."""

    def put(match: re.Match[str]) -> str:
        return new.capitalize() if match[0][:1].isupper() else new

    return re.sub(_pattern(old), put, text, flags=re.IGNORECASE)


def _pattern(word: str) -> str:
    """Return a regular expression for a whole word."""
    before = f"(?<!{LETTER})" if word[:1].isalnum() else ""
    after = f"(?!{LETTER})" if word[-1:].isalnum() else ""
    return f"{before}{re.escape(word)}{after}"
