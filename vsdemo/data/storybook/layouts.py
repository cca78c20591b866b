"""Layouts: how the subject and the object of an action are placed.

Lengths are in metres, and everything faces right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from vsdemo.data.storybook.lexicon import load_lexicon, medium
from vsdemo.data.storybook.sprites import Actor, Sprite, row, shifted, side_by_side, span

HELD_HEIGHT = {  # of things whose size differs while they are held
    "umbrella": 1.55,
    "kite": 1.35,
    "balloon": 1.15,
    "guitar": 0.95,
    "flag": 1.3,
    "broom": 1.4,
    "drum": 0.42,
    "teddy_bear": 0.55,
    "sunflower": 1.1,
    "box": 0.42,
}
CAR_DRIVER_ZOOM = {"adult": 0.65, "child": 0.9}  # heads fit the window and feet stay hidden
FARTHER = 0.87  # approximate scale of things behind others
CLEARANCE = {"table": 0.72, "bench": 0.4, "bed": 0.3}  # free share of the height below


@dataclass(frozen=True)
class Role:
    """The subject or the object of an action, and its pose."""

    actor: Actor
    pose: str

    def row(self, rng: Random, *, turn: bool = False) -> list[Sprite]:
        """Return its things side by side."""
        return row(self.actor, self.pose, rng, turn=turn)

    def sprite(self) -> Sprite:
        """Return one thing at the origin."""
        return Sprite(self.actor, self.pose)


Layout = Callable[[Role, Role, Random], list[Sprite]]


def alone(subject: Role, rng: Random, *, moves: bool = False) -> list[Sprite]:
    """Return a group that does something by itself, or nothing."""
    turn = not moves and medium(subject.pose) != "air"
    sprites = subject.row(rng, turn=turn)
    if subject.pose == "jump":
        return [replace(sprite, z=rng.uniform(0.22, 0.4)) for sprite in sprites]
    return sprites


def pursues(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place the subject behind the object, both moving to the right."""
    ahead = _low(o.row(rng), s.pose, rng)
    return side_by_side(s.row(rng), ahead, rng.uniform(0.25, 0.7))


def _low(sprites: list[Sprite], other_pose: str, rng: Random) -> list[Sprite]:
    """Lower things that fly near something that does not."""
    flies = sprites[0].medium == "air" != medium(other_pose)
    return shifted(sprites, z=rng.uniform(0.4, 0.9)) if flies else sprites


def mounts(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place each subject on one object: hips on its seat, or feet on its top."""
    sprites = []
    for mount in o.row(rng):
        child_on_cycle = s.actor.kind.parent == "child" and o.actor.kind.name in (
            "bicycle",
            "motorcycle",
        )
        mount = replace(mount, zoom=0.8 if child_on_cycle else 1.0)
        sprites += [mount, _seated(s, mount)]
    return sprites


def drives(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place a driver in a car, or on a tractor."""
    if o.actor.kind.name != "car":
        return mounts(s, o, rng)
    car = o.row(rng)[0]
    zoom = CAR_DRIVER_ZOOM["child" if s.actor.kind.parent == "child" else "adult"]
    driver = _seated(s, car, zoom)
    return [car, replace(driver, order=-1, visible=0.5)]


def sits_in(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place one person in each boat, whose side hides the legs."""
    sprites = []
    for boat in o.row(rng):
        boat = replace(boat, zoom=1.0)
        person = _seated(s, boat)
        hidden = (boat.height - 0.1 - person.z) / person.height
        sprites += [boat, replace(person, order=-1, visible=1 - hidden)]
    return sprites


def _seated(s: Role, mount: Sprite, zoom: float = 1.0) -> Sprite:
    """Return the subject with its hips on a seat; without hips with its feet on the top."""
    has_hips = "hips" in s.actor.drawing(s.pose).anchors
    names = ("seat", "top") if has_hips else ("top", "seat")
    x, z = mount.actor.anchor(mount.pose, *names)
    hips_x, hips_z = s.actor.anchor(s.pose, "hips") if has_hips else (0.0, 0.0)
    return Sprite(
        actor=s.actor,
        pose=s.pose,
        x=mount.x + x * mount.zoom - hips_x * zoom,
        z=mount.z + z * mount.zoom - hips_z * zoom,
        dy=mount.dy,
        order=1,
        zoom=zoom,
        carried=True,
    )


def rests_on(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place the subjects side by side on one object with a seat or a top."""
    seat = o.sprite()
    count = s.actor.count
    first, step = _seated(s, seat), 0.8 * seat.width / count
    turn = count > 1 and load_lexicon().is_a(s.actor.kind.name, "animal")
    sprites = [seat]
    for i in range(count):
        x = first.x + (i - (count - 1) / 2) * step
        sprites.append(replace(first, x=x, flip=turn and rng.random() < 0.4))
    return sprites


def holds(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place one object in the hand of each subject."""
    held_height = HELD_HEIGHT.get(o.actor.kind.name, o.actor.kind.height)
    zoom = held_height / o.actor.kind.height * (s.actor.kind.height / 1.8) ** 0.6
    hand_x, hand_z = s.actor.anchor(s.pose, "hand")
    grip_x, grip_z = o.actor.anchor(o.pose, "hand")
    sprites = []
    for person in s.row(rng):
        held = Sprite(
            actor=o.actor,
            pose=o.pose,
            x=person.x + hand_x * person.zoom - grip_x * zoom,
            z=hand_z * person.zoom - grip_z * zoom,
            dy=person.dy,
            order=1,
            zoom=zoom,
            carried=True,
        )
        sprites += [person, held]
    return sprites


def kicks(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place the object just in front of the foremost foot."""
    ball = shifted(o.row(rng), z=rng.uniform(0, 0.2))
    return side_by_side(s.row(rng), ball, rng.uniform(-0.1, 0.12))


def looks_at(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place the object at some distance in front of the subject."""
    target = _low(o.row(rng, turn=medium(o.pose) == "ground"), s.pose, rng)
    return side_by_side(s.row(rng), target, rng.uniform(0.25, 0.7))


def jumps_over(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place the subject in the air above the object."""
    below = replace(o.sprite(), dy=-2)
    z = below.height + rng.uniform(0.06, 0.2)
    angle = rng.uniform(-14, -4) if s.pose == "run" else 0.0
    x = rng.uniform(-0.15, 0.15)
    return [below, replace(s.sprite(), x=x, z=z, order=1, angle=angle)]


def flies_over(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place the subject in the air above the object, without a shadow on it."""
    below = o.row(rng)
    top = max(sprite.height + sprite.z for sprite in below)
    zoom = 0.55 if load_lexicon().is_a(s.actor.kind.name, "aircraft") else 1.0
    above = s.row(rng)
    if o.actor.kind.height > 2 and zoom == 1:
        zoom = 1.25  # otherwise a bird above a castle is a dot
    above = [replace(a, zoom=zoom, x=a.x * zoom, carried=True) for a in above]
    (left, right), (left_above, right_above) = span(below), span(above)
    slack = max((right - left) - (right_above - left_above), 0)
    shift = rng.uniform(-0.5, 0.5) * slack
    return below + shifted(above, shift, top + rng.uniform(0.2, 0.6))


def under(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place the subject in front of the trunk of a tree, or between the legs of furniture."""
    above = o.sprite()
    things = s.row(rng, turn=True)
    if load_lexicon().is_a(o.actor.kind.name, "tree"):
        shift = rng.uniform(-0.22, 0.22) * o.actor.width(o.pose)
        return [above, *(replace(t, x=t.x + shift, dy=t.dy + 9) for t in things)]
    return [above, *(replace(t, dy=-0.5, order=-1) for t in things)]


def next_to(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place both close side by side."""
    return _apart(s, o, rng, rng.uniform(0.08, 0.3))


def left_of(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place the subject on the left, at some distance."""
    return _apart(s, o, rng, rng.uniform(0.35, 1.4))


def right_of(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place the subject on the right, at some distance."""
    return left_of(o, s, rng)


def _apart(s: Role, o: Role, rng: Random, gap: float) -> list[Sprite]:
    left = _low(s.row(rng, turn=medium(s.pose) != "air"), o.pose, rng)
    right = _low(o.row(rng, turn=medium(o.pose) != "air"), s.pose, rng)
    return side_by_side(left, right, gap)


def behind(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place the subject further away and partly hidden.

    It is anywhere behind something much smaller, and otherwise on one side of it.
    """
    front, back = o.row(rng, turn=True), s.row(rng, turn=True)
    front_width, back_width = (right - left for left, right in (span(front), span(back)))
    if front_width < 0.6 * back[0].width:
        shift = rng.uniform(-0.4, 0.4) * back_width
    else:
        overlap = rng.uniform(0.3, 0.5) * min(front_width, back[0].width * FARTHER)
        shift = rng.choice((-1, 1)) * ((front_width + back_width * FARTHER) / 2 - overlap)
    distance = rng.uniform(16, 26)
    moved_back = [replace(b, x=b.x * FARTHER + shift, dy=-distance) for b in back]
    return [*(replace(f, dy=0) for f in front), *moved_back]


def in_front_of(s: Role, o: Role, rng: Random) -> list[Sprite]:
    """Place the object further away and partly hidden."""
    return behind(o, s, rng)


LAYOUTS: dict[str, Layout] = {
    "chases": pursues,
    "follows": pursues,
    "rides": mounts,
    "drives": drives,
    "holds": holds,
    "reads": holds,
    "flies_up": holds,
    "kicks": kicks,
    "looks_at": looks_at,
    "jumps_over": jumps_over,
    "sits_on": rests_on,
    "sits_in": sits_in,
    "stands_on": rests_on,
    "lies_on": rests_on,
    "lies_under": under,
    "flies_over": flies_over,
    "next_to": next_to,
    "left_of": left_of,
    "right_of": right_of,
    "behind": behind,
    "in_front_of": in_front_of,
    "under": under,
    "above": flies_over,
    "on": rests_on,
}
