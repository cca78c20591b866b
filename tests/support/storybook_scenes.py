"""Scenes as they may be, without their drawings: each group somewhere, each action possible."""

from random import Random

from hypothesis import strategies as st

from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.scene import Group, Link, Scene

BOX = (0.0, 0.0, 1.0, 1.0)
WORDS = load_lexicon()
SIDES = ("left_of", "right_of", "behind", "in_front_of", "next_to")


def group(kind: str, count: int = 1, colour: str = "", size: str | None = None, pose: str = ""):
    """A group; colour and pose are the kind's usual ones where they are not given."""
    found = WORDS.kinds[kind]
    colour, pose = colour or found.colours[0], pose or found.poses[0]
    return Group(kind, count, colour, size, pose, (BOX,) * count)


def scene(*groups: Group, links: tuple[Link, ...] = (), **where: str) -> Scene:
    """A scene on the beach on a sunny day, where nothing else is said."""
    place = {"setting": "beach", "time": "day", "weather": "sunny"} | where
    return Scene(0, **place, groups=groups, links=links)


def random_scene(seed: int) -> Scene:
    """A main action or none, and often another thing beside it."""
    rng = Random(seed)
    setting = rng.choice(list(WORDS.settings))
    kinds = [name for name, kind in WORDS.kinds.items() if setting in kind.settings]
    action = WORDS.actions[rng.choice(list(WORDS.actions))]
    pairs = [(a, b) for a in kinds for b in (kinds if action.takes_object else [None])]
    pairs = [(a, b) for a, b in pairs if WORDS.allows(action.name, a, b)]
    names, links = (rng.choice(kinds),), []
    if pairs:
        names = tuple(name for name in rng.choice(pairs) if name)
        links.append(Link(action.name, 0, 1 if len(names) == 2 else None))
    groups = [_random_group(rng, name) for name in names]
    if pairs and action.poses:
        fitting = [p for p in action.poses if p in WORDS.kinds[names[0]].poses]
        groups[0] = group(*_looks(groups[0]), rng.choice(fitting))
    if rng.random() < 0.5:
        groups.append(_random_group(rng, rng.choice(kinds)))
        links.append(Link(rng.choice(SIDES), 0, len(groups) - 1))
    time, weather = rng.choice(list(WORDS.times)), rng.choice(list(WORDS.weathers))
    return Scene(seed, setting, time, weather, tuple(groups), tuple(links))


def _looks(found: Group) -> tuple:
    return found.kind, found.count, found.colour, found.size


def _random_group(rng: Random, name: str) -> Group:
    kind = WORDS.kinds[name]
    size = None if WORDS.wears_colour(name) else rng.choice([None, None, *WORDS.sizes])
    poses = [p for p in kind.poses if p not in ("ride", "hold")]
    return group(
        name, rng.choice((1, 1, 2, 3, 4)), rng.choice(kind.colours), size, rng.choice(poses)
    )


scenes = st.integers(0, 10**6).map(random_scene)
