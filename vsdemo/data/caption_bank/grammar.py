"""Sentences from phrase books: TOML files in which only what makes sense can meet.

Every text of a book is a template. `[a|b]` leaves a choice, `{name}` stands for one of the words
of that name, `<a hat/hats>` follows the number of whom the sentence is about, and `{its}` is his,
her, its or their. Whatever may be chosen is dealt like cards, each once before any comes again:
chance alone would repeat some words and forget others.

A scene lists `who` may do what, `does`, together with `where` it may happen and what one `wears`
there; a predicate that ends in a full stop has its place already, and what is `still` is not said
to be doing it. `says` are sentences without a subject of their own.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from vsdemo.data.caption_bank.english import MARK, PERSONS, Person, clause, sentence

Card = TypeVar("Card")
NUMBER = re.compile(r"<([^/<>]*)/([^<>]*)>")
CHOICE = re.compile(r"\[([^\[\]]*)\]|\{(\w+)\}")  # innermost first
FORMS = ("simple",) * 5 + ("progressive",) * 3 + ("reduced",) * 3
PLACED = 0.75  # share of the predicates without a place of their own that get one
DRESSED = 0.35  # share of the subjects that get clothes, where there are any
LONGEST = 14  # words
TRIES = 25  # before a template has nothing new to say
ARTICLES = frozenset({"a", "an", "the"})
LITTLE = ARTICLES | {  # may be said twice
    *("of", "in", "on", "at", "with", "to", "by", "for", "from", "over", "through", "along"),
    *("under", "up", "down", "out", "into", "and", "each", "other", "his", "her", "its", "their"),
    *("two", "three", "four", "some", "several"),
}


class Dealer:
    """Deals from any hand of cards, each card once before any comes again."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._left: dict[tuple[Any, ...], list[Any]] = {}
        self._dealt: list[tuple[tuple[Any, ...], Any]] = []

    def deal(self, cards: Sequence[Card]) -> Card:
        """One of the cards."""
        hand = tuple(cards)
        card = self._hand(hand).pop()
        self._dealt.append((hand, card))
        return card

    def keep(self) -> None:
        """What was dealt is played."""
        self._dealt.clear()

    def put_back(self) -> None:
        """What was dealt since the last `keep` goes under what is left, or under a new hand."""
        for hand, card in self._dealt:
            self._hand(hand).insert(0, card)
        self._dealt.clear()

    def chance(self, share: float) -> bool:
        """Whether something happens that happens with this share."""
        return self.rng.random() < share

    def _hand(self, hand: tuple[Any, ...]) -> list[Any]:
        if not self._left.get(hand):
            self._left[hand] = self.rng.sample(hand, len(hand))
        return self._left[hand]


@dataclass(frozen=True)
class Scene:
    """Who may do what, where, and wearing what: any of each with any of the others."""

    who: Sequence[str]
    does: Sequence[str]
    where: Sequence[str] = ()
    wears: Sequence[str] = ()
    still: bool = False


@dataclass
class Book:
    """The phrases of a topic. subjects: by name, each with its person; seen: what is told, here
    or in another book."""

    words: Mapping[str, Sequence[str]]
    subjects: Mapping[str, Sequence[tuple[str, str]]]
    says: Sequence[str]
    scenes: Sequence[Scene]
    dealer: Dealer
    seen: set[tuple[str, ...]]

    def tell(self, count: int) -> list[str]:
        """That many sentences: all templates in turn, as often as they leave a choice, and again
        as long as they have something new to say."""
        frames: list[tuple[Scene | None, str]] = [(None, text) for text in self.says]
        frames += [(scene, text) for scene in self.scenes for text in scene.does]
        frames = [frame for frame in frames for _ in range(breadth(frame[1]))]
        told: list[str] = []
        while len(told) < count:
            if not frames:
                raise ValueError(f"the book has {len(told)} sentences, not {count}")
            spent = []
            for frame in self.dealer.rng.sample(frames, len(frames))[: count - len(told)]:
                found = self._new(*frame)
                told += [found] if found else []
                spent += [] if found else [frame]
            frames = [frame for frame in frames if frame not in spent]
        return told

    def fill(self, text: str, person: Person | None = None) -> str:
        """A template with all its choices made."""
        before = ""
        while text != before:
            before = text
            if person:
                text = text.replace("{its}", person.its)
                text = NUMBER.sub(lambda found: found[2 if person.many else 1], text)
            text = CHOICE.sub(self._choose, text)
        return text

    def _choose(self, found: re.Match[str]) -> str:
        return self.dealer.deal(self.words[found[2]] if found[2] else found[1].split("|"))

    def _new(self, scene: Scene | None, text: str) -> str | None:
        """A sentence that says what none before it says; None where there is none."""
        for _ in range(TRIES):
            parts, told = self._act(scene, text) if scene else self._say(text)
            core = tuple(word for word in " ".join(parts[:2]).split() if word not in ARTICLES)
            short = len(" ".join(parts).split()) <= LONGEST
            if short and core not in self.seen and not repeats(parts):
                self.seen.add(core)
                self.dealer.keep()
                return sentence(told)
            self.dealer.put_back()
        return None

    def _say(self, text: str) -> tuple[list[str], str]:
        told = self.fill(text)
        return [told.removesuffix(".").lower()], told

    def _act(self, scene: Scene, predicate: str) -> tuple[list[str], str]:
        """Someone of a scene who does this: its parts, and the whole. Clothes and place come last:
        they do not make another sentence of one that is told already."""
        name, phrase = self.dealer.deal(self.subjects[self.dealer.deal(scene.who)])
        person = PERSONS[name]
        who = self.fill(phrase, person)
        does = self.fill(predicate.removesuffix("."), person)
        wears = where = ""
        dressed = " in " in who or " with " in who
        if scene.wears and not dressed and self.dealer.chance(DRESSED):
            wears = self.fill(self.dealer.deal(scene.wears), person)
        bare = " " not in does  # `A cow stands` says too little
        if scene.where and not predicate.endswith(".") and (bare or self.dealer.chance(PLACED)):
            where = self.fill(self.dealer.deal(scene.where), person)
        form = self.dealer.deal(FORMS)
        if scene.still and form == "progressive":
            form = "simple"
        told = f"{who} {wears} {clause(does, form, person)} {where}"
        return [who, does.replace(MARK, ""), wears, where], told


def breadth(text: str) -> int:
    """How often a template must be told until all its choices are."""
    choices = (found[1].split("|") for found in CHOICE.finditer(text) if found[1])
    return max((len(set(choice)) for choice in choices), default=1)


def repeats(parts: Sequence[str]) -> bool:
    """Whether one part says a word of another again, as `children` who play with children."""
    said = [{word.rstrip("s,") for word in {*part.split()} - LITTLE} for part in parts]
    return sum(map(len, said)) > len(set().union(*said))


def open_book(
    tables: Mapping[str, Any],
    shared: Mapping[str, Any],
    dealer: Dealer,
    seen: set[tuple[str, ...]],
) -> Book:
    """A topic's file with the words that all topics share."""
    subjects: dict[str, list[tuple[str, str]]] = {}
    for person in PERSONS:
        for name, phrases in (shared.get(person, {}) | tables.get(person, {})).items():
            subjects.setdefault(name, []).extend((person, phrase) for phrase in phrases)
    return Book(
        words=shared["words"] | tables.get("words", {}),
        subjects=subjects,
        says=tables.get("says", ()),
        scenes=[Scene(**scene) for scene in tables.get("scenes", ())],
        dealer=dealer,
        seen=seen,
    )
