"""Words of a sentence that a model has not learned: marked, with others to try."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from vsdemo.search import suggestions
from vsdemo.search.suggestions import UnreadWord
from vsdemo.ui.components.templates import render

MAX_WORDS = 3  # with words to try


@dataclass(frozen=True)
class Correction:
    """A button that replaces a word with a known one.

    Attributes:
        old: The word of the sentence.
        new: The word to try.
        text: The sentence with the new word.
    """

    old: str
    new: str
    text: str


def corrections(text: str, words: Sequence[UnreadWord]) -> list[Correction]:
    """Return the corrections that `unread_words` offers; a click reports the number of one."""
    correctable = [word for word in words if word.near][:MAX_WORDS]
    return [
        Correction(word.word, near, suggestions.replace_word(text, word.word, near))
        for word in correctable
        for near in word.near
    ]


def unread_words(text: str, words: Sequence[UnreadWord]) -> Markup:
    """Return a sentence with its unread words marked, and words to try; nothing without such words.

    A click on a word to try reports a `click` event with the number of its correction.
    """
    if not words:
        return Markup()
    return render(
        "components/unread_words.html",
        parts=list(suggestions.split(text, words)),
        is_ignored=all(word.is_ignored for word in words),
        count=len(words),
        corrections=corrections(text, words),
    )
