"""The concepts of the lexicon as phrases and sentences."""

from __future__ import annotations

from vsdemo.data.storybook.facts import Thing
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.phrases import article
from vsdemo.data.storybook.realization import Caption, Mention, Message, realize


def concept_phrases() -> dict[str, str]:
    """Return the nouns of the lexicon with their articles, such as `a dog`, and their concepts."""
    concepts = load_lexicon().concepts
    return {_phrase(c.nouns[0], mass=c.mass): name for name, c in concepts.items() if c.nouns}


def _phrase(noun: str, *, mass: bool) -> str:
    return noun if mass else f"{article('a', noun)} {noun}"


def concepts_above(mention: Mention) -> tuple[Caption, ...]:
    """Return what things of a caption are, the most general first, and with their colour.

    The sentences are such as "Animals.", "Dogs.", "Brown dogs." for three small brown dogs.
    """
    words, thing = load_lexicon(), mention.thing
    steps: list[tuple[str, str | None]] = [
        (concept, None) for concept in (*reversed(words.hypernyms(thing.concept)), thing.concept)
    ]
    if thing.colour:
        steps.append((thing.concept, thing.colour))
    return tuple(realize(Message((_mention(mention, *step),))) for step in steps)


def _mention(main: Mention, concept: str, colour: str | None) -> Mention:
    """Return the same group as a concept with its usual noun, in the plural for several."""
    known = load_lexicon().concepts[concept]
    plural = main.thing.count > 1 and not known.mass
    thing = Thing(concept, 2 if plural else 1, colour)
    return Mention(main.group, thing, known.nouns[0], vague=plural)
