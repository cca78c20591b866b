"""Random scenes that the lexicon allows, without drawings."""

from random import Random

from hypothesis import strategies as st

from vsdemo.data.storybook.facts import Facts
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.lexicon_entries import Setting, Time, Weather
from vsdemo.data.storybook.pictures import action_held_out, colour_held_out
from vsdemo.data.storybook.scene import Group, Link, Scene

BOX = (0.0, 0.0, 1.0, 1.0)
WORDS = load_lexicon()
SIDES = ("left_of", "right_of", "behind", "in_front_of", "next_to")


def group(kind: str, count: int = 1, colour: str = "", size: str | None = None, pose: str = ""):
    """Return a group; by default with the usual colour and pose of its kind."""
    entry = WORDS.kinds[kind]
    return Group(
        kind=kind,
        count=count,
        colour=colour or entry.colours[0],
        size=size,
        pose=pose or entry.poses[0],
        boxes=(BOX,) * count,
    )


def scene(
    *groups: Group,
    links: tuple[Link, ...] = (),
    setting: str = "beach",
    time: str = "day",
    weather: str = "sunny",
) -> Scene:
    """Return a scene, by default on the beach on a sunny day."""
    return Scene(number=0, setting=setting, time=time, weather=weather, groups=groups, links=links)


def random_scene(seed: int) -> Scene:
    """Return a scene with one action or none, and often another thing beside it."""
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
        first = groups[0]
        groups[0] = group(first.kind, first.count, first.colour, first.size, rng.choice(fitting))
    if rng.random() < 0.5:
        groups.append(_random_group(rng, rng.choice(kinds)))
        links.append(Link(rng.choice(SIDES), 0, len(groups) - 1))
    return Scene(
        number=seed,
        setting=setting,
        time=rng.choice(list(WORDS.times)),
        weather=rng.choice(list(WORDS.weathers)),
        groups=tuple(groups),
        links=tuple(links),
    )


def _random_group(rng: Random, name: str) -> Group:
    kind = WORDS.kinds[name]
    size = None if WORDS.wears_colour(name) else rng.choice([None, None, *WORDS.sizes])
    poses = [pose for pose in kind.poses if pose not in ("ride", "hold")]
    count = rng.choice((1, 1, 2, 3, 4))
    return group(name, count, rng.choice(kind.colours), size, rng.choice(poses))


def phrases_of(entry: Setting | Time | Weather) -> list[str]:
    """Return all phrases of a setting, time or weather."""
    fields = ("ground", "air", "water", "surface", "along", "phrases")
    return [phrase for field in fields for phrase in getattr(entry, field, ())]


def joins_held_out_pair(facts: Facts) -> bool:
    """Return whether facts join a kind with a colour or an action that is held out of training."""
    coloured = [(thing.concept, thing.colour) for thing in facts.things if thing.colour]
    acting = [(facts.things[link.subject].concept, link.action) for link in facts.links]
    return any(kind in WORDS.kinds and colour_held_out(kind, c) for kind, c in coloured) or any(
        kind in WORDS.kinds and action_held_out(kind, action) for kind, action in acting
    )


scenes = st.integers(0, 10**6).map(random_scene)
