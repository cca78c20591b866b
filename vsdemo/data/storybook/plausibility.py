"""Which kinds, poses and actions go together: allowed by the lexicon, and sensible in a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product

from vsdemo.data.storybook.lexicon import load_lexicon, medium
from vsdemo.data.storybook.lexicon_entries import Kind

ENTAILED_ONLY = ("with", "in")  # follow from a stronger link, so they are never a topic
BOUND_POSES = ("ride", "hold", "jump", "open")  # need an action
ON = ("sits_on", "stands_on", "lies_on", "on")
SEATED = ("sits_on", "sits_in", "drives")  # without these, people have nothing to sit on
NARROW = ("fence", "ladder")  # only for things that climb or fly
CLIMBERS = ("bird", "cat", "squirrel", "monkey")
LOW_FLIERS = ("bird", "gull", "insect", "toy")
BOARDS = ("scooter", "skateboard")  # are ridden standing
RIDDEN = (*BOARDS, "bicycle", "motorcycle", "sled")  # do not move by themselves
WATER = {"water", "surface"}
HUNTERS = ("person", "dog", "cat", "fox", "lion", "bear")


@cache
def uses(kind: str) -> tuple[tuple[str, str], ...]:
    """Return every (action, role) that a kind can be drawn in."""
    return tuple(
        (action, role)
        for action in load_lexicon().actions
        for role in ("subject", "object")
        if partners(action, role, kind)
    )


@cache
def all_actions() -> tuple[str, ...]:
    """Return every action that can be the topic of a scene."""
    kinds = load_lexicon().kinds
    return tuple(dict.fromkeys(action for kind in kinds for action, _ in uses(kind)))


@cache
def partners(action: str, role: str, kind: str) -> tuple[str | None, ...]:
    """Return the kinds on the other side of an action.

    For an action without an object this is (None,) if the kind can do it.
    """
    lexicon = load_lexicon()
    own = lexicon.kinds[kind]
    if action in ENTAILED_ONLY:
        return ()
    if not lexicon.actions[action].takes_object:
        possible = role == "subject" and lexicon.allows(action, kind) and poses(action, own)
        return (None,) if possible else ()
    result = []
    for other in _neighbours(kind):
        subject, object = (own, other) if role == "subject" else (other, own)
        if (
            lexicon.allows(action, subject.name, object.name)
            and is_sensible(action, subject, object)
            and poses(action, subject, object)
        ):
            result.append(other.name)
    return tuple(result)


@cache
def _neighbours(kind: str) -> tuple[Kind, ...]:
    """Return the other kinds that live in one of a kind's settings."""
    kinds = load_lexicon().kinds
    settings = set(kinds[kind].settings)
    return tuple(k for k in kinds.values() if k.name != kind and settings & set(k.settings))


@cache
def _concepts(kind: str) -> frozenset[str]:
    return frozenset((kind, *load_lexicon().ancestors(kind)))


def is_any_of(kind: Kind, *concepts: str) -> bool:
    """Return whether a kind is one of some concepts or lies below one."""
    return not _concepts(kind.name).isdisjoint(concepts)


def is_sensible(action: str, s: Kind, o: Kind) -> bool:
    """Return whether a picture of an action between two kinds is not absurd."""
    if action == "on":
        bulky = is_any_of(s, "toy", "instrument", "book", "hat")
        return s.name != "lamp" and (bulky or o.name in ("table", "box"))
    if action in ON:
        climbs = o.name not in NARROW or is_any_of(s, *CLIMBERS)
        return is_any_of(s, "person") or (s.height < 1.2 and climbs)
    rules: dict[str, Callable[[Kind, Kind], bool]] = {
        "flies_over": _flies_over,
        "follows": _follows,
        "chases": _chases,
        "rides": _rides,
        "looks_at": lambda s, o: not is_any_of(o, "aircraft", "boat"),
        "jumps_over": lambda s, o: s.height < 2.2 and s.name != "bear" and o.height < 1.15,
        "under": lambda s, o: s.height < 0.5 * o.height,
        "above": lambda s, o: not load_lexicon().allows("flies_over", s.name, o.name),
    }
    if action in rules:
        return rules[action](s, o)
    if load_lexicon().actions[action].relation:
        return _prominence(s) >= _prominence(o)
    return True


def _flies_over(s: Kind, o: Kind) -> bool:
    if is_any_of(s, "aircraft"):
        return o.height > 1.4
    return o.height < 2.5 or not is_any_of(s, "insect")


def _follows(s: Kind, o: Kind) -> bool:
    living = is_any_of(s, "person", "animal")
    both_driven = is_any_of(o, "vehicle") and s.name not in RIDDEN
    moves = o.name not in RIDDEN and (living or both_driven)
    return moves and s.name != "owl" and s.height > 0.25 * o.height


def _chases(s: Kind, o: Kind) -> bool:
    if is_any_of(o, "vehicle"):
        return is_any_of(s, "person", "dog")
    if is_any_of(o, "animal", "person"):
        large_hunter = is_any_of(s, *HUNTERS) and s.height >= 0.5 * o.height
        return is_any_of(s, "person") or large_hunter
    return True


def _rides(s: Kind, o: Kind) -> bool:
    if o.name == "motorcycle":
        return is_any_of(s, "adult")
    return o.name not in BOARDS or s.name not in ("cook", "farmer")


def _prominence(kind: Kind) -> int:
    """Return how likely people are to name a kind first in a spatial relation."""
    if is_any_of(kind, "person", "animal"):
        return 3
    return 1 if is_any_of(kind, "plant", "furniture", "structure") else 2


@cache
def poses(action: str, *kinds: Kind) -> tuple[tuple[str, ...], ...]:
    """Return the poses of subject and object that show an action in suitable places."""
    entry = load_lexicon().actions[action]
    subject = kinds[0]
    own = idle_poses(subject)
    if entry.poses:
        own = [pose for pose in subject.poses if pose in entry.poses]
    if is_any_of(subject, "person") and action not in SEATED:
        own = [pose for pose in own if pose != "sit" or pose == subject.poses[0]]
    if len(kinds) == 1:
        return tuple((pose,) for pose in own)
    object = kinds[1]
    if action == "follows" and set(own) - {"stand"}:
        own = [pose for pose in own if pose != "stand" or is_any_of(subject, "vehicle")]
    others = [pose for pose in object.poses if pose in entry.object_poses] or idle_poses(object)
    if action == "rides":
        others = [pose for pose in object.poses if pose in ("stand", "run")]
        own = ["stand" if object.name in BOARDS else "ride"]
    if action == "drives":
        own = ["sit" if object.name == "car" else "ride"]
    pairs = product(own, others)
    return tuple(pair for pair in pairs if _can_be_near(action, pair, kinds))


def _can_be_near(action: str, pair: tuple[str, str], kinds: Sequence[Kind]) -> bool:
    """Return whether two groups in these poses can be where an action needs them."""
    one, other = medium(pair[0]), medium(pair[1])
    both_grounded = one == other == "ground"
    if action in ("flies_over", "above"):
        return one == "air" and other in ("ground", "surface")
    if action in (*ON, "holds", "reads", "flies_up"):
        return True
    if action == "sits_in":
        return other == "surface"
    if action in ("under", "lies_under"):
        return both_grounded
    if action in ("behind", "in_front_of"):
        return both_grounded or {one, other} <= WATER
    near_ground = {"ground"}
    if _flies_low(kinds, (one, other)):
        near_ground.add("air")
    return one == other or {one, other} <= near_ground or {one, other} <= WATER


def _flies_low(kinds: Sequence[Kind], media: Sequence[str]) -> bool:
    return all(is_any_of(k, *LOW_FLIERS) for k, m in zip(kinds, media, strict=True) if m == "air")


def idle_poses(kind: Kind) -> list[str]:
    """Return the poses of a kind that does nothing."""
    if is_any_of(kind, "person"):
        return [kind.poses[0]]
    return [p for p in kind.poses if p not in ("run", "walk", "jump", "crawl", "open")]


def solitary_poses(kind: Kind) -> list[str]:
    """Return the poses of a kind that need no other group."""
    result = [pose for pose in kind.poses if pose not in BOUND_POSES]
    if is_any_of(kind, "person"):
        result = [pose for pose in result if pose != "sit" or pose == kind.poses[0]]
    return result
