"""Scenes from numbers: what there is, what it does, and where; the same number, the same scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from random import Random
from zlib import crc32

from vsdemo.data.storybook import capacity, plausibility
from vsdemo.data.storybook.canvas import Stage
from vsdemo.data.storybook.drawing import Figure, compose, png
from vsdemo.data.storybook.facts import closure, facts_of
from vsdemo.data.storybook.layouts import LAYOUTS, alone
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.lexicon_entries import Kind
from vsdemo.data.storybook.relations import seen_relations
from vsdemo.data.storybook.scene import Group, Link, Scene
from vsdemo.data.storybook.sprites import Actor, Sprite

SURPRISING = 0.07  # tried; half of them find room, so about 4% of scenes have a stranger in them
HELD_OUT = 0.12  # share of pairs of a kind with a colour or an action that training never sees
COUNTS = (1, 1, 1, 1, 1, 2, 2, 3, 4)
EXTRAS = (0, 1, 1, 2, 2, 3)
COMMON = ("yellow", "white", "green", "brown")  # colours that many kinds have anyway
TIMES = ("day",) * 4 + ("morning", "morning", "sunset", "sunset", "night")
WEATHERS = ("sunny",) * 5 + ("cloudy", "cloudy", "rain", "snowfall", "fog")
COLD = ("snow", "mountains", "forest", "street", "park", "farm", "field")  # where snow falls
DRY = ("desert", "snow")  # where rain does not


@dataclass(frozen=True)
class Picture:
    """A scene and where its things are drawn."""

    scene: Scene
    figures: tuple[Figure, ...]

    def png(self) -> bytes:
        """480 x 360 pixels."""
        scene = self.scene
        return png(compose(scene.setting, scene.time, scene.weather, self.figures))


@dataclass(frozen=True)
class Plan:
    """What a scene is about: an action, its groups and their poses, where and when."""

    action: str | None
    actors: tuple[Actor, ...]
    poses: tuple[str, ...]
    setting: str
    surprising: bool


def generate_picture(number: int, compositional: bool = False) -> Picture:
    """The picture of a number, the same each time. It joins no kind with a colour or an action
    that is held out; a compositional one always does."""
    for attempt in count():
        found = _attempt(Random(f"{number}/{attempt}"), number)
        if found and held_out(found.scene) == compositional:
            return found
    raise AssertionError  # count() does not end


def held_out(scene: Scene) -> bool:
    """Whether a scene joins a kind with a colour, or with an action, that training never sees."""
    links = closure(facts_of(scene).links)
    return any(colour_held_out(g.kind, g.colour) for g in scene.groups) or any(
        _action_held_out(scene.groups[link.subject].kind, link.action) for link in links
    )


@cache
def colour_held_out(kind: str, colour: str) -> bool:
    """Whether training never sees a kind in this colour."""
    found = load_lexicon().kinds[kind]
    return colour in (*found.colours[1:], *found.also) and _chosen(kind, colour)


@cache
def _action_held_out(kind: str, action: str) -> bool:
    words = load_lexicon()
    subjects = [name for name in words.kinds if plausibility.partners(action, "subject", name)]
    found = words.actions[action]
    known = found.takes_object and not found.relation and len(subjects) > 5
    return known and _chosen(kind, action)


def _chosen(kind: str, other: str) -> bool:
    return crc32(f"{kind} {other}".encode()) < HELD_OUT * 2**32


def _attempt(rng: Random, number: int) -> Picture | None:
    """A scene where all its main things find room."""
    plan = _plan(rng)
    if plan is None:
        return None
    outdoors = load_lexicon().side(plan.setting) == "outdoors"
    time = rng.choice(TIMES) if outdoors else rng.choice(("morning", "day", "day", "night"))
    weather = _weather(plan.setting, time, rng) if outdoors else "sunny"
    stage = Stage(plan.setting, rng, outdoors and weather == "sunny" and time != "sunset")
    stage.main = set(range(len(plan.actors)))
    if not stage.place(_sprites(plan, rng), mirror=plan.action not in ("left_of", "right_of")):
        return None
    actors, poses = list(plan.actors), list(plan.poses)
    for _ in range(rng.choice(EXTRAS)):
        _add(stage, actors, poses, rng)
    groups = tuple(_group(a, p, stage.figures) for a, p in zip(actors, poses, strict=True))
    links = _main_link(plan) + seen_relations(groups, poses, len(plan.actors), rng)
    scene = Scene(number, plan.setting, time, weather, groups, links, plan.surprising)
    return Picture(scene, tuple(stage.figures))


def _plan(rng: Random) -> Plan | None:
    """A kind, an action that it takes part in, a partner, poses and a setting that suit them."""
    kinds = load_lexicon().kinds
    if rng.random() < 0.5:
        action, role = rng.choice(plausibility.actions()), "subject"
        focus = rng.choice([k for k in kinds if plausibility.partners(action, role, k)])
    else:
        focus = rng.choice(list(kinds))
        uses = plausibility.uses(focus)
        weights = [0.3 if load_lexicon().actions[action].relation else 1.0 for action, _ in uses]
        action, role = rng.choices(uses, weights)[0]
    partner = rng.choice(plausibility.partners(action, role, focus))
    names = [n for n in ((focus, partner) if role == "subject" else (partner, focus)) if n]
    cast = [kinds[n] for n in names]
    options = plausibility.poses(action, *cast)
    if not options:
        return None
    poses = rng.choice(options)
    surprising = rng.random() < SURPRISING
    settings = capacity.settings(cast, poses, surprising)
    if not settings:
        return None
    setting = rng.choice(settings)
    counts = capacity.counts(action, cast, [rng.choice(COUNTS) for _ in cast])
    actors = tuple(_actor(i, cast[i], counts[i], setting, rng) for i in range(len(cast)))
    if not capacity.fits(action, actors, poses):
        return None
    return Plan(action, actors, poses, setting, surprising)


def _actor(group: int, kind: Kind, n: int, setting: str, rng: Random) -> Actor:
    colours = [*kind.colours, *kind.also]
    if setting == "snow" and len(colours) > 1 and "white" in colours:
        colours.remove("white")
    words = load_lexicon()
    sized = not words.is_a(kind.name, "person") and 0.4 < kind.height < 3
    size = rng.choice(list(words.sizes)) if sized and rng.random() < 0.25 else None
    factor = words.sizes[size].factor if size else 1.0
    colour = rng.choices(colours, [1 if c in COMMON else 2 for c in colours])[0]
    return Actor(group, kind, n, colour, factor)


def _weather(setting: str, time: str, rng: Random) -> str:
    weather = rng.choice(WEATHERS)
    odd = (
        (weather == "snowfall" and setting not in COLD)
        or (weather == "rain" and setting in DRY)
        or (weather in ("fog", "cloudy") and time == "night")  # one would see little
    )
    return "sunny" if odd else weather


def _sprites(plan: Plan, rng: Random) -> list[Sprite]:
    subject, *rest = plan.actors
    if rest:
        return LAYOUTS[plan.action or ""](subject, plan.poses[0], rest[0], plan.poses[1], rng)
    moves = plan.action is not None and load_lexicon().actions[plan.action].moves
    return alone(subject, plan.poses[0], rng, moves)


def _add(stage: Stage, actors: list[Actor], poses: list[str], rng: Random) -> None:
    """One more group that goes with the setting, where there is room for it."""
    taken = {a.kind.name for a in actors}
    kinds = [
        k for k in load_lexicon().kinds.values() if stage.setting in k.lives and k.name not in taken
    ]
    kind = rng.choice(kinds)
    options = [
        p
        for p in plausibility.alone(kind)
        if stage.setting in capacity.settings([kind], [p], False)
    ]
    if not options:
        return
    pose = rng.choice(options)
    actor = _actor(
        len(actors), kind, min(rng.choice(COUNTS), capacity.most(kind)), stage.setting, rng
    )
    if stage.place(alone(actor, pose, rng, moves=pose in ("run", "walk", "crawl"))):
        actors.append(actor)
        poses.append(pose)


def _group(actor: Actor, pose: str, figures: Sequence[Figure]) -> Group:
    sizes = {s.factor: name for name, s in load_lexicon().sizes.items()}
    boxes = tuple(f.box for f in figures if f.group == actor.group)
    return Group(actor.kind.name, len(boxes), actor.colour, sizes.get(actor.factor), pose, boxes)


def _main_link(plan: Plan) -> tuple[Link, ...]:
    if plan.action is None:
        return ()
    return (Link(plan.action, 0, 1 if len(plan.actors) > 1 else None),)
