"""Where there is room for what, and for how many."""

from __future__ import annotations

from collections.abc import Sequence

from vsdemo.data.storybook.layouts import CLEARANCE
from vsdemo.data.storybook.lexicon import load_lexicon, medium
from vsdemo.data.storybook.lexicon_entries import Kind
from vsdemo.data.storybook.plausibility import NARROW, ON, is_a
from vsdemo.data.storybook.sprites import Actor

ONE_EACH = ("rides", "holds", "reads", "flies_up", "sits_in")
LONG = ("bench", "sofa", "bed", "table")  # with room for several


def settings(kinds: Sequence[Kind], poses: Sequence[str], surprising: bool) -> list[str]:
    """Where these kinds can be drawn: where all live, or where an animal or vehicle does not."""
    words = load_lexicon()
    found = []
    for name in words.settings:
        if not all(_has_room(name, kind, medium(p)) for kind, p in zip(kinds, poses, strict=True)):
            continue
        strangers = [k for k in kinds if name not in k.lives]
        odd = any(is_a(k, "animal", "vehicle") for k in strangers)
        if odd if surprising else not strangers:
            found.append(name)
    return found


def _has_room(setting: str, kind: Kind, where: str) -> bool:
    words = load_lexicon()
    if words.side(setting) == "indoors":
        small = kind.height < 1.4 and not is_a(kind, "vehicle")
        flies = where != "air" or is_a(kind, "toy")
        return setting in kind.lives or (small and flies and where in ("ground", "air"))
    if where in ("water", "surface"):
        return bool(words.settings[setting].water)
    return where == "air" or setting != "sea"


def most(kind: Kind) -> int:
    """How many of a kind there is room for."""
    width = Actor(0, kind, 1, kind.colours[0]).width(kind.poses[0])
    if width > 4 or is_a(kind, "building"):
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
        room = 3 if kinds[1].name in LONG or is_a(kinds[1], "tree") else 1
        return [min(numbers[0], room), 1]
    return [min(n, 3) for n in numbers] if len(numbers) == 2 else numbers


def fits(action: str, actors: Sequence[Actor], poses: Sequence[str]) -> bool:
    """Whether what is on or under something has the size for it."""
    if len(actors) < 2:
        return True
    s, o = actors
    width, height = s.width(poses[0]), s.height(poses[0])
    room = o.width(poses[1]) * 0.85
    person = is_a(s.kind, "person")
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
