"""Generate scenes and their pictures from numbers; the same number gives the same scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from random import Random
from zlib import crc32

from vsdemo.data.storybook import capacity, plausibility
from vsdemo.data.storybook.canvas import Canvas
from vsdemo.data.storybook.drawing import PlacedPart, render_png, render_svg
from vsdemo.data.storybook.facts import closure, facts_of
from vsdemo.data.storybook.layouts import LAYOUTS, Role, alone
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.lexicon_entries import Kind
from vsdemo.data.storybook.relations import visible_relations
from vsdemo.data.storybook.scene import Group, Link, Scene
from vsdemo.data.storybook.sprites import Actor, Sprite

SURPRISING = 0.07  # of the attempts; half of them find room, so about 4% of the scenes
HELD_OUT = 0.12  # share of pairs of a kind with a colour or an action that are held out of train
COUNTS = (1, 1, 1, 1, 1, 2, 2, 3, 4)
EXTRA_GROUPS = (0, 1, 1, 2, 2, 3)
COMMON_COLOURS = ("yellow", "white", "green", "brown")  # many kinds have them by nature
TIMES = ("day",) * 4 + ("morning", "morning", "sunset", "sunset", "night")
TIMES_INDOORS = ("morning", "day", "day", "night")
WEATHERS = ("sunny",) * 5 + ("cloudy", "cloudy", "rain", "snowfall", "fog")
SNOWY = ("snow", "mountains", "forest", "street", "park", "farm", "field")
RAINLESS = ("desert", "snow")


@dataclass(frozen=True)
class Picture:
    """A scene and the places of its things."""

    scene: Scene
    parts: tuple[PlacedPart, ...]

    def svg(self) -> str:
        """Return the picture as SVG."""
        scene = self.scene
        return render_svg(scene.setting, scene.time, scene.weather, self.parts)

    def png(self) -> bytes:
        """Return the picture as a PNG of 480 x 360 pixels."""
        return render_png(self.svg())


@dataclass(frozen=True)
class _Plan:
    """The topic of a scene: an action, its groups and their poses, and the setting."""

    action: str
    actors: tuple[Actor, ...]
    poses: tuple[str, ...]
    setting: str
    surprising: bool

    @property
    def roles(self) -> list[Role]:
        pairs = zip(self.actors, self.poses, strict=True)
        return [Role(actor, pose) for actor, pose in pairs]


def generate_picture(number: int, *, compositional: bool = False) -> Picture:
    """Return the picture of a number.

    A compositional picture combines a kind with a colour or an action that is held out of all other
    pictures.
    """
    for attempt in count():
        picture = _attempt(Random(f"{number}/{attempt}"), number)
        if picture and is_held_out(picture.scene) == compositional:
            return picture
    raise AssertionError  # count() does not end


def is_held_out(scene: Scene) -> bool:
    """Return whether a scene combines a kind with a colour or an action that is held out."""
    links = closure(facts_of(scene).links)
    return any(colour_held_out(group.kind, group.colour) for group in scene.groups) or any(
        action_held_out(scene.groups[link.subject].kind, link.action) for link in links
    )


@cache
def colour_held_out(kind: str, colour: str) -> bool:
    """Return whether a kind in this colour is held out."""
    entry = load_lexicon().kinds[kind]
    return colour in (*entry.colours[1:], *entry.extra_colours) and _in_sample(kind, colour)


@cache
def action_held_out(kind: str, action: str) -> bool:
    """Return whether an action of a kind is held out; only actions of many kinds are."""
    lexicon = load_lexicon()
    entry = lexicon.actions[action]
    if not entry.takes_object or entry.relation:
        return False
    subjects = [name for name in lexicon.kinds if plausibility.partners(action, "subject", name)]
    return len(subjects) > 5 and _in_sample(kind, action)


def _in_sample(kind: str, other: str) -> bool:
    """Return whether the hash of a pair falls into the share that is held out."""
    return crc32(f"{kind} {other}".encode()) < HELD_OUT * 2**32


def _attempt(rng: Random, number: int) -> Picture | None:
    """Return a picture, or None if the groups of its topic do not fit."""
    plan = _plan(rng)
    if plan is None:
        return None
    outdoors = load_lexicon().side(plan.setting) == "outdoors"
    time = rng.choice(TIMES if outdoors else TIMES_INDOORS)
    weather = _weather(plan.setting, time, rng) if outdoors else "sunny"
    canvas = Canvas(
        setting=plan.setting,
        rng=rng,
        has_sun=outdoors and weather == "sunny" and time != "sunset",
        main=frozenset(range(len(plan.actors))),
    )
    mirror = plan.action not in ("left_of", "right_of")
    if not canvas.place(_layout(plan, rng), mirror=mirror):
        return None
    actors, poses = list(plan.actors), list(plan.poses)
    for _ in range(rng.choice(EXTRA_GROUPS)):
        _add_group(canvas, actors, poses, rng)
    groups = tuple(_group(a, p, canvas.parts) for a, p in zip(actors, poses, strict=True))
    topic = Link(plan.action, 0, 1 if len(plan.actors) > 1 else None)
    relations = visible_relations(groups, poses, len(plan.actors), rng)
    scene = Scene(
        number=number,
        setting=plan.setting,
        time=time,
        weather=weather,
        groups=groups,
        links=(topic, *relations),
        surprising=plan.surprising,
    )
    return Picture(scene, tuple(canvas.parts))


def _plan(rng: Random) -> _Plan | None:
    """Return a kind, an action of it, a partner, and poses and a setting that suit them."""
    lexicon = load_lexicon()
    if rng.random() < 0.5:
        action, role = rng.choice(plausibility.all_actions()), "subject"
        focus = rng.choice(
            [kind for kind in lexicon.kinds if plausibility.partners(action, role, kind)]
        )
    else:
        focus = rng.choice(list(lexicon.kinds))
        uses = plausibility.uses(focus)
        weights = [0.3 if lexicon.actions[action].relation else 1.0 for action, _ in uses]
        action, role = rng.choices(uses, weights)[0]
    partner = rng.choice(plausibility.partners(action, role, focus))
    names = (focus, partner) if role == "subject" else (partner, focus)
    kinds = [lexicon.kinds[name] for name in names if name]
    pose_options = plausibility.poses(action, *kinds)
    if not pose_options:
        return None
    poses = rng.choice(pose_options)
    surprising = rng.random() < SURPRISING
    settings = capacity.possible_settings(kinds, poses, surprising=surprising)
    if not settings:
        return None
    setting = rng.choice(settings)
    counts = capacity.fit_counts(action, kinds, [rng.choice(COUNTS) for _ in kinds])
    actors = tuple(
        _actor(group, kind, counts[group], setting, rng) for group, kind in enumerate(kinds)
    )
    if not capacity.fits(action, actors, poses):
        return None
    return _Plan(action=action, actors=actors, poses=poses, setting=setting, surprising=surprising)


def _actor(group: int, kind: Kind, count: int, setting: str, rng: Random) -> Actor:
    """Return a group of a random colour and size."""
    colours = [*kind.colours, *kind.extra_colours]
    if setting == "snow" and len(colours) > 1 and "white" in colours:
        colours.remove("white")
    lexicon = load_lexicon()
    has_sizes = not lexicon.is_a(kind.name, "person") and 0.4 < kind.height < 3
    factor = 1.0
    if has_sizes and rng.random() < 0.25:
        factor = lexicon.sizes[rng.choice(list(lexicon.sizes))].factor
    weights = [1 if colour in COMMON_COLOURS else 2 for colour in colours]
    colour = rng.choices(colours, weights)[0]
    return Actor(group=group, kind=kind, count=count, colour=colour, factor=factor)


def _weather(setting: str, time: str, rng: Random) -> str:
    weather = rng.choice(WEATHERS)
    implausible = (
        (weather == "snowfall" and setting not in SNOWY)
        or (weather == "rain" and setting in RAINLESS)
        or (weather in ("fog", "cloudy") and time == "night")  # too dark
    )
    return "sunny" if implausible else weather


def _layout(plan: _Plan, rng: Random) -> list[Sprite]:
    if len(plan.roles) > 1:
        subject, object = plan.roles
        return LAYOUTS[plan.action](subject, object, rng)
    return alone(plan.roles[0], rng, moves=load_lexicon().actions[plan.action].moves)


def _add_group(canvas: Canvas, actors: list[Actor], poses: list[str], rng: Random) -> None:
    """Add one more group of a kind that lives in the setting, if there is room for it."""
    taken = {actor.kind.name for actor in actors}
    kinds = [
        kind
        for kind in load_lexicon().kinds.values()
        if canvas.setting in kind.settings and kind.name not in taken
    ]
    kind = rng.choice(kinds)
    options = [
        pose
        for pose in plausibility.solitary_poses(kind)
        if canvas.setting in capacity.possible_settings([kind], [pose])
    ]
    if not options:
        return
    pose = rng.choice(options)
    number = min(rng.choice(COUNTS), capacity.max_count(kind))
    actor = _actor(len(actors), kind, number, canvas.setting, rng)
    if canvas.place(alone(Role(actor, pose), rng, moves=pose in ("run", "walk", "crawl"))):
        actors.append(actor)
        poses.append(pose)


def _group(actor: Actor, pose: str, parts: Sequence[PlacedPart]) -> Group:
    """Return the group of an actor, as it is placed."""
    sizes = {size.factor: name for name, size in load_lexicon().sizes.items()}
    boxes = tuple(part.box for part in parts if part.group == actor.group)
    return Group(
        kind=actor.kind.name,
        count=len(boxes),
        colour=actor.colour,
        size=sizes.get(actor.factor),
        pose=pose,
        boxes=boxes,
    )
