"""Which kinds, poses and settings go together: what the lexicon allows and a picture can show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product

from vsdemo.data.storybook.lexicon import load_lexicon, medium
from vsdemo.data.storybook.lexicon_entries import Kind

ENTAILED = ("with", "in")  # said of scenes with a stronger link, so never what a scene is about
BOUND = ("ride", "hold", "jump", "open")  # poses that need an action
ON = ("sits_on", "stands_on", "lies_on", "on")
SEATED = ("sits_on", "sits_in", "drives")  # else people do not sit: there is nothing to sit on
NARROW = ("fence", "ladder")  # for those who climb or fly
CLIMBERS = ("bird", "cat", "squirrel", "monkey")
IN_AIR_NEAR = ("bird", "gull", "insect", "toy")  # what flies where people are
BOARDS = ("scooter", "skateboard")  # one stands on them
RIDDEN = (*BOARDS, "bicycle", "motorcycle", "sled")  # do not go by themselves
WET = {"water", "surface"}
HUNTERS = ("person", "dog", "cat", "fox", "lion", "bear")


@cache
def uses(kind: str) -> tuple[tuple[str, str], ...]:
    """The (action, role) that a kind can be drawn in."""
    return tuple(
        (action, role)
        for action in load_lexicon().actions
        for role in ("subject", "object")
        if partners(action, role, kind)
    )


@cache
def actions() -> tuple[str, ...]:
    """All that a scene can be about."""
    return tuple(dict.fromkeys(action for kind in load_lexicon().kinds for action, _ in uses(kind)))


@cache
def partners(action: str, role: str, kind: str) -> tuple[str | None, ...]:
    """Those that a kind can have as the other side of an action; None where it has none."""
    words = load_lexicon()
    one = words.kinds[kind]
    if action in ENTAILED:
        return ()
    if not words.actions[action].takes_object:
        alone = role == "subject" and words.may(action, kind) and poses(action, one)
        return (None,) if alone else ()
    pairs = [(one, other) if role == "subject" else (other, one) for other in _neighbours(kind)]
    return tuple(
        (o if role == "subject" else s).name
        for s, o in pairs
        if words.may(action, s.name, o.name) and sensible(action, s, o) and poses(action, s, o)
    )


@cache
def _neighbours(kind: str) -> tuple[Kind, ...]:
    """All others that live in one of its settings."""
    kinds = load_lexicon().kinds
    lives = set(kinds[kind].lives)
    return tuple(k for k in kinds.values() if k.name != kind and not lives.isdisjoint(k.lives))


@cache
def concepts(kind: str) -> frozenset[str]:
    """What a kind is: itself and all concepts above."""
    return frozenset((kind, *load_lexicon().above(kind)))


def is_a(kind: Kind, *any_of: str) -> bool:
    """Whether a kind is one of these or lies below one."""
    return not concepts(kind.name).isdisjoint(any_of)


def sensible(action: str, s: Kind, o: Kind) -> bool:
    """Whether a picture of it would not be absurd."""
    found = load_lexicon().actions[action]
    living = is_a(s, "person", "animal")
    if action == "on":
        bulky = is_a(s, "toy", "instrument", "book", "hat")
        return s.name != "lamp" and (bulky or o.name in ("table", "box"))
    if action in ON:
        climbs = o.name not in NARROW or is_a(s, *CLIMBERS)
        return is_a(s, "person") or (s.height < 1.2 and climbs)
    if action == "flies_over":
        return o.height > 1.4 if is_a(s, "aircraft") else o.height < 2.5 or not is_a(s, "insect")
    if action == "follows":
        driven = o.name not in RIDDEN and (living or (is_a(o, "vehicle") and s.name not in RIDDEN))
        return driven and s.name != "owl" and s.height > 0.25 * o.height
    if found.relation and action not in ("under", "above"):
        return _rank(s) >= _rank(o)
    rules = {
        "chases": lambda: _hunts(s, o),
        "rides": lambda: is_a(s, "adult") if o.name == "motorcycle" else _rides(s, o),
        "looks_at": lambda: not is_a(o, "aircraft", "boat"),
        "jumps_over": lambda: s.height < 2.2 and s.name != "bear" and o.height < 1.15,
        "under": lambda: s.height < 0.5 * o.height,
        "above": lambda: not load_lexicon().may("flies_over", s.name, o.name),
    }
    return rules[action]() if action in rules else True


def _hunts(s: Kind, o: Kind) -> bool:
    if is_a(o, "vehicle"):
        return is_a(s, "person", "dog")
    if is_a(o, "animal", "person"):
        return is_a(s, "person") or (is_a(s, *HUNTERS) and s.height >= 0.5 * o.height)
    return True


def _rides(s: Kind, o: Kind) -> bool:
    return o.name not in BOARDS or s.name not in ("cook", "farmer")


def _rank(kind: Kind) -> int:
    """What one would speak of first when two things only stand there."""
    if is_a(kind, "person", "animal"):
        return 3
    return 1 if is_a(kind, "plant", "furniture", "structure") else 2


@cache
def poses(action: str, *kinds: Kind) -> tuple[tuple[str, ...], ...]:
    """The poses of subject and object that show an action and are in places that suit."""
    found = load_lexicon().actions[action]
    subject = [p for p in kinds[0].poses if p in found.poses] if found.poses else idle(kinds[0])
    if is_a(kinds[0], "person") and action not in SEATED:
        subject = [p for p in subject if p != "sit" or p == kinds[0].poses[0]]
    if len(kinds) == 1:
        return tuple((p,) for p in subject)
    if action == "follows" and set(subject) - {"stand"}:
        subject = [p for p in subject if p != "stand" or is_a(kinds[0], "vehicle")]
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
        return one == other == "ground" or (
            one != "ground" and {one, other} <= {"water", "surface"}
        )
    low = {"ground", *(("air",) if _flies_low(kinds, (one, other)) else ())}
    return one == other or {one, other} <= low or {one, other} <= WET


def _flies_low(kinds: Sequence[Kind], media: Sequence[str]) -> bool:
    return all(is_a(k, *IN_AIR_NEAR) for k, m in zip(kinds, media, strict=True) if m == "air")


def idle(kind: Kind) -> list[str]:
    """Poses of one that does nothing."""
    if is_a(kind, "person"):
        return [kind.poses[0]]
    return [p for p in kind.poses if p not in ("run", "walk", "jump", "crawl", "open")]


def alone(kind: Kind) -> list[str]:
    """Poses that need nothing else."""
    person = is_a(kind, "person")
    return [
        p for p in kind.poses if p not in BOUND and not (person and p == "sit" != kind.poses[0])
    ]
