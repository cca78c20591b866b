"""Negation: sentences that say what is not in the picture.

    negated("A dog on the beach.", facts, rng)
    -> "A dog on the beach but no cats.", with the absent facts of a cat

It denies things ("without any cats"), what a person holds ("without a hat"), a colour ("but not a
brown one"), a place, a time and weather ("but not at night"). It never contradicts its sentence,
and never denies what drawings of settings show anyway, such as trees.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from random import Random
from typing import NamedTuple

from vsdemo.data.storybook.facts import Facts, Thing, entails
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.pictures import colour_held_out
from vsdemo.data.storybook.scene import Link
from vsdemo.data.storybook.typed import TypedSentence
from vsdemo.data.storybook.typing_words import load_typing_words, plural
from vsdemo.data.storybook.visible_facts import BACKDROPS
from vsdemo.data.text.inflection import article

SHOWN = 0.5  # share of negations of what a picture shows, if it is known
CATEGORIES = 0.4  # share of categories among denied things
UNSEEN = ("sunny",)  # weather of scenes at night and in rooms as well
WEIGHTS = {"thing": 5, "colour": 2, "place": 1, "time": 1, "weather": 1}
TRIES = 20  # at two denials of the same sort

Endings = Callable[[str], str]  # a key of `negations` in `typing_style.toml` -> one of its endings


class Denial(NamedTuple):
    """What a sentence denies.

    Args:
        form: Key of its ending.
        words: The ending.
        absent: What is absent.
    """

    form: str
    words: str
    absent: Facts


# (what a sentence states, rng, endings, what the picture shows if some of that is to be denied)
Deny = Callable[[Facts, Random, Endings, Facts | None], Denial | None]


def negated(text: str, facts: Facts, rng: Random, shown: Facts | None = None) -> TypedSentence:
    """Return a sentence that goes on to say what is absent.

    Args:
        text: A sentence.
        facts: What it states.
        rng: Chooses what is absent, and the words.
        shown: What a picture shows. Half of the negations then deny some of it, so that about
            half of them are false of the picture.
    """
    negations = load_typing_words().negations
    shown = shown if shown and rng.random() < SHOWN else None
    for deny in _ways_to_deny(rng):
        denial = deny(facts, rng, lambda form: rng.choice(negations[form]), shown)
        if denial and not entails(facts, denial.absent):
            return _denying(text, facts, denial)
    return negated(text, facts, rng)  # there is always a thing that is neither stated nor shown


def negated_pair(
    text: str, facts: Facts, rng: Random, truth: Facts, shown: Facts
) -> tuple[TypedSentence, TypedSentence] | None:
    """Return a true and a false sentence that differ only in what they deny.

    Both deny the same sort of thing in the same words: a kind, a category, what a person holds, a
    colour, a place, a time or weather. Both or none of them deny something usual, as otherwise the
    sentences alone would reveal which is false. Neither contradicts its own beginning.

    Args:
        text: A sentence that is true of a picture.
        facts: What it states.
        rng: Chooses what is absent, and the words.
        truth: The facts of the picture's scene, see `facts_of`.
        shown: What the picture may show, see `visible_facts`.

    Returns:
        The true and the false sentence; None if the sentence states all that could be denied.
    """
    negations = load_typing_words().negations
    endings = {form: rng.choice(templates) for form, templates in negations.items()}
    for deny in _ways_to_deny(rng):
        for _ in range(TRIES):
            true = deny(facts, rng, endings.__getitem__, None)
            false = deny(facts, rng, endings.__getitem__, shown)
            if true is None or false is None:
                break
            is_true = not entails(shown, true.absent)
            is_false = entails(truth, false.absent) and not entails(facts, false.absent)
            if is_true and is_false and _sort(true, facts, shown) == _sort(false, facts, shown):
                return _denying(text, facts, true), _denying(text, facts, false)
    return None


def _denying(text: str, facts: Facts, denial: Denial) -> TypedSentence:
    """Return a sentence with a denial at its end."""
    return TypedSentence(f"{text.rstrip('.')}{denial.words}.", facts, (denial.absent,))


def _ways_to_deny(rng: Random) -> Iterator[Deny]:
    """Yield the functions that deny something in random order, mostly by their weights."""
    names = [*WEIGHTS]
    while names:
        name = rng.choices(names, [WEIGHTS[each] for each in names])[0]
        yield _DENIALS[name]
        names.remove(name)


def _sort(denial: Denial, facts: Facts, shown: Facts) -> tuple[str, list[bool], bool]:
    """Return the form of a denial, whether its things are kinds, and whether they are usual."""
    absent = denial.absent
    are_kinds = [thing.concept in _kinds() for thing in absent.things]
    place = absent.place or shown.place or ""
    is_usual = all(_is_usual(thing, place) for thing in absent.things or facts.things)
    return denial.form, are_kinds, is_usual


def _is_usual(thing: Thing, setting: str) -> bool:
    """Return whether a kind of this thing lives in a setting, and is drawn in its colour."""
    words = load_lexicon()
    return any(
        words.is_a(name, thing.concept)
        and setting in kind.settings
        and (thing.colour is None or thing.colour in (*kind.colours, *kind.extra_colours))
        for name, kind in words.kinds.items()
    )


def _thing(facts: Facts, rng: Random, endings: Endings, shown: Facts | None) -> Denial | None:
    """Deny that something is there, or that a person has it."""
    words = load_lexicon()
    pool = _kinds() if rng.random() >= CATEGORIES else _categories()
    if shown:
        near = [words.named_concept(thing.concept) for thing in shown.things]
        pool = tuple(n for name in near for n in (name, *words.hypernyms(name)) if n in _deniable())
    pool = tuple(n for n in pool if not any(words.is_a(t.concept, n) for t in facts.things))
    if not pool:
        return None
    concept = rng.choice(pool)
    people = [thing for thing in facts.things if words.is_a(thing.concept, "person")]
    absent = Facts((Thing(concept),))
    form = "people" if concept == "person" else "thing"
    if people and _can_be_held(concept):
        form = "thing_apart"
        if len(facts.things) == 1:
            form = "possession"
            person = Thing(people[0].concept)
            absent = Facts((person, Thing(concept)), (Link("with", 0, 1),))
    noun = words.concepts[concept].nouns[0]
    ending = endings(form).format(one=noun, a=f"{article('a', noun)} {noun}", many=plural(noun))
    return Denial(form, ending, absent)


def _colour(facts: Facts, rng: Random, endings: Endings, shown: Facts | None) -> Denial | None:
    """Deny that the only thing of a sentence has a colour."""
    if len(facts.things) != 1:
        return None
    words, (thing,) = load_lexicon(), facts.things
    if thing.colour or words.concepts[thing.concept].mass:
        return None
    colours = [*words.colours]
    if shown:
        alike = [other for other in shown.things if words.is_a(other.concept, thing.concept)]
        colours = [other.colour for other in alike if other.colour]
    kinds = [kind for kind in words.kinds if words.named_concept(kind) == thing.concept]
    colours = [c for c in colours if not any(colour_held_out(kind, c) for kind in kinds)]
    if not colours:
        return None
    colour = rng.choice(colours)
    form = "colour_of_many" if thing.count > 1 else "colour_of_one"
    if words.wears_colour(thing.concept):
        form = "clothes"
    ending = endings(form).format(colour=colour, a=f"{article('a', colour)} {colour}")
    return Denial(form, ending, replace(facts, things=(replace(thing, colour=colour),)))


def _place(facts: Facts, rng: Random, endings: Endings, shown: Facts | None) -> Denial | None:
    words = load_lexicon()
    if facts.place in words.settings:
        return None
    names = words.setting_groups[facts.place] if facts.place else tuple(words.settings)
    phrases = {n: words.settings[n].ground for n in names if not shown or n == shown.place}
    return _circumstance("place", phrases, rng, endings)


def _time(facts: Facts, rng: Random, endings: Endings, shown: Facts | None) -> Denial | None:
    if facts.time:
        return None
    times = load_lexicon().times
    phrases = {n: t.phrases for n, t in times.items() if not shown or n == shown.time}
    return _circumstance("time", phrases, rng, endings)


def _weather(facts: Facts, rng: Random, endings: Endings, shown: Facts | None) -> Denial | None:
    words = load_lexicon()
    if facts.weather or facts.place in ("indoors", *words.setting_groups["indoors"]):
        return None
    phrases = {
        n: w.phrases
        for n, w in words.weathers.items()
        if n not in UNSEEN and (not shown or n == shown.weather)
    }
    return _circumstance("weather", phrases, rng, endings)


def _circumstance(
    field: str, phrases: Mapping[str, tuple[str, ...]], rng: Random, endings: Endings
) -> Denial | None:
    """Deny one of some places, times or weathers that have phrases."""
    names = [name for name in phrases if phrases[name]]
    if not names:
        return None
    name = rng.choice(names)
    ending = endings("circumstance")
    absent = Facts((), (), **{field: name})
    return Denial("circumstance", ending.format(rng.choice(phrases[name])), absent)


_DENIALS: Mapping[str, Deny] = {
    "thing": _thing,
    "colour": _colour,
    "place": _place,
    "time": _time,
    "weather": _weather,
}


@cache
def _deniable() -> tuple[str, ...]:
    """Return the countable concepts except those above or below things in a backdrop."""
    words = load_lexicon()
    behind = {thing.concept for things in BACKDROPS.values() for thing in things}
    return tuple(
        name
        for name, concept in words.concepts.items()
        if concept.nouns
        and not concept.mass
        and not any(words.is_a(b, name) or words.is_a(name, b) for b in behind)
    )


@cache
def _kinds() -> tuple[str, ...]:
    return tuple(name for name in _deniable() if name in load_lexicon().kinds)


@cache
def _categories() -> tuple[str, ...]:
    return tuple(name for name in _deniable() if name not in load_lexicon().kinds)


@cache
def _can_be_held(concept: str) -> bool:
    words = load_lexicon()
    return any("held" in k.affordances for k in words.kinds.values() if words.is_a(k.name, concept))
