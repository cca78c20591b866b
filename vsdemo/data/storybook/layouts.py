"""How the things of an action stand to each other, in metres: everybody faces right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from vsdemo.data.storybook.lexicon import load, medium
from vsdemo.data.storybook.stage import Actor, Sprite, moved, span

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
CLEARANCE = {"table": 0.72, "bench": 0.4, "bed": 0.3}  # shares of the height that are free below
FACE_TO_FACE = 0.4


def row(actor: Actor, pose: str, rng: Random, turned: bool = False) -> list[Sprite]:
    """All things of a group side by side, the middle at 0; `turned`: each may face left."""
    n, width = actor.count, actor.width(pose)
    step = width * (rng.uniform(1.02, 1.15) if n < 3 else rng.uniform(0.86, 0.98)) + 0.05
    small = medium(pose) in ("air",)
    sprites = []
    for i in range(n):
        sprites.append(
            Sprite(
                actor,
                pose,
                x=(i - (n - 1) / 2) * step,
                z=rng.uniform(0, 0.5 * actor.height(pose)) if small else 0.0,
                dy=0.0 if n == 1 or small else (-1) ** i * rng.uniform(3, 7),
                flip=turned and rng.random() < 0.4,
                angle=rng.uniform(-6, 6) if small and actor.kind.up != "aircraft" else 0.0,
                zoom=rng.uniform(0.95, 1.05),
            )
        )
    return sprites


def beside(
    left: Sequence[Sprite], right: Sequence[Sprite], gap: float
) -> tuple[list[Sprite], list[Sprite]]:
    """Two rows with a gap of so many metres between them, the middle of all at 0."""
    (l1, r1), (l2, r2) = span(left), span(right)
    total = (r1 - l1) + gap + (r2 - l2)
    return moved(left, -total / 2 - l1), moved(right, total / 2 - r2)


def alone(subject: Actor, pose: str, rng: Random, moves: bool = False) -> list[Sprite]:
    """A group that does something by itself, or nothing."""
    turned = not moves and medium(pose) != "air"
    sprites = row(subject, pose, rng, turned)
    if pose == "jump":
        return [replace(s, z=rng.uniform(0.22, 0.4)) for s in sprites]
    return sprites


def pursues(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The subject behind the object, both on their way to the right."""
    ahead = row(o, o_pose, rng)
    if medium(o_pose) == "air" and medium(pose) == "ground":
        ahead = moved(ahead, z=rng.uniform(0.5, 1.0))
    behind, ahead = beside(row(s, pose, rng), ahead, rng.uniform(0.25, 0.7))
    return behind + ahead


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
    sprites = [_seated(s, pose, seat)]
    if s.count > 1:
        room = 0.8 * seat.width
        step = room / s.count
        turned = load().is_a(s.kind.name, "animal")
        sprites = [
            replace(
                sprites[0],
                x=sprites[0].x + (i - (s.count - 1) / 2) * step,
                flip=turned and rng.random() < 0.4,
                order=1 + 0.1 * i,
            )
            for i in range(s.count)
        ]
    return [seat, *sprites]


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
    people, things = beside(row(s, pose, rng), row(o, o_pose, rng), rng.uniform(-0.1, 0.12))
    return people + moved(things, z=rng.uniform(0, 0.2))


def looks_at(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The subject turned to the object, at some distance."""
    seen = row(o, o_pose, rng, turned=medium(o_pose) == "ground")
    if medium(o_pose) == "air" and medium(pose) == "ground":
        seen = moved(seen, z=rng.uniform(0.5, 0.9))
    people, seen = beside(row(s, pose, rng), seen, rng.uniform(0.25, 0.7))
    return people + seen


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
    zoom = 0.55 if load().is_a(s.kind.name, "aircraft") else 1.0
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
    if load().is_a(o.kind.name, "tree"):
        shift = rng.uniform(-0.22, 0.22) * o.width(o_pose)
        return [above, *(replace(t, x=t.x + shift, dy=t.dy + 9) for t in things)]
    return [above, *(replace(t, dy=-0.5, order=-1) for t in things)]


def next_to(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """Side by side, close."""
    return sum(beside(*_pair(s, pose, o, o_pose, rng), rng.uniform(0.08, 0.3)), [])


def left_of(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The subject at the left, some distance off."""
    return sum(beside(*_pair(s, pose, o, o_pose, rng), rng.uniform(0.35, 1.4)), [])


def right_of(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The subject at the right, some distance off."""
    return left_of(o, o_pose, s, pose, rng)


def _pair(
    s: Actor, pose: str, o: Actor, o_pose: str, rng: Random
) -> tuple[list[Sprite], list[Sprite]]:
    rows = row(s, pose, rng, medium(pose) != "air"), row(o, o_pose, rng, medium(o_pose) != "air")
    grounded = "air" != medium(pose) or "air" != medium(o_pose)
    first, second = (
        moved(r, z=rng.uniform(0.4, 0.9)) if grounded and r[0].medium == "air" else r for r in rows
    )
    return first, second


def behind(s: Actor, pose: str, o: Actor, o_pose: str, rng: Random) -> list[Sprite]:
    """The subject further away and partly hidden."""
    front, back = row(o, o_pose, rng, turned=True), row(s, pose, rng, turned=True)
    (left, right), (l2, r2) = span(front), span(back)
    overlap = rng.uniform(0.25, 0.45) * min(right - left, r2 - l2, 1.5)
    shift = (right - left) / 2 + (r2 - l2) / 2 - overlap
    far = rng.uniform(13, 24)
    side = rng.choice((-1, 1))
    return [*front, *(replace(b, x=b.x + side * shift, dy=b.dy - far) for b in back)]


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
