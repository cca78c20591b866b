"""The lexicon of Storybook: `lexicon.toml` and questions about its entries."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from vsdemo.core.checksums import DamagedFile
from vsdemo.core.errors import UserError
from vsdemo.data import packaged
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
FUNCTION_WORDS = ("a", "an", "and", "are", "being", "is", "some", "there")  # of captions
MEDIUM = {"fly": "air", "swim": "water", "float": "surface"}  # by pose; for others: ground

Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Lexicon:
    """The tables of `lexicon.toml`, by name. `sides` are `outdoors` and `indoors`."""

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

    def ancestors(self, name: str) -> Iterator[str]:
        """Yield the concepts above a concept, nearest first."""
        while name := self.concepts[name].parent:
            yield name

    def is_a(self, name: str, concept: str) -> bool:
        """Return whether a concept is another one or lies below it."""
        return name == concept or concept in self.ancestors(name)

    def named_concept(self, kind: str) -> str:
        """Return the concept whose noun a kind is called by: for an oak, `tree`."""
        return kind if self.concepts[kind].nouns else self.concepts[kind].parent

    def hypernyms(self, kind: str) -> list[str]:
        """Return the concepts with a noun above `named_concept(kind)`, nearest first."""
        ancestors = self.ancestors(self.named_concept(kind))
        return [name for name in ancestors if self.concepts[name].nouns]

    def side(self, setting: str) -> str:
        """Return `outdoors` or `indoors`."""
        return next(side for side in self.sides if setting in self.setting_groups[side])

    def wears_colour(self, name: str) -> bool:
        """Return whether a concept's colour is that of its clothes: a woman in red."""
        return any(self.concepts[n].wears_colour for n in (name, *self.ancestors(name)))

    def allows(self, action: str, subject: str, object: str | None = None) -> bool:
        """Return whether an action of one kind, or between two, makes sense and can be drawn."""
        entry = self.actions[action]
        has_pose = not entry.poses or bool(set(entry.poses) & set(self.kinds[subject].poses))
        able = has_pose and (
            not entry.subjects or any(self.is_a(subject, name) for name in entry.subjects)
        )
        if object is None or not able:
            return able and not entry.takes_object
        is_object = not entry.objects or any(self.is_a(object, name) for name in entry.objects)
        affords = (
            not entry.object_affordance or entry.object_affordance in self.kinds[object].affordances
        )
        return entry.takes_object and is_object and affords

    def words(self) -> tuple[str, ...]:
        """Return all words of captions, each once."""
        phrases = [*FUNCTION_WORDS, *self.counts, *self.colours]
        for concept in self.concepts.values():
            phrases += [concept.pronoun, *concept.nouns, *map(self.plural, concept.nouns)]
        for action in self.actions.values():
            for wording in action.wordings:
                phrases += [*wording.verb, wording.preposition]
        for setting in self.settings.values():
            phrases += [*setting.ground, *setting.air, *setting.water]
            phrases += [*setting.surface, *setting.along]
        for size in self.sizes.values():
            phrases += size.words
        for time in self.times.values():
            phrases += time.phrases
        for weather in self.weathers.values():
            phrases += weather.phrases
        phrases += [phrase for side in self.sides.values() for phrase in side]
        return tuple(dict.fromkeys(word for phrase in phrases for word in phrase.split()))

    def posture(self, kind: str, pose: str) -> str | None:
        """Return the action that a pose alone shows, such as `sits`."""
        for name, action in self.actions.items():
            if action.posture and pose in action.poses and self.allows(name, kind):
                return name
        return None

    def plural(self, noun: str) -> str:
        """Return the plural of a noun of one or more words: loaves of bread, teddy bears.

        A library such as inflect has other plurals for some of these nouns (cacti), so the lexicon
        has the irregular ones, and the rest follows three rules.
        """
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
    """Return the index of a noun's head: the word before `of`, or the last."""
    return (words.index("of") if "of" in words else len(words)) - 1


def medium(pose: str) -> str:
    """Return where a thing in this pose is: `air`, `water`, `surface` or `ground`."""
    return MEDIUM.get(pose, "ground")


@cache
def load_lexicon() -> Lexicon:
    """Return the lexicon, which is read once.

    Raises:
        UserError: If the file is damaged.
    """
    try:
        return _parse(tomllib.loads(packaged.read_text(FILE)))
    except DamagedFile:
        raise
    except (ValueError, LookupError, TypeError) as error:
        raise UserError(f"{FILE} is damaged ({error}); restore it with git.") from None


def _parse(tables: dict[str, Any]) -> Lexicon:
    for kind in tables["kinds"].values():
        kind["colours"] = _expand(kind["colours"], tables["colour_groups"])
        kind["extra_colours"] = _expand(kind.get("extra_colours", ()), tables["colour_groups"])
        kind["settings"] = _expand(kind["settings"], tables["setting_groups"])
    kinds = _named_entries(Kind, tables["kinds"])
    return Lexicon(
        concepts=_named_entries(Concept, tables["categories"]) | kinds,
        kinds=kinds,
        actions={name: _parse_action(name, row) for name, row in tables["actions"].items()},
        colours=_entries(Colour, tables["colours"]),
        sizes=_entries(Size, tables["sizes"]),
        settings=_entries(Setting, tables["settings"]),
        setting_groups=_with_tuples(tables["setting_groups"]),
        sides=_with_tuples(tables["sides"]),
        times=_entries(Time, tables["times"]),
        weathers=_entries(Weather, tables["weathers"]),
        counts=tuple(tables["counts"]["words"]),
        plurals=tables["plurals"],
    )


def _entries(entry: Callable[..., Entry], table: Mapping[str, Any]) -> dict[str, Entry]:
    return {name: entry(**_with_tuples(row)) for name, row in table.items()}


def _named_entries(entry: Callable[..., Entry], table: Mapping[str, Any]) -> dict[str, Entry]:
    return {name: entry(name=name, **_with_tuples(row)) for name, row in table.items()}


def _with_tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with tuples for its lists."""
    return {key: tuple(v) if isinstance(v, list) else v for key, v in row.items()}


def _expand(names: Sequence[str], groups: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names, each group replaced by its members, without duplicates."""
    members = [member for name in names for member in groups.get(name, (name,))]
    return list(dict.fromkeys(members))


def _parse_action(name: str, row: dict[str, Any]) -> Action:
    row = dict(row)
    wordings = tuple(
        Wording(
            verb=tuple(wording.get("verb", "").split()),
            preposition=wording.get("preposition", ""),
        )
        for wording in row.pop("wordings")
    )
    symmetric = row.pop("symmetric", False)
    inverse = row.pop("inverse", name if symmetric else "")
    entails = []
    for text in row.pop("entails", ()):
        entailed, *roles = text.split()
        entails.append((entailed, tuple(roles)))
    return Action(
        name=name,
        wordings=wordings,
        entails=tuple(entails),
        inverse=inverse,
        **_with_tuples(row),
    )
