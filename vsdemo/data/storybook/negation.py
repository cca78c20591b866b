"""Negation: what a sentence says is not in the picture.

    negated("A dog on the beach.", facts, rng)
    -> "A dog on the beach but no cats.", with the absent facts of a cat

It denies things ("without any cats"), what a person holds ("without a hat"), a colour ("but not a
brown one"), a place, a time and weather ("but not at night"). It never contradicts its sentence,
and never denies what drawings of settings show anyway, such as trees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from random import Random

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

Denial = tuple[str, Facts]  # the words at the end of a sentence, what is absent


def negated(text: str, facts: Facts, rng: Random, shown: Facts | None = None) -> TypedSentence:
    """Return a sentence that goes on to say what is absent.

    Args:
        text: A sentence.
        facts: What it states.
        rng: Chooses what is absent, and the words.
        shown: What a picture shows. Half of the negations then deny some of it, so that about
            half of them are false of the picture.
    """
    shown = shown if shown and rng.random() < SHOWN else None
    names = [*WEIGHTS]
    while names:
        name = rng.choices(names, [WEIGHTS[each] for each in names])[0]
        denial = _DENIALS[name](facts, rng, shown)
        if denial and not entails(facts, denial[1]):
            return TypedSentence(f"{text.rstrip('.')}{denial[0]}.", facts, (denial[1],))
        names.remove(name)
    return negated(text, facts, rng)  # there is always a thing that is neither stated nor shown


def _thing(facts: Facts, rng: Random, shown: Facts | None) -> Denial | None:
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
    if not people or not _can_be_held(concept):
        return _ending("people" if concept == "person" else "thing", concept, rng), absent
    if len(facts.things) > 1:
        return _ending("thing_apart", concept, rng), absent
    person = Thing(people[0].concept)
    held = Facts((person, Thing(concept)), (Link("with", 0, 1),))
    return _ending("possession", concept, rng), held


def _ending(form: str, concept: str, rng: Random) -> str:
    """Return words that deny a concept."""
    noun = load_lexicon().concepts[concept].nouns[0]
    ending = rng.choice(load_typing_words().negations[form])
    return ending.format(one=noun, a=f"{article('a', noun)} {noun}", many=plural(noun))


def _colour(facts: Facts, rng: Random, shown: Facts | None) -> Denial | None:
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
    ending = rng.choice(load_typing_words().negations[form])
    absent = replace(facts, things=(replace(thing, colour=colour),))
    return ending.format(colour=colour, a=f"{article('a', colour)} {colour}"), absent


def _place(facts: Facts, rng: Random, shown: Facts | None) -> Denial | None:
    words = load_lexicon()
    if facts.place in words.settings:
        return None
    names = words.setting_groups[facts.place] if facts.place else tuple(words.settings)
    phrases = {n: words.settings[n].ground for n in names if not shown or n == shown.place}
    denied = _circumstance(phrases, rng)
    return denied and (denied[0], Facts((), place=denied[1]))


def _time(facts: Facts, rng: Random, shown: Facts | None) -> Denial | None:
    times = load_lexicon().times
    phrases = {n: t.phrases for n, t in times.items() if not shown or n == shown.time}
    denied = None if facts.time else _circumstance(phrases, rng)
    return denied and (denied[0], Facts((), time=denied[1]))


def _weather(facts: Facts, rng: Random, shown: Facts | None) -> Denial | None:
    words = load_lexicon()
    if facts.weather or facts.place in ("indoors", *words.setting_groups["indoors"]):
        return None
    phrases = {
        n: w.phrases
        for n, w in words.weathers.items()
        if n not in UNSEEN and (not shown or n == shown.weather)
    }
    denied = _circumstance(phrases, rng)
    return denied and (denied[0], Facts((), weather=denied[1]))


def _circumstance(phrases: Mapping[str, tuple[str, ...]], rng: Random) -> tuple[str, str] | None:
    """Deny one of some places, times or weathers that have phrases; also return its name."""
    names = [name for name in phrases if phrases[name]]
    if not names:
        return None
    name = rng.choice(names)
    ending = rng.choice(load_typing_words().negations["circumstance"])
    return ending.format(rng.choice(phrases[name])), name


_DENIALS: Mapping[str, Callable[[Facts, Random, Facts | None], Denial | None]] = {
    "thing": _thing,
    "colour": _colour,
    "place": _place,
    "time": _time,
    "weather": _weather,
}


@cache
def _deniable() -> tuple[str, ...]:
    """Return the concepts that can be counted but those above or below things in a backdrop."""
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
