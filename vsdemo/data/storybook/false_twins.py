"""Twins of a caption: the same sentence except in one respect, mostly false of the same picture.

Twins never state what the caption already states, and never combine a kind of thing with a colour
or an action that is held out of training. Whether a twin is false of a picture follows from the
facts:

    truth = visible_facts(scene)
    for respect in RESPECTS:
        wrong = false_twin(caption.message, respect, truth, rng)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from random import Random
from typing import TypeVar

from vsdemo.core.errors import UserError
from vsdemo.data.storybook.facts import Facts, closure, entails
from vsdemo.data.storybook.lexicon import load_lexicon, medium
from vsdemo.data.storybook.lexicon_entries import Action
from vsdemo.data.storybook.pictures import action_held_out, colour_held_out
from vsdemo.data.storybook.plausibility import uses
from vsdemo.data.storybook.realization import Caption, Mention, Message, realize
from vsdemo.data.storybook.scene import Link

LIKELY = 0.7  # share of twins that prefer what could be drawn as well, such as a near kind
SORTS = ("ground", "along", "air", "water", "surface")  # of phrases of a setting
UNDECIDABLE = ("looks_at",)  # whoever holds or chases something may look at it, too

Item = TypeVar("Item")


def twins(message: Message, respect: str, rng: Random) -> Iterator[Caption]:
    """Yield the twins of a message in one respect, in random order.

    Args:
        message: What a caption says.
        respect: One of RESPECTS.
        rng: The order is the same for the same state of it.

    Raises:
        UserError: If there is no such respect.
    """
    return map(realize, _twin_messages(message, respect, rng))


def twin(message: Message, respect: str, rng: Random) -> Caption | None:
    """Return a twin of a message in one respect; None if it has none.

    Raises:
        UserError: If there is no such respect.
    """
    return next(twins(message, respect, rng), None)


def false_twin(message: Message, respect: str, truth: Facts, rng: Random) -> Caption | None:
    """Return a twin that is false of a picture; None if there is none.

    Args:
        message: What a caption says.
        respect: One of RESPECTS.
        truth: What the picture shows, see `visible_facts`.
        rng: Chooses among the twins.

    Raises:
        UserError: If there is no such respect.
    """
    return first_false(_twin_messages(message, respect, rng), truth)


def first_false(messages: Iterable[Message], truth: Facts) -> Caption | None:
    """Return the caption of the first message that does not follow from facts."""
    false = (message for message in messages if not entails(truth, message.facts))
    return next(map(realize, false), None)


def _twin_messages(message: Message, respect: str, rng: Random) -> Iterator[Message]:
    """Yield the messages of the twins of a message, see `twins`."""
    if respect not in _CHANGES:
        raise UserError(f"Twins do not differ in {respect!r}; choose one of {', '.join(RESPECTS)}.")
    facts = message.facts
    held_out = _held_out_pairs(facts)
    for other in _CHANGES[respect](message, rng):
        if (
            _is_clear(other)
            and not entails(facts, other.facts)
            and _held_out_pairs(other.facts) <= held_out
        ):
            yield other


def recoloured(mention: Mention, colour: str) -> Mention:
    """Return a mention in another colour."""
    return replace(mention, thing=replace(mention.thing, colour=colour))


def renamed(mention: Mention, concept: str) -> Mention:
    """Return a mention of another concept, by its usual noun; a mass has no number."""
    known = load_lexicon().concepts[concept]
    count = 1 if known.mass else mention.thing.count
    thing = replace(mention.thing, concept=concept, count=count)
    return replace(mention, thing=thing, noun=known.nouns[0])


def with_mention(message: Message, number: int, mention: Mention) -> Message:
    """Return a message with another mention in the place of one."""
    mentions = message.mentions
    return replace(message, mentions=(*mentions[:number], mention, *mentions[number + 1 :]))


def with_roles_exchanged(message: Message) -> Message | None:
    """Return a message with subject and object exchanged; None if it does not have both."""
    link = message.link
    if not link or link.object is None:
        return None
    return replace(message, link=Link(link.action, link.object, link.subject))


def _colours(message: Message, rng: Random) -> Iterator[Message]:
    """Change the colour of a thing, or name one."""
    words = load_lexicon()
    for number, mention in _named_mentions(message, rng):
        usual = {
            colour
            for kind in _kinds_called(mention.thing.concept)
            for colour in (*words.kinds[kind].colours, *words.kinds[kind].extra_colours)
        }
        others = [colour for colour in words.colours if colour != mention.thing.colour]
        for colour in _shuffled(others, usual.__contains__, rng):
            yield with_mention(message, number, recoloured(mention, colour))


def _counts(message: Message, rng: Random) -> Iterator[Message]:
    """Change the number of things to a greater one, as a smaller one is true as well."""
    words = load_lexicon()
    for number, mention in _named_mentions(message, rng):
        if not words.concepts[mention.thing.concept].mass:
            more = range(mention.thing.count + 1, len(words.counts) + 1)
            for count in rng.sample(more, len(more)):
                thing = replace(mention.thing, count=count)
                yield with_mention(message, number, replace(mention, thing=thing, vague=False))


def _sizes(message: Message, rng: Random) -> Iterator[Message]:
    """Change the size of a thing."""
    for number, mention in _named_mentions(message, rng):
        if mention.size:
            for name, size in load_lexicon().sizes.items():
                thing = replace(mention.thing, size=name)
                other = replace(mention, thing=thing, size=size.words[0])
                yield with_mention(message, number, other)


def _kinds(message: Message, rng: Random) -> Iterator[Message]:
    """Change what a thing is: a kind to another kind, and a category to another category."""
    words = load_lexicon()
    numbers = rng.sample(range(len(message.mentions)), len(message.mentions))
    for number in numbers:
        mention = message.mentions[number]
        parent = words.concepts[mention.thing.concept].parent
        siblings = {name for name, c in words.concepts.items() if c.parent == parent}
        pool = _kind_names() if mention.thing.concept in _kind_names() else _category_names()
        for concept in _shuffled(pool, siblings.__contains__, rng):
            if _can_stand_for(message, number, concept):
                yield with_mention(message, number, renamed(mention, concept))


def _can_stand_for(message: Message, number: int, concept: str) -> bool:
    """Return whether a concept can take the place of a mention.

    It names none of the things, can do the same and be in the same place, and takes the number and
    the size.
    """
    words, mention = load_lexicon(), message.mentions[number]
    overlaps = any(
        words.is_a(one, other) or words.is_a(other, one)
        for one, other in ((concept, named.thing.concept) for named in message.mentions)
    )
    countable = mention.thing.count == 1 or not words.concepts[concept].mass
    has_size = not mention.size or not words.wears_colour(concept)
    return (
        not overlaps
        and countable
        and has_size
        and _parts(message, number) <= _possible_parts(concept)
        and _can_be_there(message, concept)
    )


def _parts(message: Message, number: int) -> set[tuple[str, str]]:
    """Return the (action, role) of a mention."""
    link = message.link
    if not link:
        return set()
    if number == link.object:
        return {(link.action, "object")}
    return {(link.action, "subject")} | (
        {(message.posture, "subject")} if message.posture else set()
    )


def _can_be_there(message: Message, concept: str) -> bool:
    """Return whether a phrase of place suits a concept; if a verb does, it does as well."""
    link = message.link
    if message.place not in load_lexicon().settings or (
        link and not load_lexicon().actions[link.action].relation
    ):
        return True
    sort = _sort_of_place(message)
    return (sort == "ground" and link is not None) or sort in _media(concept)


def _actions(message: Message, rng: Random) -> Iterator[Message]:
    """Change the action, the relation, or the verb that introduces a relation."""
    link, actions = message.link, load_lexicon().actions
    if link is None:
        return
    old = actions[link.action]
    for name in rng.sample([*actions], len(actions)):
        new, able = actions[name], _possible_parts(message.mentions[link.subject].thing.concept)
        changed = None
        if (name, "subject") not in able or name in UNDECIDABLE:
            continue
        if message.posture and new.posture:
            changed = replace(message, posture=name)
        elif _has_same_form(old, new) and _may_say(message, new) and _affords(message, new):
            changed = replace(message, link=replace(link, action=name), wording=0)
        if changed and (placed := _with_suitable_place(changed, rng)):
            yield placed


def _may_say(message: Message, action: Action) -> bool:
    """Return whether the form of a message allows an action."""
    has_passive = action.passive and not action.wordings[0].preposition
    return (has_passive or not message.passive) and bool(message.place or not action.needs_place)


def _has_same_form(one: Action, other: Action) -> bool:
    """Return whether two actions have the same sentences."""
    if one.verbless or other.verbless:
        return False
    return (one.relation, one.takes_object) == (other.relation, other.takes_object)


def _affords(message: Message, action: Action) -> bool:
    """Return whether an action can be done to the object of a message, if it has one."""
    link = message.link
    if not link or link.object is None:
        return True
    return (action.name, "object") in _possible_parts(message.mentions[link.object].thing.concept)


def _roles(message: Message, rng: Random) -> Iterator[Message]:
    """Exchange subject and object; "a girl with a kite" would mean the same."""
    exchanged = with_roles_exchanged(message)
    if (
        not exchanged
        or not exchanged.link
        or load_lexicon().actions[exchanged.link.action].verbless
    ):
        return
    subject = exchanged.mentions[exchanged.link.subject].thing.concept
    if not message.posture or (message.posture, "subject") in _possible_parts(subject):
        yield exchanged


def _places(message: Message, rng: Random) -> Iterator[Message]:
    """Change the setting to one with a phrase of the same sort, or the side to the other."""
    words, old = load_lexicon(), message.place
    places = [*words.sides] if old in words.sides else []
    sort = ""
    if old in words.settings:
        sort = _sort_of_place(message)
        places = _shuffled(words.settings, _homes(message).__contains__, rng)
    for place in places:
        phrases = words.sides.get(place) or _phrases(place, sort)
        if place != old and phrases and _agree(replace(message, place=place)):
            yield _stating(message, "place", place, rng.choice(phrases))


def _homes(message: Message) -> set[str]:
    """Return the settings where all kinds of a message live."""
    words = load_lexicon()
    homes = set(words.settings)
    for mention in message.mentions:
        if kinds := _kinds_called(mention.thing.concept):
            homes &= {setting for kind in kinds for setting in words.kinds[kind].settings}
    return homes


def _times(message: Message, rng: Random) -> Iterator[Message]:
    """Change the time, or name one."""
    times = load_lexicon().times
    for name in rng.sample([*times], len(times)):
        if times[name].phrases and _can_date(message) and _agree(replace(message, time=name)):
            yield _stating(message, "time", name, rng.choice(times[name].phrases))


def _weathers(message: Message, rng: Random) -> Iterator[Message]:
    """Change the weather, or name one."""
    weathers = load_lexicon().weathers
    for name in rng.sample([*weathers], len(weathers)):
        if _can_date(message) and _agree(replace(message, weather=name)):
            yield _stating(message, "weather", name, rng.choice(weathers[name].phrases))


_CHANGES: Mapping[str, Callable[[Message, Random], Iterator[Message]]] = {
    "colour": _colours,
    "count": _counts,
    "size": _sizes,
    "kind": _kinds,
    "action": _actions,
    "roles": _roles,
    "place": _places,
    "time": _times,
    "weather": _weathers,
}
RESPECTS = tuple(_CHANGES)


def _named_mentions(message: Message, rng: Random) -> Iterator[tuple[int, Mention]]:
    """Yield the mentions with a noun and their numbers, in random order."""
    concepts = load_lexicon().concepts
    for number in rng.sample(range(len(message.mentions)), len(message.mentions)):
        mention = message.mentions[number]
        if mention.noun != concepts[mention.thing.concept].pronoun:
            yield number, mention


def _shuffled(items: Iterable[Item], is_likely: Callable[[Item], bool], rng: Random) -> list[Item]:
    """Return items in random order, the likely ones mostly first."""
    result = list(items)
    rng.shuffle(result)
    if rng.random() < LIKELY:
        result.sort(key=is_likely, reverse=True)
    return result


def _is_clear(message: Message) -> bool:
    """Return whether a sentence is read as it is meant.

    Not so "the dog is next to the dog", and "a boy in white jumps", which reads as white jumps.
    """
    words = load_lexicon()
    descriptions = [(m.size, m.thing.colour, m.noun) for m in message.mentions]
    if message.definite and len(set(descriptions)) < len(descriptions):
        return False
    if message.form != "simple" or not message.link:
        return True
    link = message.link
    first = link.object if message.passive and link.object is not None else link.subject
    thing = message.mentions[first].thing
    return not (thing.colour and words.wears_colour(thing.concept))


def _held_out_pairs(facts: Facts) -> set[tuple[str, str]]:
    """Return the concepts with a colour or an action that only compositional pictures show."""
    result = set()
    for thing in facts.things:
        for kind in _kinds_called(thing.concept):
            if thing.colour and colour_held_out(kind, thing.colour):
                result.add((kind, thing.colour))
    for link in closure(facts.links):
        for kind in _kinds_called(facts.things[link.subject].concept):
            if action_held_out(kind, link.action):
                result.add((kind, link.action))
    return result


@cache
def _kinds_called(concept: str) -> tuple[str, ...]:
    """Return the kinds that are called by the noun of a concept; a category has none."""
    words = load_lexicon()
    return tuple(kind for kind in words.kinds if words.named_concept(kind) == concept)


@cache
def _kind_names() -> tuple[str, ...]:
    """Return the concepts that kinds are called by."""
    words = load_lexicon()
    return tuple(dict.fromkeys(map(words.named_concept, words.kinds)))


@cache
def _category_names() -> tuple[str, ...]:
    """Return the other concepts with a noun."""
    concepts = load_lexicon().concepts
    return tuple(name for name in concepts if concepts[name].nouns and not _kinds_called(name))


@cache
def _kinds_below(concept: str) -> tuple[str, ...]:
    words = load_lexicon()
    return tuple(kind for kind in words.kinds if words.is_a(kind, concept))


@cache
def _possible_parts(concept: str) -> frozenset[tuple[str, str]]:
    """Return every (action, role) that a thing of a concept can be drawn in, also entailed ones."""
    actions, result = load_lexicon().actions, set()
    for action, role in {part for kind in _kinds_below(concept) for part in uses(kind)}:
        whole = Link(action, 0, 1 if actions[action].takes_object else None)
        own = 0 if role == "subject" else 1
        for link in closure([whole]):
            result |= {(link.action, "subject")} if link.subject == own else set()
            result |= {(link.action, "object")} if link.object == own else set()
    return frozenset(result)


@cache
def _media(concept: str) -> frozenset[str]:
    """Return where things of a concept can be; those on the ground can be along it."""
    kinds = load_lexicon().kinds
    media = {medium(pose) for kind in _kinds_below(concept) for pose in kinds[kind].poses}
    return frozenset(media | ({"along"} if "ground" in media else set()))


def _phrases(setting: str, sort: str) -> tuple[str, ...]:
    """Return the phrases of a setting of one sort; without a path, a thing moves by it."""
    entry = load_lexicon().settings[setting]
    phrases: tuple[str, ...] = getattr(entry, sort)
    return phrases or (entry.ground if sort == "along" else ())


def _sort_of_place(message: Message) -> str:
    """Return the sort of the phrase for a message's setting, one of SORTS."""
    setting, phrase = load_lexicon().settings[message.place or ""], message.adverbials[0]
    return next(sort for sort in SORTS if phrase in getattr(setting, sort))


def _with_suitable_place(message: Message, rng: Random) -> Message | None:
    """Return a message with a phrase of place that suits its action; None if there is none.

    A dog runs, but does not lie, along the beach.
    """
    words, link, place = load_lexicon(), message.link, message.place
    if not link or place is None or place in words.sides:
        return message
    action = words.actions[message.posture or link.action]
    suitable = ["ground", "air", "water", "surface"]
    if not action.takes_object:
        suitable = list(dict.fromkeys(medium(pose) for pose in action.poses))
    if action.moves and "ground" in suitable:
        suitable.append("along")
    if _sort_of_place(message) in suitable:
        return message
    choices = [phrase for sort in suitable for phrase in _phrases(place, sort)]
    return _stating(message, "place", place, rng.choice(choices)) if choices else None


def _stating(message: Message, field: str, name: str, phrase: str) -> Message:
    """Return a message with another place, weather or time, which it may not have stated before."""
    order = ("place", "weather", "time")
    stated = {each: getattr(message, each) for each in order if getattr(message, each)}
    phrases = dict(zip(stated, message.adverbials, strict=True)) | {field: phrase}
    stated[field] = name
    return replace(
        message,
        place=stated.get("place"),
        weather=stated.get("weather"),
        time=stated.get("time"),
        adverbials=tuple(phrases[each] for each in order if each in phrases),
    )


def _can_date(message: Message) -> bool:
    """Return whether weather or time can follow, and it is clear what these belong to."""
    link = message.link
    if message.adverbials or not link or message.posture or message.form == "existential":
        return True
    return not load_lexicon().actions[link.action].relation


def _agree(message: Message) -> bool:
    """Return whether place, weather and time go together in a caption."""
    words = load_lexicon()
    indoors = ("indoors", *words.setting_groups["indoors"])
    if message.place in indoors:
        return not message.weather and (not message.time or words.times[message.time].indoors)
    if not message.weather:
        return True
    weather = words.weathers[message.weather]
    at_its_time = not message.time or message.time in weather.times
    return at_its_time and (not message.place or message.place != weather.unless)
