"""Captions that differ from another in one respect, for experiments with a known answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vsdemo.data.storybook.facts import entails, facts_of
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.realization import Caption, Mention, Message, realize
from vsdemo.data.storybook.scene import Link, Scene


@dataclass(frozen=True)
class Variants:
    """None where a caption has no such twin.

    voice: active for passive or the other way round, same meaning. swapped: subject and object
    exchanged, false of the scene. synonyms: other words, same meaning. hypernyms: more general
    nouns, so that the caption entails it.
    """

    voice: Caption | None
    swapped: Caption | None
    synonyms: Caption | None
    hypernyms: Caption | None


def variants_of(caption: Caption, scene: Scene) -> Variants:
    """The twins of a caption of a scene."""
    message = caption.message
    swapped = _swapped(message)
    if swapped and entails(facts_of(scene), swapped.facts):
        swapped = None
    told = (_other_voice(message), swapped, _synonyms(message), _hypernyms(message))
    return Variants(*(realize(m) if m and m != message else None for m in told))


def _other_voice(message: Message) -> Message | None:
    action = load_lexicon().actions[message.link.action] if message.link else None
    if not action or not action.passive or action.says[message.wording].preposition:
        return None
    return replace(message, passive=not message.passive)


def _swapped(message: Message) -> Message | None:
    """Not of relations said with a posture: a tree does not sit."""
    link = message.link
    if not link or link.object is None or message.posture:
        return None
    return replace(message, link=Link(link.action, link.object, link.subject))


def _synonyms(message: Message) -> Message:
    """Every noun, size and verb replaced by its next synonym, where it has one."""
    wording = message.wording
    if message.link:
        says = load_lexicon().actions[message.link.action].says
        wording = (wording + 1) % len(says)
        if message.passive and says[wording].preposition:
            wording = message.wording
    mentions = tuple(_renamed(mention) for mention in message.mentions)
    return replace(message, mentions=mentions, wording=wording)


def _renamed(mention: Mention) -> Mention:
    words = load_lexicon()
    noun, size = mention.noun, mention.size
    if noun in (nouns := words.concepts[mention.thing.what].nouns):
        noun = _next(nouns, noun)
    if mention.thing.size:
        size = _next(words.sizes[mention.thing.size].words, size)
    return replace(mention, noun=noun, size=size)


def _next(words: tuple[str, ...], word: str) -> str:
    return words[(words.index(word) + 1) % len(words)]


def _hypernyms(message: Message) -> Message:
    """Every noun replaced by the nearest concept above; sizes go, as they are relative to it."""
    mentions = tuple(_raised(mention) for mention in message.mentions)
    return replace(message, mentions=mentions)


def _raised(mention: Mention) -> Mention:
    words = load_lexicon()
    concept = next(iter(words.hypernyms(mention.thing.what)), None)
    if concept is None:
        return mention
    found = words.concepts[concept]
    count = 1 if found.mass else mention.thing.count
    thing = replace(mention.thing, what=concept, count=count, size=None)
    return replace(mention, thing=thing, noun=found.nouns[0], size="")
