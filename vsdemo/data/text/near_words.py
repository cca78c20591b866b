"""Known words that are near an unknown one: other forms of it, and other spellings."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cached_property

COUNT = 3
SIMILAR = 0.75  # least ratio of difflib: one wrong letter in four, two in eight
SHORTEST = 3  # letters of a word, and of a stem
SUFFIXES = {  # of nouns, verbs and adjectives -> what may replace them in the stem
    "s": ("",),
    "es": ("",),
    "ies": ("y", "ie"),
    "ves": ("f", "fe"),
    "ed": ("", "e"),
    "ied": ("y", "ie"),
    "ing": ("", "e"),
    "ying": ("ie",),
    "er": ("", "e"),
    "ier": ("y",),
    "est": ("", "e"),
    "iest": ("y",),
    "ly": ("",),
    "ily": ("y",),
}


class WordList:
    """Words that can be offered instead of others.

    Args:
        words: The words in lower case, the most frequent first; those with other characters than
            letters and those of fewer than SHORTEST letters are left out.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(
            dict.fromkeys(word for word in words if word.isalpha() and len(word) >= SHORTEST)
        )

    @cached_property
    def _members(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def _forms(self) -> dict[str, list[str]]:
        """Stem -> the words with this stem."""
        forms: dict[str, list[str]] = {}
        for word in self.words:
            for stem in stems(word):
                forms.setdefault(stem, []).append(word)
        return forms

    @cached_property
    def _of_letters(self) -> dict[str, list[str]]:
        """First letter and sorted letters -> the words with them."""
        words: dict[str, list[str]] = {}
        for word in self.words:
            words.setdefault(_letters(word), []).append(word)
        return words

    def __contains__(self, word: str) -> bool:
        return word.lower() in self._members

    def covers(self, word: str) -> bool:
        """Return whether a word is in the list, may be a form or spelling of one, or is not a word.

        Numbers and words of fewer than SHORTEST letters are never in the list, so they count.
        """
        is_word = word.isalpha() and len(word) >= SHORTEST
        return not is_word or word in self or bool(self.near(word, count=1))

    def inflections(self, word: str) -> list[str]:
        """Return the other words of the list that share a stem with a word: gallop for gallops."""
        word = word.lower()
        shared = [form for stem in sorted(stems(word)) for form in self._forms.get(stem, ())]
        order = {form: number for number, form in enumerate(self.words)}
        return sorted({form for form in shared if form != word}, key=order.__getitem__)

    def near(self, word: str, count: int = COUNT) -> tuple[str, ...]:
        """Return up to `count` other words of the list, the nearest first.

        First come inflections, then words with the same letters in another order, then other
        spellings. There are none for a word of fewer than SHORTEST letters, or with other
        characters.
        """
        word = word.lower()
        if not word.isalpha() or len(word) < SHORTEST:
            return ()
        swapped = self._of_letters.get(_letters(word), ())
        slack = max(1, len(word) // 4)
        alike = [known for known in self.words if abs(len(known) - len(word)) <= slack]
        spellings = get_close_matches(word, alike, n=count + 1, cutoff=SIMILAR)
        near = dict.fromkeys([*self.inflections(word), *swapped, *spellings])
        near.pop(word, None)
        return tuple(near)[:count]


def _letters(word: str) -> str:
    return word[0] + "".join(sorted(word))


def stems(word: str) -> set[str]:
    """Return what a word may be a form of: itself, and itself without its suffix.

    riding: riding, rid, ride; running: running, runn, run, runne.
    """
    result = {word}
    for suffix, endings in SUFFIXES.items():
        start = word.removesuffix(suffix)
        if start == word:
            continue
        candidates = {start + ending for ending in endings}
        if len(start) > SHORTEST and start[-1] == start[-2]:
            candidates.add(start[:-1])  # a doubled consonant
        result |= {stem for stem in candidates if len(stem) >= SHORTEST}
    return result
