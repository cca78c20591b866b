"""From what is to be said to the sentence that says it, with its tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vsdemo.core.sentences import Tree
from vsdemo.data.storybook import phrases
from vsdemo.data.storybook.facts import Facts, Thing
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.lexicon_entries import Wording
from vsdemo.data.storybook.phrases import Dependents, Links, Phrase
from vsdemo.data.storybook.scene import Link

FORMS = ("noun", "existential", "copular", "participle", "progressive", "simple")
BASE, THIRD, ING, DONE = range(4)  # the forms of a verb in a Wording


@dataclass(frozen=True)
class Mention:
    """A group as a caption names it.

    group: its number in the scene. noun: one of the concept's, singular, or its pronoun. size:
    a word for the thing's size. vague: several, without their number.
    """

    group: int
    thing: Thing
    noun: str
    size: str = ""
    vague: bool = False


@dataclass(frozen=True)
class Message:
    """What a caption says, and how.

    link: of the mentions, by their order here; without one the mentions stand side by side.
    form: one of FORMS; `noun` has no verb, `copular` is for relations and places, the last three
    are for verbs. posture: the action whose verb carries a relation, as in `sits behind`.
    wording: which of the action's. adverbials: the phrases that say place, weather and time.
    """

    mentions: tuple[Mention, ...]
    link: Link | None = None
    form: str = "noun"
    passive: bool = False
    wording: int = 0
    posture: str = ""
    definite: bool = False
    place: str | None = None
    weather: str | None = None
    time: str | None = None
    adverbials: tuple[str, ...] = ()

    @property
    def facts(self) -> Facts:
        """What follows from it."""
        links = [self.link] if self.link else []
        if self.link and self.posture:
            links.append(Link(self.posture, self.link.subject))
        things = tuple(mention.thing for mention in self.mentions)
        return Facts(things, tuple(links), self.place, self.time, self.weather)


@dataclass(frozen=True)
class Caption:
    """A sentence about a scene.

    tree: gold Universal Dependencies. links: (indices of a noun phrase's words, counted from 0,
    number of its group in the scene). message: what it was made from.
    """

    text: str
    tree: Tree
    links: Links
    message: Message

    @property
    def facts(self) -> Facts:
        """What it says."""
        return self.message.facts


def realize(message: Message) -> Caption:
    """The sentence that says a message."""
    said = phrases.sentence(_clause(message) if message.link else _presence(message))
    return Caption(phrases.written(said.tree.words), said.tree, said.links, message)


def _presence(message: Message) -> Phrase:
    """That something is there, somewhere."""
    noun = _noun(message, 0)
    if more := len(message.mentions) > 1:
        noun = phrases.both(noun, _noun(message, 1, beside=0))
    plural = more or _is_plural(message.mentions[0])
    return _placed(message, noun, [phrases.adverbial(text) for text in message.adverbials], plural)


def _placed(message: Message, noun: Phrase, where: Sequence[Phrase], plural: bool) -> Phrase:
    if message.form == "existential":
        return phrases.existential(noun, phrases.modifiers(where, verbal=True), plural)
    if message.form == "copular":
        predicate = phrases.join(where[0], after=phrases.modifiers(where[1:], verbal=True))
        return phrases.copular(noun, predicate, plural)
    return phrases.join(noun, after=phrases.modifiers(where, verbal=False))


def _clause(message: Message) -> Phrase:
    """That groups do something, or how they stand to each other."""
    link = message.link
    assert link is not None
    first, second = link.subject, link.object
    if message.passive and second is not None:
        first, second = second, first
    noun, plural = _noun(message, first), _is_plural(message.mentions[first])
    other = None if second is None else _noun(message, second, beside=first)
    action = load_lexicon().actions[link.action]
    wording = action.says[message.wording]
    adverbials = [phrases.adverbial(text) for text in message.adverbials]
    if action.relation and not message.posture:
        assert other is not None
        where = phrases.prepositional(wording.preposition, other)
        return _placed(message, noun, [where, *adverbials], plural)
    verb = (load_lexicon().actions[message.posture].says[0] if message.posture else wording).verb
    after = [
        *_complement(message, wording, other),
        *phrases.modifiers(adverbials, verbal=True),
    ]
    return _verbal(message, noun, verb, after, plural)


def _complement(message: Message, wording: Wording, other: Phrase | None) -> Dependents:
    if other is None:
        return []
    if message.passive:
        return [("obl:agent", phrases.prepositional("by", other))]
    if wording.preposition:
        where = phrases.prepositional(wording.preposition, other, verbal=True)
        return phrases.modifiers([where], verbal=True)
    return [("obj", other)]


def _verbal(
    message: Message, noun: Phrase, verb: Sequence[str], after: Dependents, plural: bool
) -> Phrase:
    going = message.form == "progressive"
    if message.passive:
        form = verb[DONE]
    elif going or message.form == "participle":
        form = verb[ING]
    else:
        form = verb[BASE if plural else THIRD]
    predicate = phrases.join(phrases.word(form, "VERB"), after=after)
    if message.form == "participle":
        return phrases.join(noun, after=[("acl", predicate)])
    auxiliaries = [phrases.be(plural)] * (going or message.passive)
    auxiliaries += ["being"] * (going and message.passive)
    return phrases.finite(noun, predicate, auxiliaries, message.passive)


def _is_plural(mention: Mention) -> bool:
    return mention.thing.count > 1


def _words(mention: Mention) -> tuple[str, str, str]:
    return mention.size, mention.thing.colour or "", mention.noun


def _noun(message: Message, number: int, beside: int | None = None) -> Phrase:
    """A mention's noun phrase, linked to its group; `beside` another one of the same name it is
    another one."""
    mention, words = message.mentions[number], load_lexicon()
    concept = words.concepts[mention.thing.what]
    if mention.noun == concept.pronoun:
        return phrases.named(phrases.word(mention.noun, "PRON"), mention.group)
    plural = _is_plural(mention)
    again = beside is not None and _words(mention) == _words(message.mentions[beside])
    before = _determiners(message, mention, plural, again and not message.definite)
    before += [mention.size] * bool(mention.size)
    colour = mention.thing.colour
    if colour and not words.clothed(concept.name):
        before.append(colour)
    noun = words.plural(mention.noun) if plural else mention.noun
    phrase = phrases.noun_phrase(noun, before)
    if colour and words.clothed(concept.name):
        dress = phrases.prepositional("in", phrases.word(colour, "ADJ"))
        phrase = phrases.join(phrase, after=[("nmod", dress)])
    return phrases.named(phrase, mention.group)


def _determiners(message: Message, mention: Mention, plural: bool, again: bool) -> list[str]:
    words = load_lexicon()
    if not plural:
        if message.definite:
            return ["the"]
        if words.concepts[mention.thing.what].mass:
            return ["some"]
        return ["another" if again else "a"]
    number = [] if mention.vague else [words.counts[mention.thing.count - 1]]
    return ["the"] * message.definite + number + ["other"] * again
