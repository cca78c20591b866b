"""Sentences from the phrase files of the caption bank, in which only what makes sense combines.

Every text is a template. `[a|b]` is a choice, `{name}` stands for one of the words of that name,
`<a hat/hats>` agrees with the number of the subject, and `{its}` is his, her, its or their. Choices
are dealt like cards, each once before any comes again: random choice would repeat some words and
miss others.

A scene combines subjects (`who`) with predicates (`does`), places (`where`) and clothes (`wears`).
A predicate that ends in a full stop already has a place, and a `still` scene has no progressive.
`says` are whole sentences.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar, cast

from vsdemo.data.caption_bank.english import PERSONS, VERB_MARK, Person, conjugate, sentence

Card = TypeVar("Card")
NUMBER = re.compile(r"<([^/<>]*)/([^<>]*)>")
CHOICE = re.compile(r"\[([^\[\]]*)\]|\{(\w+)\}")  # innermost first
FORMS = ("simple",) * 5 + ("progressive",) * 3 + ("reduced",) * 3
PLACED = 0.75  # share of the predicates without a place that get one
DRESSED = 0.35  # share of the subjects that get clothes, if the scene has any
MAX_WORDS = 14
TRIES = 25  # before a template counts as used up
ARTICLES = frozenset({"a", "an", "the"})
NUMBERS = frozenset({"two", "three", "four", "some", "several"})
PRONOUNS = frozenset({"each", "other", "his", "her", "its", "their"})
PREPOSITIONS = frozenset(
    [
        "of",
        "in",
        "on",
        "at",
        "with",
        "to",
        "by",
        "for",
        "from",
        "over",
        "through",
        "along",
        "under",
        "up",
        "down",
        "out",
        "into",
        "and",
    ]
)
FUNCTION_WORDS = ARTICLES | NUMBERS | PRONOUNS | PREPOSITIONS


class Dealer:
    """Deals from any hand of cards, each card once before any comes again."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._remaining: dict[tuple[Any, ...], list[Any]] = {}  # by the hand
        self._dealt: list[tuple[tuple[Any, ...], Any]] = []  # since the last `keep`

    def deal(self, cards: Sequence[Card]) -> Card:
        """Return one of the cards."""
        hand = tuple(cards)
        card = cast(Card, self._pile(hand).pop())
        self._dealt.append((hand, card))
        return card

    def keep(self) -> None:
        """Accept what was dealt."""
        self._dealt.clear()

    def put_back(self) -> None:
        """Put what was dealt since the last `keep` below the remaining cards, or a new hand."""
        for hand, card in self._dealt:
            self._pile(hand).insert(0, card)
        self._dealt.clear()

    def chance(self, probability: float) -> bool:
        """Return True with a probability."""
        return self.rng.random() < probability

    def _pile(self, hand: tuple[Any, ...]) -> list[Any]:
        if not self._remaining.get(hand):
            self._remaining[hand] = self.rng.sample(hand, len(hand))
        return self._remaining[hand]


@dataclass(frozen=True)
class Scene:
    """Subjects, predicates, places and clothes; any of each goes with any of the others.

    Args:
        who: Names of subjects.
        does: Predicates.
        where: Places.
        wears: Clothes.
        still: Whether the progressive is left out.
    """

    who: Sequence[str]
    does: Sequence[str]
    where: Sequence[str] = ()
    wears: Sequence[str] = ()
    still: bool = False


class _Draft(NamedTuple):
    """A sentence before it is accepted.

    Args:
        core: What makes it differ from other sentences: subject and predicate.
        extras: Clothes and place.
        text: The whole.
    """

    core: list[str]
    extras: list[str]
    text: str


@dataclass
class Topic:
    """The phrases of a topic.

    Args:
        words: Words for each `{name}`.
        subjects: For each name of `who`: (person, phrase).
        says: Templates of whole sentences.
        scenes: Scenes of the topic.
        dealer: Makes all choices.
        seen: The cores of all sentences so far, of this and of other topics.
    """

    words: Mapping[str, Sequence[str]]
    subjects: Mapping[str, Sequence[tuple[str, str]]]
    says: Sequence[str]
    scenes: Sequence[Scene]
    dealer: Dealer
    seen: set[tuple[str, ...]]

    def write(self, count: int) -> list[str]:
        """Return sentences, all different.

        All templates come in turn, as often as their largest choice, and again as long as they
        give new sentences.

        Raises:
            ValueError: If the topic has fewer sentences.
        """
        frames: list[tuple[Scene | None, str]] = [(None, text) for text in self.says]
        frames += [(scene, text) for scene in self.scenes for text in scene.does]
        frames = [frame for frame in frames for _ in range(largest_choice(frame[1]))]
        sentences: list[str] = []
        while len(sentences) < count:
            if not frames:
                raise ValueError(f"the topic has {len(sentences)} sentences, not {count}")
            used_up = []
            for frame in self.dealer.rng.sample(frames, len(frames))[: count - len(sentences)]:
                text = self._new_sentence(*frame)
                if text:
                    sentences.append(text)
                else:
                    used_up.append(frame)
            frames = [frame for frame in frames if frame not in used_up]
        return sentences

    def fill(self, text: str, person: Person | None = None) -> str:
        """Return a template with all its choices made."""
        before = ""
        while text != before:
            before = text
            if person:
                text = text.replace("{its}", person.possessive)
                text = NUMBER.sub(r"\2" if person.plural_nouns else r"\1", text)
            text = CHOICE.sub(self._choose, text)
        return text

    def _choose(self, match: re.Match[str]) -> str:
        choices: Sequence[str] = match[1].split("|") if match[2] is None else self.words[match[2]]
        return self.dealer.deal(choices)

    def _new_sentence(self, scene: Scene | None, text: str) -> str | None:
        """Return a sentence with a new core; None if there seems to be none."""
        for _ in range(TRIES):
            draft = self._from_scene(scene, text) if scene else self._from_template(text)
            core = tuple(word for word in " ".join(draft.core).split() if word not in ARTICLES)
            parts = [*draft.core, *draft.extras]
            is_short = len(" ".join(parts).split()) <= MAX_WORDS
            if is_short and core not in self.seen and not repeats_words(parts):
                self.seen.add(core)
                self.dealer.keep()
                return sentence(draft.text)
            self.dealer.put_back()
        return None

    def _from_template(self, text: str) -> _Draft:
        text = self.fill(text)
        return _Draft(core=[text.removesuffix(".").lower()], extras=[], text=text)

    def _from_scene(self, scene: Scene, predicate: str) -> _Draft:
        """Return a subject of a scene with a predicate, perhaps with clothes and a place."""
        name, phrase = self.dealer.deal(self.subjects[self.dealer.deal(scene.who)])
        person = PERSONS[name]
        who = self.fill(phrase, person)
        does = self.fill(predicate.removesuffix("."), person)
        wears = where = ""
        is_dressed = " in " in who or " with " in who
        if scene.wears and not is_dressed and self.dealer.chance(DRESSED):
            wears = self.fill(self.dealer.deal(scene.wears), person)
        if scene.where and not predicate.endswith("."):
            needs_place = " " not in does  # "A cow stands" says too little
            if needs_place or self.dealer.chance(PLACED):
                where = self.fill(self.dealer.deal(scene.where), person)
        form = self.dealer.deal(FORMS)
        if scene.still and form == "progressive":
            form = "simple"
        text = f"{who} {wears} {conjugate(does, form, person)} {where}"
        return _Draft(core=[who, does.replace(VERB_MARK, "")], extras=[wears, where], text=text)


def largest_choice(text: str) -> int:
    """Return how often a template must be used until all its choices are."""
    choices = [match[1].split("|") for match in CHOICE.finditer(text) if match[1]]
    return max((len(set(choice)) for choice in choices), default=1)


def repeats_words(parts: Sequence[str]) -> bool:
    """Return whether two parts share a word, as in `children` who play with children."""
    word_sets = [
        {word.rstrip("s,") for word in set(part.split()) - FUNCTION_WORDS} for part in parts
    ]
    return sum(map(len, word_sets)) > len(set().union(*word_sets))


def parse_topic(
    tables: Mapping[str, Any],
    shared: Mapping[str, Any],
    dealer: Dealer,
    seen: set[tuple[str, ...]],
) -> Topic:
    """Return a topic from its file and from the words that all topics share."""
    subjects: dict[str, list[tuple[str, str]]] = {}
    for person in PERSONS:
        for name, phrases in (shared.get(person, {}) | tables.get(person, {})).items():
            subjects.setdefault(name, []).extend((person, phrase) for phrase in phrases)
    return Topic(
        words=shared["words"] | tables.get("words", {}),
        subjects=subjects,
        says=tables.get("says", ()),
        scenes=[Scene(**scene) for scene in tables.get("scenes", ())],
        dealer=dealer,
        seen=seen,
    )
