"""Which kinds, poses and settings go together: what the lexicon allows and a picture can show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product

from vsdemo.data.storybook.entries import Kind
from vsdemo.data.storybook.layouts import CLEARANCE
from vsdemo.data.storybook.lexicon import load, medium
from vsdemo.data.storybook.stage import Actor

ENTAILED = ("with", "in")  # said of scenes with a stronger link, so never what a scene is about
BOUND = ("ride", "hold", "jump", "open")  # poses that need an action
ONE_EACH = ("rides", "holds", "reads", "flies_up", "sits_in")
ON = ("sits_on", "stands_on", "lies_on", "on")
SEATED = ("sits_on", "sits_in", "drives")  # else people do not sit: there is nothing to sit on
LONG = ("bench", "sofa", "bed", "table")  # with room for several
NARROW = ("fence", "ladder")  # for those who climb or fly
CLIMBERS = ("bird", "cat", "squirrel", "monkey")
IN_AIR_NEAR = ("bird", "gull", "insect", "toy")  # what flies where people are
BOARDS = ("scooter", "skateboard")  # one stands on them
RIDDEN = (*BOARDS, "bicycle", "motorcycle", "sled")  # do not go by themselves
HUNTERS = ("person", "dog", "cat", "fox", "lion", "bear")


@cache
def uses(kind: str) -> tuple[tuple[str, str], ...]:
    """The (action, role) that a kind can be drawn in."""
    return tuple(
        (action, role)
        for action in load().actions
        for role in ("subject", "object")
        if partners(action, role, kind)
    )


@cache
def actions() -> tuple[str, ...]:
    """All that a scene can be about."""
    return tuple(dict.fromkeys(action for kind in load().kinds for action, _ in uses(kind)))


@cache
def partners(action: str, role: str, kind: str) -> tuple[str | None, ...]:
    """Those that a kind can have as the other side of an action; None where it has none."""
    if action in ENTAILED:
        return ()
    words = load()
    one = words.kinds[kind]
    if not words.actions[action].takes_object:
        return (None,) if role == "subject" and words.may(action, kind) and poses(action, one) else ()
    found = []
    for name, other in words.kinds.items():
        pair = (one, other) if role == "subject" else (other, one)
        if (
            name != kind
            and words.may(action, pair[0].name, pair[1].name)
            and set(one.lives) & set(other.lives)
            and sensible(action, *pair)
            and poses(action, *pair)
        ):
            found.append(name)
    return tuple(found)


def sensible(action: str, s: Kind, o: Kind) -> bool:
    """Whether a picture of it would not be absurd."""
    words = load()

    def is_a(kind: Kind, *concepts: str) -> bool:
        return any(words.is_a(kind.name, c) for c in concepts)

    living = is_a(s, "person", "animal")
    if action == "chases":
        hunts = is_a(s, *HUNTERS) or not is_a(o, "person", "vehicle", "animal")
        return hunts and (is_a(s, "person", "dog") or not is_a(o, "vehicle")) and (
            is_a(s, "person") or s.height >= 0.5 * o.height or not is_a(o, "animal", "person")
        )
    if action == "follows":
        driven = o.name not in RIDDEN and (living or (is_a(o, "vehicle") and s.name not in RIDDEN))
        return driven and s.name != "owl" and s.height > 0.25 * o.height
    if action == "rides":
        grown = is_a(s, "adult")
        return grown if o.name == "motorcycle" else s.name not in ("cook", "farmer") or (
            o.name not in BOARDS
        )
    if action == "looks_at":
        return not is_a(o, "aircraft", "boat")
    if action == "jumps_over":
        return s.height < 2.2 and s.name != "bear" and o.height < 1.15
    if action == "above":
        return not words.may("flies_over", s.name, o.name)
    if action == "flies_over":
        return o.height > 1.4 if is_a(s, "aircraft") else o.height < 2.5 or not is_a(s, "insect")
    if action == "on":
        bulky = is_a(s, "toy", "instrument", "book", "hat")
        return s.name != "lamp" and (bulky or o.name in ("table", "box"))
    if action == "under":
        return s.height < 0.5 * o.height
    if action in ON and not is_a(s, "person"):
        return s.height < 1.2 and (o.name not in NARROW or is_a(s, *CLIMBERS))
    if words.actions[action].relation:
        return _rank(s) >= _rank(o)
    return True


def _rank(kind: Kind) -> int:
    """What one would speak of first when two things only stand there."""
    words = load()
    above = {kind.name, *words.above(kind.name)}
    if above & {"person", "animal"}:
        return 3
    return 1 if above & {"plant", "furniture", "structure"} else 2


@cache
def poses(action: str, *kinds: Kind) -> tuple[tuple[str, ...], ...]:
    """The poses of subject and object that show an action and are in places that suit."""
    found = load().actions[action]
    subject = [p for p in kinds[0].poses if p in found.poses] if found.poses else idle(kinds[0])
    if load().is_a(kinds[0].name, "person") and action not in SEATED:
        subject = [p for p in subject if p != "sit" or p == kinds[0].poses[0]]
    if len(kinds) == 1:
        return tuple((p,) for p in subject)
    if action == "follows" and set(subject) - {"stand"}:
        subject = [p for p in subject if p != "stand" or load().is_a(kinds[0].name, "vehicle")]
    o = [p for p in kinds[1].poses if p in found.object_poses] or idle(kinds[1])
    if action == "rides":
        o = [p for p in kinds[1].poses if p in ("stand", "run")]
        subject = [_riding(kinds[1])]
    if action == "drives":
        subject = ["sit" if kinds[1].name == "car" else "ride"]
    return tuple(pair for pair in product(subject, o) if _together(action, pair, kinds))


def _riding(mount: Kind) -> str:
    return "stand" if mount.name in BOARDS else "ride"


def _together(action: str, pair: tuple[str, ...], kinds: Sequence[Kind]) -> bool:
    """Whether two groups in these poses can be near each other."""
    one, other = map(medium, pair)
    if action in ("flies_over", "above"):
        return one == "air" and other in ("ground", "surface")
    if action in (*ON, "holds", "reads", "flies_up"):
        return True
    if action == "sits_in":
        return other == "surface"
    if action in ("under", "lies_under"):
        return one == other == "ground"
    if action in ("behind", "in_front_of"):
        return one == other == "ground" or (one != "ground" and {one, other} <= {"water", "surface"})
    low = {"ground", *(("air",) if _flies_low(kinds, (one, other)) else ())}
    return one == other or {one, other} <= low or {one, other} <= {"water", "surface"}


def _flies_low(kinds: Sequence[Kind], media: Sequence[str]) -> bool:
    words = load()
    flying = [k for k, m in zip(kinds, media, strict=True) if m == "air"]
    return all(any(words.is_a(k.name, c) for c in IN_AIR_NEAR) for k in flying)


def idle(kind: Kind) -> list[str]:
    """Poses of one that does nothing."""
    if load().is_a(kind.name, "person"):
        return [kind.poses[0]]
    return [p for p in kind.poses if p not in ("run", "walk", "jump", "crawl", "open")]


def alone(kind: Kind) -> list[str]:
    """Poses that need nothing else."""
    person = load().is_a(kind.name, "person")
    return [
        p for p in kind.poses if p not in BOUND and not (person and p == "sit" != kind.poses[0])
    ]


def settings(kinds: Sequence[Kind], poses: Sequence[str], surprising: bool) -> list[str]:
    """Where these kinds can be drawn: where all live, or where an animal or vehicle does not."""
    words = load()
    found = []
    for name, setting in words.settings.items():
        if not all(_has_room(name, kind, medium(p)) for kind, p in zip(kinds, poses, strict=True)):
            continue
        strangers = [k for k in kinds if name not in k.lives]
        odd = any(words.is_a(k.name, up) for k in strangers for up in ("animal", "vehicle"))
        if odd if surprising else not strangers:
            found.append(name)
    return found


def _has_room(setting: str, kind: Kind, where: str) -> bool:
    words = load()
    if words.side(setting) == "indoors":
        small = kind.height < 1.4 and not words.is_a(kind.name, "vehicle")
        flies = where != "air" or words.is_a(kind.name, "toy")
        return setting in kind.lives or (small and flies and where in ("ground", "air"))
    if where in ("water", "surface"):
        return bool(words.settings[setting].water)
    return where == "air" or setting != "sea"


def most(kind: Kind) -> int:
    """How many of a kind there is room for."""
    width = Actor(0, kind, 1, kind.colours[0]).width(kind.poses[0])
    if width > 4 or load().is_a(kind.name, "building"):
        return 1
    return 2 if width > 1.7 else 3 if width > 1.2 else 4


def counts(action: str, kinds: Sequence[Kind], drawn: Sequence[int]) -> list[int]:
    """How many of each, given what was drawn by lot."""
    numbers = [min(n, most(kind)) for n, kind in zip(drawn, kinds, strict=True)]
    if action in ONE_EACH:
        return [min(*numbers, 2)] * 2
    if action in ("drives", "jumps_over"):
        return [1, 1]
    if action == "kicks":
        return [min(numbers[0], 2), 1]
    if action in (*ON, "lies_under", "under"):
        room = 3 if kinds[1].name in LONG or load().is_a(kinds[1].name, "tree") else 1
        return [min(numbers[0], room), 1]
    return [min(n, 3) for n in numbers] if len(numbers) == 2 else numbers


def fits(action: str, actors: Sequence[Actor], poses: Sequence[str]) -> bool:
    """Whether what is on or under something has the size for it."""
    if len(actors) < 2:
        return True
    s, o = actors
    width, height = s.width(poses[0]), s.height(poses[0])
    room = o.width(poses[1]) * 0.85
    person = load().is_a(s.kind.name, "person")
    if action in ON and not (person and action == "sits_on"):
        if o.kind.name in NARROW:
            return not person
        return s.count * width < room * (1.2 if s.count == 1 else 1.0) or (person and s.count == 1)
    if action == "sits_on":
        return s.count * 0.7 <= max(o.width(poses[1]), 0.7)
    if action in ("lies_under", "under") and o.kind.name in CLEARANCE:
        clear = CLEARANCE[o.kind.name] * o.height(poses[1])
        return height < clear and s.count * width < 0.8 * o.width(poses[1])
    return True
