"""Variants of a caption that differ in one respect, for tasks with a known answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from vsdemo.data.storybook.facts import facts_of
from vsdemo.data.storybook.false_twins import first_false, renamed, with_roles_exchanged
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.realization import Caption, Mention, Message, realize
from vsdemo.data.storybook.scene import Scene


@dataclass(frozen=True)
class Variants:
    """Variants of a caption; None if it has no such variant.

    Args:
        voice: The passive of an active sentence or the reverse; same meaning.
        swapped: Subject and object exchanged; false of the scene.
        synonyms: Other words; same meaning.
        hypernyms: More general nouns; the caption entails it.
    """

    voice: Caption | None
    swapped: Caption | None
    synonyms: Caption | None
    hypernyms: Caption | None


def variants_of(caption: Caption, scene: Scene) -> Variants:
    """Return the variants of a caption of a scene."""
    message = caption.message
    swapped = _swapped(message)
    return Variants(
        voice=_realize_if_changed(message, _other_voice(message)),
        swapped=first_false([swapped], facts_of(scene)) if swapped else None,
        synonyms=_realize_if_changed(message, _with_synonyms(message)),
        hypernyms=_realize_if_changed(message, _with_hypernyms(message)),
    )


def _realize_if_changed(message: Message, variant: Message | None) -> Caption | None:
    return realize(variant) if variant and variant != message else None


def _other_voice(message: Message) -> Message | None:
    if not message.link:
        return None
    action = load_lexicon().actions[message.link.action]
    if not action.passive or action.wordings[message.wording].preposition:
        return None
    return replace(message, passive=not message.passive)


def _swapped(message: Message) -> Message | None:
    """Exchange subject and object, except of a relation with a posture: a tree does not sit."""
    return None if message.posture else with_roles_exchanged(message)


def _with_synonyms(message: Message) -> Message:
    """Replace every noun, size and verb that has a synonym."""
    wording = message.wording
    if message.link:
        wordings = load_lexicon().actions[message.link.action].wordings
        wording = (wording + 1) % len(wordings)
        if message.passive and wordings[wording].preposition:
            wording = message.wording
    mentions = tuple(_with_synonym(mention) for mention in message.mentions)
    return replace(message, mentions=mentions, wording=wording)


def _with_synonym(mention: Mention) -> Mention:
    lexicon = load_lexicon()
    noun, size = mention.noun, mention.size
    nouns = lexicon.concepts[mention.thing.concept].nouns
    if noun in nouns:
        noun = _next(nouns, noun)
    if mention.thing.size:
        size = _next(lexicon.sizes[mention.thing.size].words, size)
    return replace(mention, noun=noun, size=size)


def _next(words: tuple[str, ...], word: str) -> str:
    return words[(words.index(word) + 1) % len(words)]


def _with_hypernyms(message: Message) -> Message:
    """Replace every noun by that of the nearest concept above, without sizes."""
    mentions = tuple(_with_hypernym(mention) for mention in message.mentions)
    return replace(message, mentions=mentions)


def _with_hypernym(mention: Mention) -> Mention:
    lexicon = load_lexicon()
    hypernym = next(iter(lexicon.hypernyms(mention.thing.concept)), None)
    if hypernym is None:
        return mention
    general = renamed(mention, hypernym)
    return replace(general, thing=replace(general.thing, size=None), size="")  # sizes are relative
