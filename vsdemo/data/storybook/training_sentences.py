"""The sentences that a model may learn from about one scene, with what each of them states.

True ones are captions, also about topics other than the scene's own, and sentences about only its
place, time or weather. False ones are twins of captions. Negated ones may be either, or undecided:
`truth.labels` says which. Most sentences also come as people type them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from random import Random
from typing import TypeVar

from vsdemo.data.storybook.captions import notable_circumstances, write_captions
from vsdemo.data.storybook.facts import Facts
from vsdemo.data.storybook.false_twins import RESPECTS, false_twin
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.negation import negated
from vsdemo.data.storybook.realization import Caption
from vsdemo.data.storybook.scene import Scene
from vsdemo.data.storybook.typed import TypedSentence
from vsdemo.data.storybook.typing_style import as_typed
from vsdemo.data.storybook.visible_facts import visible_facts

Item = TypeVar("Item")

OTHER_LINK = 0.6  # share of the other topics that are a link, if a scene has several
SIDE = 1 / 3  # share of places that are a side, such as outside
BARE = 0.7  # share of settings without a preposition
DATED = 0.9  # share of surroundings with time or weather, if these are worth mentioning
UNPLACED = 0.2  # share of these without a place
NEGATED = 2  # negated sentences of a scene
EMPTY = 0.12  # share of them that name nothing but surroundings before the negation
SUBTLE = ("roles", "colour", "action")  # respects that are hard to see, with two false sentences
TYPED = 2 / 3  # share of sentences that also come as people type them


def sentences_about(scene: Scene, rng: Random) -> list[TypedSentence]:
    """Return about 40 different sentences about a scene, true and false ones.

    The same scene and state of `rng` give the same sentences. Unless the scene is in the split
    `compositional`, no sentence combines a kind of thing with a colour or an action that is held
    out.

    Raises:
        UserError: If the scene has no group, or a name is not in the lexicon.
    """
    first = write_captions(scene, rng)
    second = write_captions(_with_other_topic(scene, rng), rng)
    third = write_captions(_with_other_topic(scene, rng), rng)
    captions = (*first, *second, *third[1:3])
    shown = visible_facts(scene)
    sentences = [TypedSentence(caption.text, caption.facts) for caption in captions]
    sentences.append(_surroundings(scene, rng))
    sentences += _false_sentences((*first[2:], *second[2:]), shown, rng)
    for _ in range(NEGATED):
        caption = rng.choice(captions)
        plain = TypedSentence(caption.text, caption.facts)
        if rng.random() < EMPTY:
            plain = _surroundings(scene, rng)
        sentences.append(negated(plain.text, plain.facts, rng, shown))
    for sentence in rng.sample(sentences, int(TYPED * len(sentences))):
        sentences.append(replace(sentence, text=as_typed(sentence.text, rng)))
    return list({sentence.text: sentence for sentence in sentences}.values())


def _with_other_topic(scene: Scene, rng: Random) -> Scene:
    """Return a scene whose topic is another link, or any of its groups without a link."""
    if len(scene.links) > 1 and rng.random() < OTHER_LINK:
        return replace(scene, links=_with_first(scene.links, rng.randrange(1, len(scene.links))))
    at = rng.randrange(len(scene.groups))
    return replace(scene, groups=_with_first(scene.groups, at), links=())


def _with_first(items: tuple[Item, ...], at: int) -> tuple[Item, ...]:
    """Return items with one of them moved to the front."""
    return (items[at], *items[:at], *items[at + 1 :])


def _surroundings(scene: Scene, rng: Random) -> TypedSentence:
    """Return a sentence that names no thing: "The beach at night.", "Outside.", "In the rain."."""
    facts: dict[str, str] = {}
    phrases = []
    notable = [*notable_circumstances(scene)]
    dated = bool(notable) and rng.random() < DATED
    if not dated or rng.random() >= UNPLACED:
        facts["place"], phrase = _place(scene, rng)
        phrases.append(phrase)
    if dated:
        field, name, choices = rng.choice(notable)
        facts[field] = name
        phrases.append(rng.choice(choices))
    return TypedSentence(f"{' '.join(phrases).capitalize()}.", Facts((), (), **facts))


def _place(scene: Scene, rng: Random) -> tuple[str, str]:
    """Return a scene's setting or side, and a phrase for it: "on the beach", "the beach"."""
    lexicon = load_lexicon()
    if rng.random() < SIDE:
        side = lexicon.side(scene.setting)
        return side, rng.choice(lexicon.sides[side])
    phrase = rng.choice(lexicon.settings[scene.setting].ground)
    if rng.random() < BARE:
        _, phrase = phrase.split(maxsplit=1)
    return scene.setting, phrase


def _false_sentences(
    captions: Sequence[Caption], shown: Facts, rng: Random
) -> Iterator[TypedSentence]:
    """Yield a false twin in each respect, or two, of different captions that have one."""
    for respect in RESPECTS:
        order = rng.sample(captions, len(captions))
        every = (false_twin(caption.message, respect, shown, rng) for caption in order)
        wanted = 2 if respect in SUBTLE else 1
        for twin in islice(filter(None, every), wanted):
            yield TypedSentence(twin.text, twin.facts)
