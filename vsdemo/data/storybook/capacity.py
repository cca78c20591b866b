"""Which settings have room for which kinds, and for how many things."""

from __future__ import annotations

from collections.abc import Sequence

from vsdemo.data.storybook.layouts import CLEARANCE
from vsdemo.data.storybook.lexicon import load_lexicon, medium
from vsdemo.data.storybook.lexicon_entries import Kind
from vsdemo.data.storybook.plausibility import NARROW, ON, is_any_of
from vsdemo.data.storybook.sprites import Actor

ONE_EACH = ("rides", "holds", "reads", "flies_up", "sits_in")
LONG = ("bench", "sofa", "bed", "table")  # with room for several
UNDER = ("lies_under", "under")


def possible_settings(
    kinds: Sequence[Kind], poses: Sequence[str], *, surprising: bool = False
) -> list[str]:
    """Return the settings in which kinds can be drawn.

    All kinds live there; or, if `surprising`, an animal or a vehicle does not.
    """
    result = []
    for name in load_lexicon().settings:
        media = [medium(pose) for pose in poses]
        if not all(_has_room(name, kind, m) for kind, m in zip(kinds, media, strict=True)):
            continue
        strangers = [kind for kind in kinds if name not in kind.settings]
        is_surprising = any(is_any_of(kind, "animal", "vehicle") for kind in strangers)
        if is_surprising if surprising else not strangers:
            result.append(name)
    return result


def _has_room(setting: str, kind: Kind, medium: str) -> bool:
    lexicon = load_lexicon()
    if lexicon.side(setting) == "indoors":
        if setting in kind.settings:
            return True
        is_small = kind.height < 1.4 and not is_any_of(kind, "vehicle")
        return is_small and (medium == "ground" or (medium == "air" and is_any_of(kind, "toy")))
    if medium in ("water", "surface"):
        return bool(lexicon.settings[setting].water)
    return medium == "air" or setting != "sea"


def max_count(kind: Kind) -> int:
    """Return how many things of a kind there is room for."""
    width = Actor(group=0, kind=kind, count=1, colour=kind.colours[0]).width(kind.poses[0])
    if width > 4 or is_any_of(kind, "building"):
        return 1
    if width > 1.7:
        return 2
    return 3 if width > 1.2 else 4


def fit_counts(action: str, kinds: Sequence[Kind], counts: Sequence[int]) -> list[int]:
    """Return the counts of subject and object, lowered to what an action has room for."""
    fitted = [min(count, max_count(kind)) for count, kind in zip(counts, kinds, strict=True)]
    if action in ONE_EACH:
        return [min(*fitted, 2)] * 2
    if action in ("drives", "jumps_over"):
        return [1, 1]
    if action == "kicks":
        return [min(fitted[0], 2), 1]
    if action in (*ON, *UNDER):
        room = 3 if kinds[1].name in LONG or is_any_of(kinds[1], "tree") else 1
        return [min(fitted[0], room), 1]
    return [min(count, 3) for count in fitted] if len(fitted) == 2 else fitted


def fits(action: str, actors: Sequence[Actor], poses: Sequence[str]) -> bool:
    """Return whether things on or under something have the right size for it."""
    if len(actors) < 2:
        return True
    s, o = actors
    width, height = s.width(poses[0]), s.height(poses[0])
    other_width = o.width(poses[1])
    person = is_any_of(s.kind, "person")
    if action in ON and not (person and action == "sits_on"):
        if o.kind.name in NARROW:
            return not person
        if person and s.count == 1:
            return True
        return s.count * width < other_width * 0.85 * (1.2 if s.count == 1 else 1.0)
    if action == "sits_on":
        return s.count * 0.7 <= max(other_width, 0.7)
    if action in UNDER and o.kind.name in CLEARANCE:
        clearance = CLEARANCE[o.kind.name] * o.height(poses[1])
        return height < clearance and s.count * width < 0.8 * other_width
    return True
