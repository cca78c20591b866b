"""Which facts follow from which, for many at once: `facts.entails` as operations on arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np

from vsdemo.data.storybook.facts import Facts, closure
from vsdemo.data.storybook.lexicon import load_lexicon

MAX_GENERAL = 2  # things that a general sentence names
UNKNOWN = -1
BLOCK = 1 << 24  # pairs that are compared at once


@dataclass(frozen=True)
class FactTable:
    """N facts, each with at most T things. Attributes are arrays of indices of names.

    A colour, size, place, time or weather that is not stated is `UNKNOWN`. Links are sets of
    actions as bits.

    Attributes:
        concept: (N, T), `UNKNOWN` for a missing thing.
        named: (N, T), the concept whose noun the thing is called by.
        count: (N, T), the least number of things.
        colour: (N, T).
        size: (N, T).
        alone: (N, T), stated actions without an object.
        joint: (N, T, T), stated actions of a thing with another one.
        alone_known: (N, T), like `alone`, with all that they entail.
        joint_known: (N, T, T), like `joint`, with all that they entail.
        circumstances: (N, 3), place, time and weather.
        side: (N,), whether the place is outdoors or indoors.
    """

    concept: np.ndarray
    named: np.ndarray
    count: np.ndarray
    colour: np.ndarray
    size: np.ndarray
    alone: np.ndarray
    joint: np.ndarray
    alone_known: np.ndarray
    joint_known: np.ndarray
    circumstances: np.ndarray
    side: np.ndarray

    def __len__(self) -> int:
        """Return N."""
        return len(self.concept)

    def rows(self, index: np.ndarray | slice) -> FactTable:
        """Return the facts of some rows."""
        return FactTable(**{name: array[index] for name, array in vars(self).items()})

    @property
    def things(self) -> np.ndarray:
        """How many things each of the facts has, (N,)."""
        counts: np.ndarray = (self.concept != UNKNOWN).sum(1)
        return counts


def fact_table(facts: Sequence[Facts]) -> FactTable:
    """Return facts as arrays, as wide as the longest of them needs."""
    words, numbers = load_lexicon(), _numbers()
    size = max([len(each.things) for each in facts] + [1])
    shape = (len(facts), size)
    things = {
        name: np.full(shape, UNKNOWN, np.int16)
        for name in ("concept", "named", "count", "colour", "size")
    }
    links = {
        name: np.zeros(shape if name.startswith("alone") else (*shape, size), np.uint64)
        for name in ("alone", "joint", "alone_known", "joint_known")
    }
    circumstances = np.full((len(facts), 3), UNKNOWN, np.int16)
    side = np.full(len(facts), UNKNOWN, np.int16)
    for row, each in enumerate(facts):
        for number, thing in enumerate(each.things):
            things["concept"][row, number] = numbers["concepts"][thing.concept]
            things["named"][row, number] = numbers["concepts"][words.named_concept(thing.concept)]
            things["count"][row, number] = thing.count
            things["colour"][row, number] = numbers["colours"].get(thing.colour or "", UNKNOWN)
            things["size"][row, number] = numbers["sizes"].get(thing.size or "", UNKNOWN)
        for suffix, stated in (("", each.links), ("_known", closure(each.links))):
            for link in stated:
                bit = np.uint64(1 << numbers["actions"][link.action])
                if link.object is None:
                    links["alone" + suffix][row, link.subject] |= bit
                else:
                    links["joint" + suffix][row, link.subject, link.object] |= bit
        tables = {"places": each.place, "times": each.time, "weathers": each.weather}
        circumstances[row] = [numbers[k].get(name or "", UNKNOWN) for k, name in tables.items()]
        if each.place is not None and each.place in words.settings:
            side[row] = numbers["places"][words.side(each.place)]
    return FactTable(**things, **links, circumstances=circumstances, side=side)


def entailed(specific: FactTable, general: FactTable) -> np.ndarray:
    """Return whether each general fact follows from each specific one, (G, S).

    Args:
        specific: S facts.
        general: G facts of at most two things each.

    Raises:
        ValueError: A general fact has more things.
    """
    if len(general) and general.things.max() > MAX_GENERAL:
        raise ValueError(f"a general sentence names at most {MAX_GENERAL} things")
    rows = max(1, BLOCK // max(1, len(specific)))
    blocks = [
        _entailed(specific, general.rows(slice(start, start + rows)))
        for start in range(0, len(general), rows)
    ]
    return np.concatenate(blocks) if blocks else np.zeros((0, len(specific)), bool)


def _entailed(specific: FactTable, general: FactTable) -> np.ndarray:
    result = _circumstances_agree(specific, general)  # (G, S)
    slots = range(specific.concept.shape[1])
    matches = [
        [_thing_entails(specific, general, slot, number) for slot in slots]
        for number in range(min(MAX_GENERAL, general.concept.shape[1]))
    ]  # of each general thing and each slot, (G, S)
    count = general.things[:, None]  # (G, 1)
    single = np.logical_or.reduce(matches[0])
    if len(matches) < MAX_GENERAL:
        result &= single | (count == 0)
        return result
    pair = np.zeros_like(result)
    for first, second in permutations(slots, 2):
        both = matches[0][first] & matches[1][second]
        both &= _holds(general.joint[:, 0, 1], specific.joint_known[:, first, second])
        both &= _holds(general.joint[:, 1, 0], specific.joint_known[:, second, first])
        pair |= both
    result &= np.where(count == 0, True, np.where(count == 1, single, pair))
    return result


def _circumstances_agree(specific: FactTable, general: FactTable) -> np.ndarray:
    wanted, known = general.circumstances[:, None], specific.circumstances[None]  # (., ., 3)
    agrees = (wanted == UNKNOWN) | (wanted == known)
    agrees[..., 0] |= wanted[..., 0] == specific.side
    every: np.ndarray = agrees.all(-1)
    return every


def _thing_entails(specific: FactTable, general: FactTable, slot: int, number: int) -> np.ndarray:
    """Return whether a thing of each specific fact is what a thing of each general one is."""

    def wanted(name: str) -> np.ndarray:
        return getattr(general, name)[:, number, None]  # type: ignore[no-any-return]

    def known(name: str) -> np.ndarray:
        return getattr(specific, name)[None, :, slot]  # type: ignore[no-any-return]

    concept, kind = wanted("concept"), known("concept")
    result: np.ndarray = _is_a()[kind, concept] & (concept != UNKNOWN) & (kind != UNKNOWN)
    result &= known("count") >= wanted("count")
    result &= (wanted("colour") == UNKNOWN) | (wanted("colour") == known("colour"))
    same_size = (known("named") == wanted("named")) & (wanted("size") == known("size"))
    result &= (wanted("size") == UNKNOWN) | same_size
    result &= _holds(general.alone[:, number], specific.alone_known[:, slot])
    return result


def _holds(wanted: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return whether all wanted bits (G,) are among the known ones (S,), (G, S)."""
    result: np.ndarray = (wanted[:, None] & ~known[None]) == 0
    return result


@cache
def _numbers() -> dict[str, dict[str, int]]:
    """Return the tables of the lexicon, each with a number for each of its names."""
    words = load_lexicon()
    tables: dict[str, Iterable[str]] = {
        "concepts": words.concepts,
        "actions": words.actions,
        "colours": words.colours,
        "sizes": words.sizes,
        "places": (*words.settings, *words.sides),
        "times": words.times,
        "weathers": words.weathers,
    }
    return {
        table: {name: number for number, name in enumerate(names)}
        for table, names in tables.items()
    }


@cache
def _is_a() -> np.ndarray:
    """Return whether a concept is another one or lies below it, (C, C)."""
    words = load_lexicon()
    names = tuple(words.concepts)
    return np.array([[words.is_a(name, other) for other in names] for name in names])
