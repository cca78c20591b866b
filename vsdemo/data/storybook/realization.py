"""Surface realization: from a message to the sentence that expresses it, with its tree."""

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
BASE, THIRD_PERSON, PRESENT_PARTICIPLE, PAST_PARTICIPLE = range(4)  # the forms in Wording.verb


@dataclass(frozen=True)
class Mention:
    """A group as a caption names it.

    Args:
        group: Index of the group in its scene.
        thing: What the caption says about it.
        noun: A noun of the concept in the singular, or its pronoun.
        size: An adjective of the thing's size; may be empty.
        vague: Whether to leave out the number of several things.
    """

    group: int
    thing: Thing
    noun: str
    size: str = ""
    vague: bool = False


@dataclass(frozen=True)
class Message:
    """The content of a caption, and the form of its sentence.

    Args:
        mentions: The groups that it names.
        link: Link between the mentions, by their order here. Without one they are just listed.
        form: One of FORMS. `noun` has no verb; `copular` is for relations and places; the last
            three are for verbs.
        passive: Whether to use the passive.
        wording: Index of the action's wording.
        posture: The action whose verb introduces a relation, as in `sits behind`.
        definite: Whether to use `the`.
        place: The place that it states, as in `Facts`.
        weather: The weather that it states.
        time: The time that it states.
        adverbials: Phrases for place, weather and time.
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
        """What it states."""
        links = []
        if self.link:
            links.append(self.link)
            if self.posture:
                links.append(Link(self.posture, self.link.subject))
        return Facts(
            things=tuple(mention.thing for mention in self.mentions),
            links=tuple(links),
            place=self.place,
            time=self.time,
            weather=self.weather,
        )


@dataclass(frozen=True)
class Caption:
    """A sentence about a scene.

    Args:
        text: The sentence.
        tree: Its gold Universal Dependencies.
        links: (indices of the words of a noun phrase, index of its group in the scene).
        message: What it expresses.
    """

    text: str
    tree: Tree
    links: Links
    message: Message

    @property
    def facts(self) -> Facts:
        """What it states."""
        return self.message.facts


def realize(message: Message) -> Caption:
    """Return the sentence that expresses a message."""
    sentence = phrases.sentence(_clause(message) if message.link else _list_of_things(message))
    return Caption(
        text=phrases.to_text(sentence.tree.words),
        tree=sentence.tree,
        links=sentence.links,
        message=message,
    )


def _list_of_things(message: Message) -> Phrase:
    """Return the phrase that says that one or two groups are somewhere."""
    noun = _mention_phrase(message, 0)
    several = len(message.mentions) > 1
    if several:
        noun = phrases.coordinate(noun, _mention_phrase(message, 1, beside=0))
    plural = several or _is_plural(message.mentions[0])
    where = [phrases.adverbial(text) for text in message.adverbials]
    return _located(message, noun, where, plural=plural)


def _located(message: Message, noun: Phrase, where: Sequence[Phrase], *, plural: bool) -> Phrase:
    """Return a noun phrase with its place, in the form of the message."""
    if message.form == "existential":
        after = phrases.modifiers(where, of_verb=True)
        return phrases.existential_clause(noun, after, plural=plural)
    if message.form == "copular":
        after = phrases.modifiers(where[1:], of_verb=True)
        return phrases.copular_clause(noun, phrases.join(where[0], after=after), plural=plural)
    return phrases.join(noun, after=phrases.modifiers(where, of_verb=False))


def _clause(message: Message) -> Phrase:
    """Return the phrase for an action, or for a relation between two groups."""
    link = message.link
    assert link is not None
    first, second = link.subject, link.object
    if message.passive and second is not None:
        first, second = second, first
    noun = _mention_phrase(message, first)
    other = None if second is None else _mention_phrase(message, second, beside=first)
    plural = _is_plural(message.mentions[first])
    lexicon = load_lexicon()
    action = lexicon.actions[link.action]
    wording = action.wordings[message.wording]
    adverbials = [phrases.adverbial(text) for text in message.adverbials]
    if action.relation and not message.posture:
        assert other is not None
        where = [phrases.prepositional(wording.preposition, other), *adverbials]
        return _located(message, noun, where, plural=plural)
    verb = wording.verb
    if message.posture:
        verb = lexicon.actions[message.posture].wordings[0].verb
    after = [
        *_complement(message, wording, other),
        *phrases.modifiers(adverbials, of_verb=True),
    ]
    return _verb_phrase(message, noun, verb, after, plural=plural)


def _complement(message: Message, wording: Wording, other: Phrase | None) -> Dependents:
    """Return the object of a verb, or the agent of a passive."""
    if other is None:
        return []
    if message.passive:
        return [("obl:agent", phrases.prepositional("by", other))]
    if wording.preposition:
        where = phrases.prepositional(wording.preposition, other, after_verb=True)
        return phrases.modifiers([where], of_verb=True)
    return [("obj", other)]


def _verb_phrase(
    message: Message, noun: Phrase, verb: Sequence[str], after: Dependents, *, plural: bool
) -> Phrase:
    """Return a clause, or a noun with a participle, in the form of the message."""
    progressive = message.form == "progressive"
    if message.passive:
        form = verb[PAST_PARTICIPLE]
    elif progressive or message.form == "participle":
        form = verb[PRESENT_PARTICIPLE]
    else:
        form = verb[BASE if plural else THIRD_PERSON]
    predicate = phrases.join(phrases.word(form, "VERB"), after=after)
    if message.form == "participle":
        return phrases.join(noun, after=[("acl", predicate)])
    auxiliaries = []
    if progressive or message.passive:
        auxiliaries.append(phrases.be(plural=plural))
    if progressive and message.passive:
        auxiliaries.append("being")
    return phrases.finite_clause(noun, predicate, auxiliaries, passive=message.passive)


def _is_plural(mention: Mention) -> bool:
    return mention.thing.count > 1


def _description(mention: Mention) -> tuple[str, str, str]:
    return mention.size, mention.thing.colour or "", mention.noun


def _mention_phrase(message: Message, number: int, beside: int | None = None) -> Phrase:
    """Return a mention's noun phrase, linked to its group.

    If `beside` is a mention with the same description, this one is `another`.
    """
    mention, lexicon = message.mentions[number], load_lexicon()
    concept = lexicon.concepts[mention.thing.concept]
    if mention.noun == concept.pronoun:
        return phrases.link_to_group(phrases.word(mention.noun, "PRON"), mention.group)
    plural = _is_plural(mention)
    repeated = (
        beside is not None
        and not message.definite
        and _description(mention) == _description(message.mentions[beside])
    )
    before = _determiners(message, mention, plural=plural, repeated=repeated)
    if mention.size:
        before.append(mention.size)
    colour = mention.thing.colour
    wears_colour = lexicon.wears_colour(concept.name)
    if colour and not wears_colour:
        before.append(colour)
    noun = lexicon.plural(mention.noun) if plural else mention.noun
    phrase = phrases.noun_phrase(noun, tuple(before))
    if colour and wears_colour:
        clothes = phrases.prepositional("in", phrases.word(colour, "ADJ"))
        phrase = phrases.join(phrase, after=[("nmod", clothes)])
    return phrases.link_to_group(phrase, mention.group)


def _determiners(message: Message, mention: Mention, *, plural: bool, repeated: bool) -> list[str]:
    """Return the article or number of a noun."""
    lexicon = load_lexicon()
    if not plural:
        if message.definite:
            return ["the"]
        if lexicon.concepts[mention.thing.concept].mass:
            return ["some"]
        return ["another" if repeated else "a"]
    determiners = ["the"] if message.definite else []
    if not mention.vague:
        determiners.append(lexicon.counts[mention.thing.count - 1])
    if repeated:
        determiners.append("other")
    return determiners
