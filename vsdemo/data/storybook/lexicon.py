"""The words of Storybook: what lexicon.toml says, with the questions one asks it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from vsdemo.core.errors import UserError
from vsdemo.data.storybook.lexicon_entries import (
    Action,
    Colour,
    Concept,
    Kind,
    Setting,
    Size,
    Time,
    Weather,
    Wording,
)

FILE = Path(__file__).with_name("lexicon.toml")
MEDIUM = {"fly": "air", "swim": "water", "float": "surface"}  # others: the ground

Record = TypeVar("Record")


@dataclass(frozen=True)
class Lexicon:
    """All tables of the file, by name; `sides` are `outdoors` and `indoors`."""

    concepts: Mapping[str, Concept]
    kinds: Mapping[str, Kind]
    actions: Mapping[str, Action]
    colours: Mapping[str, Colour]
    sizes: Mapping[str, Size]
    settings: Mapping[str, Setting]
    setting_groups: Mapping[str, tuple[str, ...]]
    sides: Mapping[str, tuple[str, ...]]
    times: Mapping[str, Time]
    weathers: Mapping[str, Weather]
    counts: tuple[str, ...]
    plurals: Mapping[str, str]

    def above(self, name: str) -> Iterator[str]:
        """The concepts above one, nearest first."""
        while name := self.concepts[name].up:
            yield name

    def is_a(self, name: str, concept: str) -> bool:
        """Whether a concept is another or lies below it."""
        return name == concept or concept in self.above(name)

    def spoken(self, kind: str) -> str:
        """The concept whose noun a kind goes by: an oak's is `tree`."""
        return kind if self.concepts[kind].nouns else self.concepts[kind].up

    def hypernyms(self, kind: str) -> list[str]:
        """The concepts above the spoken one that have a noun, nearest first."""
        return [name for name in self.above(self.spoken(kind)) if self.concepts[name].nouns]

    def side(self, setting: str) -> str:
        """`outdoors` or `indoors`."""
        return next(side for side in self.sides if setting in self.setting_groups[side])

    def clothed(self, name: str) -> bool:
        """Whether a concept's colour is that of its clothes: a woman in red."""
        return any(self.concepts[n].clothed for n in (name, *self.above(name)))

    def may(self, action: str, subject: str, object: str | None = None) -> bool:
        """Whether an action makes sense between kinds, or of one alone, and can be drawn."""
        found = self.actions[action]
        poses = self.kinds[subject].poses
        able = (not found.poses or bool(set(found.poses) & set(poses))) and (
            not found.subjects or any(self.is_a(subject, name) for name in found.subjects)
        )
        if object is None or not able:
            return able and not found.takes_object
        fits = not found.objects or any(self.is_a(object, name) for name in found.objects)
        can = not found.object_can or found.object_can in self.kinds[object].can
        return found.takes_object and fits and can

    def posture(self, kind: str, pose: str) -> str | None:
        """The action that is seen by a pose alone, such as `sits`."""
        fits = (
            name
            for name, action in self.actions.items()
            if action.posture and pose in action.poses and self.may(name, kind)
        )
        return next(fits, None)

    def plural(self, noun: str) -> str:
        """The plural of a noun of one or more words: loaves of bread, teddy bears."""
        words = noun.split()
        at = head_index(words)
        word = words[at]
        if word.endswith(("s", "x", "ch", "sh")):
            regular = word + "es"
        elif word.endswith("y") and word[-2] not in "aeiou":
            regular = word[:-1] + "ies"
        else:
            regular = word + "s"
        return " ".join([*words[:at], self.plurals.get(word, regular), *words[at + 1 :]])


def head_index(words: Sequence[str]) -> int:
    """Index of a noun's head: the word before `of`, or the last."""
    return (words.index("of") if "of" in words else len(words)) - 1


def medium(pose: str) -> str:
    """Where something in this pose is: air, water, surface or ground."""
    return MEDIUM.get(pose, "ground")


@cache
def load_lexicon() -> Lexicon:
    """The lexicon, read once. Raises UserError when the file is damaged."""
    try:
        return _built(tomllib.loads(FILE.read_text(encoding="utf-8")))
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UserError(f"{FILE} is damaged ({error}); restore it with git.") from None


def _built(raw: dict[str, Any]) -> Lexicon:
    for kind in raw["kinds"].values():
        kind["colours"] = _members(kind["colours"], raw["colour_groups"])
        kind["also"] = _members(kind.get("also", ()), raw["colour_groups"])
        kind["lives"] = _members(kind["lives"], raw["setting_groups"])
    concepts = _records(Concept, raw["categories"], named=True)
    return Lexicon(
        concepts=concepts | (kinds := _records(Kind, raw["kinds"], named=True)),
        kinds=kinds,
        actions={name: _action(name, row) for name, row in raw["actions"].items()},
        colours=_records(Colour, raw["colours"]),
        sizes=_records(Size, raw["sizes"]),
        settings=_records(Setting, raw["settings"]),
        setting_groups=_frozen(raw["setting_groups"]),
        sides=_frozen(raw["sides"]),
        times=_records(Time, raw["times"]),
        weathers=_records(Weather, raw["weathers"]),
        counts=tuple(raw["counts"]["words"]),
        plurals=raw["plurals"],
    )


def _records(
    record: Callable[..., Record], table: Mapping[str, Any], named: bool = False
) -> dict[str, Record]:
    names = ({"name": name} if named else {} for name in table)
    rows = zip(table.items(), names, strict=True)
    return {name: record(**first, **_frozen(row)) for (name, row), first in rows}


def _frozen(row: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(v) if isinstance(v, list) else v for key, v in row.items()}


def _members(names: Sequence[str], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """The names, each group replaced by its members, without doubles."""
    return list(dict.fromkeys(m for name in names for m in groups.get(name, (name,))))


def _action(name: str, row: dict[str, Any]) -> Action:
    row = dict(row)
    says = tuple(
        Wording(tuple(wording.get("verb", "").split()), wording.get("preposition", ""))
        for wording in row.pop("says")
    )
    entailed = (text.split() for text in row.pop("entails", ()))
    inverse = row.pop("inverse", name if row.pop("symmetric", False) else "")
    entails = tuple((first, tuple(roles)) for first, *roles in entailed)
    return Action(name, says, entails=entails, inverse=inverse, **_frozen(row))
