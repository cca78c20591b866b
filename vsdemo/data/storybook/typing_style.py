"""Sentences as people type them: other words, short forms, requests, questions and mistakes.

    as_typed("Two brown dogs are running on the beach in the rain.", rng)
    -> "show me 2 brown dogs runing on the rainy beach"

What a sentence says stays the same; `typing_style.toml` has the words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from random import Random

from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.typing_words import TypingWords, load_typing_words
from vsdemo.data.text import inflection

ARTICLES = ("a", "an", "the", "some")
SINGULAR = ("a", "an", "another", "some", "someone")  # first words of a noun phrase
DAY = "day"  # "on a rainy day" is not said of a night
SIDES = ("left", "right")  # "the left" keeps its article
KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
SHORTEST = 4  # letters of a word with a mistake
NEVER_MISTAKEN = ("without", "nobody", "anyone")  # they reverse the meaning
TRIES = 8  # at a mistake that gives no other word


def as_typed(text: str, rng: Random) -> str:
    """Return a sentence of Storybook as somebody might type it.

    Args:
        text: A caption, a twin of one, words for a place, time or weather, or any of these
            negated.
        rng: The same state of it gives the same result.
    """
    style = load_typing_words()
    chances = style.chances
    words = text.lower().rstrip(".").replace(",", " ,").split()
    words = style.weather_adjectives.replace(words, chances["weather_adjective"], rng)
    shape = rng.choices([*style.shapes], [*style.shapes.values()])[0]
    frame, words = _shaped(words, shape, style, rng)
    unwanted = DAY if _times().intersection(words) else ""
    words = style.others.replace(words, chances["other_words"], rng, without=unwanted)
    words = _with_articles(words)
    if shape == "keywords" or rng.random() < chances["no_articles"]:
        words = _without_articles(words)
    words = _with_numbers(words, style, rng)
    if rng.random() < chances["mistake"]:
        words = _with_mistake(words, style, rng)
    return _punctuated(frame, words, chances, rng)


def mistyped(word: str, rng: Random) -> str:
    """Return a word with a typing mistake that does not make a known word, or the word itself.

    Letters are left out, doubled, exchanged, or those of the next key; the first one is right.
    """
    known = load_typing_words().known
    for _ in range(TRIES):
        at = rng.randrange(1, len(word))
        before, letter, after = word[:at], word[at], word[at + 1 :]
        wrong = rng.choice(
            (
                before + after,
                before + 2 * letter + after,
                before[:-1] + letter + before[-1] + after if at > 1 else word,
                before + rng.choice(_next_keys(letter)) + after,
            )
        )
        if wrong != word and wrong not in known:
            return wrong
    return word


@dataclass(frozen=True)
class _Parts:
    """A sentence at its finite verb.

    Args:
        subject: The words before the verb; with "there is", those after it.
        verb: Empty in a noun phrase.
        rest: The words after the verb.
    """

    subject: list[str]
    verb: str = ""
    rest: Sequence[str] = ()

    @property
    def has_be(self) -> bool:
        """Whether the verb is `is` or `are`."""
        return self.verb in ("is", "are")

    @property
    def noun_phrase(self) -> list[str]:
        """What the sentence is about: "a dog chasing a ball"."""
        if not self.verb or self.has_be:
            return [*self.subject, *self.rest]
        return [*self.subject, _finite_verbs()[self.verb][1], *self.rest]

    @property
    def question(self) -> list[str]:
        """Whether it is so: "does a dog chase a ball"; for a noun phrase, whether there is one."""
        if not self.verb:
            return self.existential_question
        if self.has_be:
            return [self.verb, *self.subject, *self.rest]
        base = _finite_verbs()[self.verb][0]
        return ["do" if self.verb == base else "does", *self.subject, base, *self.rest]

    @property
    def existential_question(self) -> list[str]:
        """Whether there is such a thing: "are there any dogs chasing a ball"."""
        first, phrase = self.subject[0], self.noun_phrase
        if first in SINGULAR:
            return ["is", "there", *phrase]
        bare = first not in load_lexicon().counts
        return ["are", "there", *(["any"] if bare else []), *phrase]


def _parts(words: Sequence[str]) -> _Parts:
    """Return the parts of a sentence of Storybook in lower case."""
    if words[0] == "there":
        return _Parts(subject=[*words[2:]])
    verbs = _finite_verbs()
    for at, word in enumerate(words):
        is_passive = words[at + 1 : at + 2] == ["by"] and word in _passive_forms()
        if word in ("is", "are") or (word in verbs and not is_passive):
            return _Parts(subject=[*words[:at]], verb=word, rest=words[at + 1 :])
    return _Parts(subject=[*words])


def _shaped(words: list[str], shape: str, style: TypingWords, rng: Random) -> tuple[str, list[str]]:
    """Return a template and the words in it, in one of the shapes of `typing_style.toml`."""
    parts = _parts(words)
    if shape == "sentence":
        return "{}", words
    if words[0] in _adverbial_starts() and shape != "keywords":  # not "show me at night"
        return "{}", words
    if words[0] == "the" and not parts.verb and shape == "question":  # not "is there the beach"
        return "{}", words
    if shape == "question":
        is_definite = parts.subject[0] == "the"
        about_being = not is_definite and rng.random() < 0.5
        return "{}?", parts.existential_question if about_being else parts.question
    if shape == "request" and parts.verb and rng.random() < style.chances["where"]:
        return rng.choice(style.requests["sentence"]), words
    if shape == "request":
        return rng.choice(style.requests["noun_phrase"]), parts.noun_phrase
    if shape == "keywords" and not _wears_colour(words):  # not "a woman in red kitchen"
        return "{}", style.keywords.replace(parts.noun_phrase, 1, rng)
    return "{}", parts.noun_phrase


def _wears_colour(words: Sequence[str]) -> bool:
    """Return whether words have a colour of clothes, as in "a woman in red"."""
    colours = load_lexicon().colours
    return any(word == "in" and after in colours for word, after in pairwise(words))


def _with_articles(words: Sequence[str]) -> list[str]:
    """Return words with `a` and `an` as the next word needs it."""
    following = [*words[1:], ""]
    return [inflection.article(word, after) for word, after in zip(words, following, strict=True)]


def _without_articles(words: Sequence[str]) -> list[str]:
    following = [*words[1:], ""]
    pairs = zip(words, following, strict=True)
    return [word for word, after in pairs if word not in ARTICLES or after in SIDES]


def _with_numbers(words: Sequence[str], style: TypingWords, rng: Random) -> list[str]:
    """Return words with digits for numbers, and perhaps "a couple of" for the first `two`."""
    counts, chances = load_lexicon().counts, style.chances
    pair = rng.choice(style.pairs) if rng.random() < chances["pair"] else ""
    digits = rng.random() < chances["digits"]
    result: list[str] = []
    for word in words:
        if word == "two" and pair and result[-1:] != ["the"]:
            result += pair.split()
            pair = ""
        elif word in counts and digits and word != "one":  # "a dog but not a brown one"
            result.append(str(counts.index(word) + 1))
        else:
            result.append(word)
    return result


def _with_mistake(words: Sequence[str], style: TypingWords, rng: Random) -> list[str]:
    """Return words one of which is misspelt."""
    long = [at for at, word in enumerate(words) if _may_be_mistyped(word)]
    if not long:
        return [*words]
    at = rng.choice(long)
    word = words[at]
    usual = style.misspellings.get(word)
    if usual and rng.random() < style.chances["known_misspelling"]:
        wrong = rng.choice(usual)
    else:
        wrong = mistyped(word, rng)
    return [*words[:at], wrong, *words[at + 1 :]]


def _may_be_mistyped(word: str) -> bool:
    return len(word) >= SHORTEST and word.isalpha() and word not in NEVER_MISTAKEN


def _punctuated(frame: str, words: Sequence[str], chances: Mapping[str, float], rng: Random) -> str:
    """Return words in a template, perhaps with a capital letter and an end."""
    is_question = frame.endswith("?")
    text = frame.rstrip("?").format(" ".join(words).replace(" ,", ","))
    if rng.random() < chances["capital"]:
        text = text[0].upper() + text[1:]
    end = "?" if is_question else "."
    chance = chances["question_mark"] if is_question else chances["full_stop"]
    return text + end if rng.random() < chance else text


@cache
def _finite_verbs() -> Mapping[str, tuple[str, str]]:
    """Return chase and chases -> chase, chasing; of all verbs of captions."""
    result: dict[str, tuple[str, str]] = {}
    for action in load_lexicon().actions.values():
        for wording in action.wordings:
            if wording.verb:
                base, third, participle, _ = wording.verb
                result |= dict.fromkeys((base, third), (base, participle))
    return result


@cache
def _passive_forms() -> frozenset[str]:
    """Return the past participles of the verbs that have a passive, such as `read`."""
    actions = load_lexicon().actions.values()
    return frozenset(
        wording.verb[3]
        for action in actions
        if action.passive
        for wording in action.wordings
        if not wording.preposition
    )


@cache
def _times() -> frozenset[str]:
    """Return the words that name a time, such as `night`."""
    phrases = [phrase for time in load_lexicon().times.values() for phrase in time.phrases]
    return frozenset(phrase.split()[-1] for phrase in phrases)


@cache
def _adverbial_starts() -> frozenset[str]:
    """Return the first words of phrases of place, time and weather, such as `at`."""
    words = load_lexicon()
    phrases = (
        *(setting.ground for setting in words.settings.values()),
        *words.sides.values(),
        *(time.phrases for time in words.times.values()),
        *(weather.phrases for weather in words.weathers.values()),
    )
    return frozenset(phrase.split()[0] for each in phrases for phrase in each)


@cache
def _next_keys(letter: str) -> str:
    """Return the keys next to a letter's key, or the letter if it has none."""
    for row in KEYS:
        if letter in row:
            at = row.index(letter)
            return row[max(0, at - 1) : at] + row[at + 1 : at + 2]
    return letter
