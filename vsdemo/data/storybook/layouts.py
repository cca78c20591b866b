"""How the things of an action stand to each other, in metres: everybody faces right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from vsdemo.data.storybook.lexicon import load_lexicon, medium
from vsdemo.data.storybook.sprites import Actor, Sprite, beside, moved, row, span

Layout = Callable[[Actor, str, Actor, str, Random], list[Sprite]]

HELD = {  # metres of things that are carried in a smaller or larger size than they stand there
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
CAR_DRIVER = {"adult": 0.65, "child": 0.9}  # so that heads fit the window and feet stay hidden
FARTHER = 0.87  # roughly how large things look that stand behind others
CLEARANCE = {"table": 0.72, "bench": 0.4, "bed": 0.3}  # shares of the height that are free below


def alone(subject: Actor, pose: str, rng: Random, moves: bool = False) -> list[Sprite]:
    """A group that does something by itself, or nothing."""
    turned = not moves and medium(pose) != "air"
    sprites = row(subject, pose, rng, turned)
    if pose == "jump":
        return [replace(s, z=rng.uniform(0.22, 0.4)) for s in sprites]
    return sprites


def pursues(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The subject behind the object, both on their way to the right."""
    ahead = _low(row(o, o_pose, rng), pose, rng)
    return beside(row(s, pose, rng), ahead, rng.uniform(0.25, 0.7))


def _low(sprites: list[Sprite], other: str, rng: Random) -> list[Sprite]:
    """What flies near something that does not, a little above the ground."""
    flies = sprites[0].medium == "air" != medium(other)
    return moved(sprites, z=rng.uniform(0.4, 0.9)) if flies else sprites


def mounts(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """Each of the subject on one of the object: hips on its seat, feet on its top."""
    sprites = []
    for mount in row(o, o_pose, rng):
        zoom = 0.8 if s.kind.up == "child" and o.kind.name in ("bicycle", "motorcycle") else 1.0
        mount = replace(mount, zoom=zoom)
        sprites += [mount, _seated(s, pose, mount)]
    return sprites


def drives(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """A driver within a car, or on a tractor."""
    if o.kind.name != "car":
        return mounts(s, pose, o, o_pose, rng)
    mount = row(o, o_pose, rng)[0]
    zoom = CAR_DRIVER["child" if s.kind.up == "child" else "adult"]
    driver = _seated(s, pose, mount, zoom)
    return [mount, replace(driver, order=-1, seen=0.5)]


def sits_in(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """One person in each boat, whose side hides the legs."""
    sprites = []
    for boat in row(o, o_pose, rng):
        boat = replace(boat, zoom=1.0)
        person = _seated(s, pose, boat)
        hidden = (boat.height - 0.1 - person.z) / person.height
        sprites += [boat, replace(person, order=-1, seen=1 - hidden)]
    return sprites


def _seated(s: Actor, pose: str, mount: Sprite, zoom: float = 1.0) -> Sprite:
    """The subject with its hips on a seat; without hips its feet on the top."""
    marks = s.drawing(pose).marks
    x, z = mount.actor.point(mount.pose, *(("seat", "top") if "hips" in marks else ("top", "seat")))
    hips = s.point(pose, "hips") if "hips" in marks else (0.0, 0.0)
    return Sprite(
        s,
        pose,
        x=mount.x + x * mount.zoom - hips[0] * zoom,
        z=mount.z + z * mount.zoom - hips[1] * zoom,
        dy=mount.dy,
        order=1,
        zoom=zoom,
        carried=True,
    )


def rests_on(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The subject side by side on one object that has a seat or a top."""
    seat = Sprite(o, o_pose)
    first, step = _seated(s, pose, seat), 0.8 * seat.width / s.count
    turned = s.count > 1 and load_lexicon().is_a(s.kind.name, "animal")
    places = [first.x + (i - (s.count - 1) / 2) * step for i in range(s.count)]
    return [seat, *(replace(first, x=x, flip=turned and rng.random() < 0.4) for x in places)]


def holds(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """Each of the subject with one of the object in its hand."""
    zoom = HELD.get(o.kind.name, o.kind.height) / o.kind.height * (s.kind.height / 1.8) ** 0.6
    x, z = s.point(pose, "hand")
    grip = o.point(o_pose, "hand")
    sprites = []
    for person in row(s, pose, rng):
        held = Sprite(
            o,
            o_pose,
            x=person.x + x * person.zoom - grip[0] * zoom,
            z=z * person.zoom - grip[1] * zoom,
            dy=person.dy,
            order=1,
            zoom=zoom,
            carried=True,
        )
        sprites += [person, held]
    return sprites


def kicks(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The object just before the foremost foot."""
    ball = moved(row(o, o_pose, rng), z=rng.uniform(0, 0.2))
    return beside(row(s, pose, rng), ball, rng.uniform(-0.1, 0.12))


def looks_at(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The subject turned to the object, at some distance."""
    seen = _low(row(o, o_pose, rng, turned=medium(o_pose) == "ground"), pose, rng)
    return beside(row(s, pose, rng), seen, rng.uniform(0.25, 0.7))


def jumps_over(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The subject in the air above the object."""
    below = Sprite(o, o_pose, dy=-2)
    z = below.height + rng.uniform(0.06, 0.2)
    angle = rng.uniform(-14, -4) if pose == "run" else 0.0
    return [below, Sprite(s, pose, x=rng.uniform(-0.15, 0.15), z=z, order=1, angle=angle)]


def flies_over(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The subject in the air above the object, on which it casts no shadow."""
    below = row(o, o_pose, rng)
    top = max(b.height + b.z for b in below)
    zoom = 0.55 if load_lexicon().is_a(s.kind.name, "aircraft") else 1.0
    above = row(s, pose, rng)
    if o.kind.height > 2 and zoom == 1:
        zoom = 1.25  # else a bird above a castle is a dot
    above = [replace(a, zoom=zoom, x=a.x * zoom, carried=True) for a in above]
    (left, right), (l2, r2) = span(below), span(above)
    shift = rng.uniform(-0.5, 0.5) * max((right - left) - (r2 - l2), 0)
    return below + moved(above, shift, top + rng.uniform(0.2, 0.6))


def under(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The subject before the trunk of a tree, or between the legs of a piece of furniture."""
    above = Sprite(o, o_pose)
    things = row(s, pose, rng, turned=True)
    if load_lexicon().is_a(o.kind.name, "tree"):
        shift = rng.uniform(-0.22, 0.22) * o.width(o_pose)
        return [above, *(replace(t, x=t.x + shift, dy=t.dy + 9) for t in things)]
    return [above, *(replace(t, dy=-0.5, order=-1) for t in things)]


def next_to(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """Side by side, close."""
    return _apart(s, pose, o, o_pose, rng, rng.uniform(0.08, 0.3))


def left_of(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The subject at the left, some distance off."""
    return _apart(s, pose, o, o_pose, rng, rng.uniform(0.35, 1.4))


def right_of(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The subject at the right, some distance off."""
    return left_of(o, o_pose, s, pose, rng)


def _apart(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random, gap: float) -> list[Sprite]:
    left = _low(row(s, pose, rng, turned=medium(pose) != "air"), o_pose, rng)
    right = _low(row(o, o_pose, rng, turned=medium(o_pose) != "air"), pose, rng)
    return beside(left, right, gap)


def behind(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The subject further away and partly hidden: behind something much smaller anywhere, else
    to a side of it."""
    front, back = row(o, o_pose, rng, turned=True), row(s, pose, rng, turned=True)
    widths = [right - left for left, right in (span(front), span(back))]
    if widths[0] < 0.6 * back[0].width:
        shift = rng.uniform(-0.4, 0.4) * widths[1]
    else:
        overlap = rng.uniform(0.3, 0.5) * min(widths[0], back[0].width * FARTHER)
        shift = rng.choice((-1, 1)) * ((widths[0] + widths[1] * FARTHER) / 2 - overlap)
    far = rng.uniform(16, 26)
    moved_back = (replace(b, x=b.x * FARTHER + shift, dy=-far) for b in back)
    return [*(replace(f, dy=0) for f in front), *moved_back]


def in_front_of(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The object further away and partly hidden."""
    return behind(o, o_pose, s, pose, rng)


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
