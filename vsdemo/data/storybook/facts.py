"""What a sentence or a whole scene says, as facts, and whether one says all that another says."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations

from vsdemo.core.errors import UserError
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.scene import Link, Scene


@dataclass(frozen=True)
class Thing:
    """At least `count` things that are alike.

    what: a concept of the lexicon. colour, size: None where nothing is said of it.
    """

    what: str
    count: int = 1
    colour: str | None = None
    size: str | None = None


@dataclass(frozen=True)
class Facts:
    """things: no two of them the same. links: between things, by their numbers. place: a setting,
    `outdoors` or `indoors`. None where nothing is said of it."""

    things: tuple[Thing, ...]
    links: tuple[Link, ...] = ()
    place: str | None = None
    time: str | None = None
    weather: str | None = None


def facts_of(scene: Scene) -> Facts:
    """All that is true of a scene, what its poses show included.

    Raises UserError for names that the lexicon does not know, counts that it has no word for, and
    links of groups that are not there.
    """
    words = load_lexicon()
    told = [
        *((g.kind, words.kinds) for g in scene.groups),
        *((g.colour, words.colours) for g in scene.groups),
        *((g.size, words.sizes) for g in scene.groups if g.size is not None),
        *((link.action, words.actions) for link in scene.links),
        *((scene.setting, words.settings), (scene.time, words.times)),
        (scene.weather, words.weathers),
    ]
    if unknown := [name for name, table in told if name not in table]:
        raise UserError(f"Scene {scene.number}: the lexicon does not know {unknown[0]!r}.")
    numbers = {n for link in scene.links for n in (link.subject, link.object) if n is not None}
    if wrong := numbers - set(range(len(scene.groups))):
        raise UserError(
            f"Scene {scene.number}: a link names group {min(wrong)}, which is not there."
        )
    if wrong_count := [g.count for g in scene.groups if not 1 <= g.count <= len(words.counts)]:
        raise UserError(f"Scene {scene.number}: a group cannot have {wrong_count[0]} things.")
    things = tuple(Thing(g.kind, g.count, g.colour, g.size) for g in scene.groups)
    seen = (
        Link(posture, number)
        for number, group in enumerate(scene.groups)
        if (posture := words.posture(group.kind, group.pose))
    )
    return Facts(things, (*scene.links, *seen), scene.setting, scene.time, scene.weather)


def entails(specific: Facts, general: Facts) -> bool:
    """Whether all that `general` says follows from `specific`: each of its things is found among
    the other's, no two in the same place, with at least its count, its colour and size, in links
    that are the same or entail its own; and place, time and weather agree."""
    if not _scenery(specific, general):
        return False
    known = closure(specific.links)
    for numbers in permutations(range(len(specific.things)), len(general.things)):
        pairs = zip((specific.things[n] for n in numbers), general.things, strict=True)
        if all(_same(one, other) for one, other in pairs) and known.issuperset(
            Link(
                link.action,
                numbers[link.subject],
                None if link.object is None else numbers[link.object],
            )
            for link in general.links
        ):
            return True
    return False


def _scenery(specific: Facts, general: Facts) -> bool:
    places = {specific.place, None}
    if specific.place in load_lexicon().settings:
        places.add(load_lexicon().side(specific.place or ""))
    return (
        general.place in places
        and general.time in (specific.time, None)
        and general.weather in (specific.weather, None)
    )


def _same(specific: Thing, general: Thing) -> bool:
    words = load_lexicon()
    alike = words.spoken(specific.what) == words.spoken(general.what)  # a small elephant is no
    sized = general.size is None or (alike and general.size == specific.size)  # small animal
    return (
        words.is_a(specific.what, general.what)
        and specific.count >= general.count
        and general.colour in (specific.colour, None)
        and sized
    )


def closure(links: Iterable[Link]) -> set[Link]:
    """The links and all that they entail, turned round too where an action has an inverse."""
    found: set[Link] = set()
    todo = list(links)
    while todo:
        link = todo.pop()
        if link in found:
            continue
        found.add(link)
        action = load_lexicon().actions[link.action]
        if action.inverse and link.object is not None:
            todo.append(Link(action.inverse, link.object, link.subject))
        for name, roles in action.entails:
            groups = [link.subject if role == "subject" else link.object for role in roles]
            todo.append(Link(name, *groups))
    return found
