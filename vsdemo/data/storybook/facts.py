"""Facts of a sentence or a scene, and entailment between them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from vsdemo.core.errors import UserError
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.scene import Link, Scene


@dataclass(frozen=True)
class Thing:
    """At least `count` things that are alike.

    Args:
        concept: Name of a concept in the lexicon.
        count: The least number of things.
        colour: Name of a colour; None if unknown.
        size: Name of a size; None if unknown.
    """

    concept: str
    count: int = 1
    colour: str | None = None
    size: str | None = None


@dataclass(frozen=True)
class Facts:
    """What is known about a picture. None means unknown.

    Args:
        things: The things, all different.
        links: Links between things, by their indices.
        place: A setting, or `outdoors` or `indoors`.
        time: Name of a time.
        weather: Name of a weather.
    """

    things: tuple[Thing, ...]
    links: tuple[Link, ...] = ()
    place: str | None = None
    time: str | None = None
    weather: str | None = None


def facts_of(scene: Scene) -> Facts:
    """Return all that is true of a scene, including what the poses show.

    Raises:
        UserError: If a name is not in the lexicon, a count has no word, or a link names a group
            that does not exist.
    """
    _check(scene)
    lexicon = load_lexicon()
    things = tuple(Thing(g.kind, g.count, g.colour, g.size) for g in scene.groups)
    links = list(scene.links)
    for number, group in enumerate(scene.groups):
        posture = lexicon.posture(group.kind, group.pose)
        if posture:
            links.append(Link(posture, number))
    return Facts(
        things=things,
        links=tuple(links),
        place=scene.setting,
        time=scene.time,
        weather=scene.weather,
    )


def _check(scene: Scene) -> None:
    """Raise UserError as `facts_of` does."""
    lexicon = load_lexicon()
    names: list[tuple[str, Container[str]]] = []
    names += [(group.kind, lexicon.kinds) for group in scene.groups]
    names += [(group.colour, lexicon.colours) for group in scene.groups]
    names += [(group.size, lexicon.sizes) for group in scene.groups if group.size is not None]
    names += [(link.action, lexicon.actions) for link in scene.links]
    names.append((scene.setting, lexicon.settings))
    names.append((scene.time, lexicon.times))
    names.append((scene.weather, lexicon.weathers))
    for name, table in names:
        if name not in table:
            raise UserError(f"Scene {scene.number}: the lexicon does not have {name!r}.")
    used = {n for link in scene.links for n in (link.subject, link.object) if n is not None}
    missing = used - set(range(len(scene.groups)))
    if missing:
        raise UserError(
            f"Scene {scene.number}: a link names group {min(missing)}, which does not exist."
        )
    for group in scene.groups:
        if not 1 <= group.count <= len(lexicon.counts):
            raise UserError(f"Scene {scene.number}: a group cannot have {group.count} things.")


def entails(specific: Facts, general: Facts) -> bool:
    """Return whether `general` follows from `specific`.

    Each thing of `general` must be a different thing of `specific` with at least its count, its
    colour and its size. Links must be equal or entailed, and place, time and weather agree.
    """
    if not _circumstances_agree(specific, general):
        return False
    candidates = [
        [n for n, known in enumerate(specific.things) if _thing_entails(known, thing)]
        for thing in general.things
    ]
    known = closure(specific.links) if general.links else set()
    return any(
        len(set(numbers)) == len(numbers) and _links_between(numbers, general.links) <= known
        for numbers in product(*candidates)
    )


def _links_between(numbers: Sequence[int], links: Iterable[Link]) -> set[Link]:
    """Return links with other numbers for their things."""
    return {
        Link(
            action=link.action,
            subject=numbers[link.subject],
            object=None if link.object is None else numbers[link.object],
        )
        for link in links
    }


def _circumstances_agree(specific: Facts, general: Facts) -> bool:
    lexicon = load_lexicon()
    places = {specific.place, None}
    if specific.place in lexicon.settings:
        places.add(lexicon.side(specific.place or ""))
    return (
        general.place in places
        and general.time in (specific.time, None)
        and general.weather in (specific.weather, None)
    )


def _thing_entails(specific: Thing, general: Thing) -> bool:
    lexicon = load_lexicon()
    # A small elephant is not a small animal, so sizes compare within one concept only.
    same_concept = lexicon.named_concept(specific.concept) == lexicon.named_concept(general.concept)
    size_agrees = general.size is None or (same_concept and general.size == specific.size)
    return (
        lexicon.is_a(specific.concept, general.concept)
        and specific.count >= general.count
        and general.colour in (specific.colour, None)
        and size_agrees
    )


def closure(links: Iterable[Link]) -> set[Link]:
    """Return the links with all that they entail, and the inverse of each that has one."""
    result: set[Link] = set()
    pending = list(links)
    while pending:
        link = pending.pop()
        if link in result:
            continue
        result.add(link)
        action = load_lexicon().actions[link.action]
        if action.inverse and link.object is not None:
            pending.append(Link(action.inverse, link.object, link.subject))
        groups = {"subject": link.subject, "object": link.object}
        for name, roles in action.entails:
            subject = groups[roles[0]]
            if subject is not None:
                object = groups[roles[1]] if len(roles) > 1 else None
                pending.append(Link(name, subject, object))
    return result
