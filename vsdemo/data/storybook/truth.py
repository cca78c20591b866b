"""Which facts follow from which, for many at once: `facts.entails` as operations on arrays.

Whether many sentences are true of many pictures, as far as it is known:

    facts = fact_table([facts_of(scene) for scene in scenes])
    shown = fact_table([visible_facts(scene) for scene in scenes])
    labels(sentence_table(sentences), facts, shown)  # TRUE, FALSE or UNDECIDED
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from vsdemo.data.storybook.facts import Facts, closure
from vsdemo.data.storybook.lexicon import load_lexicon
from vsdemo.data.storybook.typed import TypedSentence

MAX_GENERAL = 2  # things that a general sentence names
UNKNOWN = -1
BLOCK = 1 << 20  # pairs that are compared at once
TRUE, FALSE, UNDECIDED = 1, 0, -1  # labels of a sentence and a picture


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

    @staticmethod
    def cat(tables: Sequence[FactTable]) -> FactTable:
        """Join tables of one width."""
        names = vars(tables[0])
        return FactTable(**{n: np.concatenate([vars(t)[n] for t in tables]) for n in names})

    @property
    def things(self) -> np.ndarray:
        """How many things each of the facts has, (N,)."""
        counts: np.ndarray = (self.concept != UNKNOWN).sum(1)
        return counts


def fact_table(facts: Sequence[Facts], least: int = 1) -> FactTable:
    """Return facts as arrays, as wide as the longest of them needs, but at least `least`."""
    words, numbers = load_lexicon(), _numbers()
    size = max([len(each.things) for each in facts] + [least])
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


@dataclass(frozen=True)
class SentenceTable:
    """N sentences.

    Attributes:
        facts: What they state.
        absent: What they say is absent; empty facts if there is nothing.
        denies: (N,), whether there is something.
    """

    facts: FactTable
    absent: FactTable
    denies: np.ndarray

    def __len__(self) -> int:
        """Return N."""
        return len(self.denies)

    def rows(self, index: np.ndarray | slice) -> SentenceTable:
        """Return some of the sentences."""
        return SentenceTable(self.facts.rows(index), self.absent.rows(index), self.denies[index])

    @staticmethod
    def cat(tables: Sequence[SentenceTable]) -> SentenceTable:
        """Join tables."""
        return SentenceTable(
            facts=FactTable.cat([table.facts for table in tables]),
            absent=FactTable.cat([table.absent for table in tables]),
            denies=np.concatenate([table.denies for table in tables]),
        )


def sentence_table(sentences: Sequence[TypedSentence]) -> SentenceTable:
    """Return sentences as arrays.

    Raises:
        ValueError: A sentence says of more than one thing that it is absent.
    """
    if any(len(sentence.absent) > 1 for sentence in sentences):
        raise ValueError("a sentence denies one fact at most")
    return SentenceTable(
        facts=fact_table([sentence.facts for sentence in sentences], MAX_GENERAL),
        absent=fact_table([(*s.absent, Facts(()))[0] for s in sentences], MAX_GENERAL),
        denies=np.array([bool(sentence.absent) for sentence in sentences], bool),
    )


def labels(sentences: SentenceTable, facts: FactTable, shown: FactTable) -> np.ndarray:
    """Return whether each sentence is true of each picture, (N, P), as int8.

    A sentence is `TRUE` if what it states follows from the facts, and nothing that it denies is
    visible. It is `FALSE` if what it states is not even visible, or what it denies is a fact.
    Everything in between is `UNDECIDED`.

    Args:
        sentences: N sentences of at most two things each.
        facts: Facts of P scenes, see `facts_of`.
        shown: What the pictures of these scenes may show, see `visible_facts`.

    Raises:
        ValueError: A sentence has more things.
    """
    result = np.full((len(sentences), len(facts)), UNDECIDED, np.int8)
    result[~entailed(shown, sentences.facts)] = FALSE
    result[entailed(facts, sentences.facts)] = TRUE
    denying = np.flatnonzero(sentences.denies)
    absent, of_denying = sentences.absent.rows(denying), result[denying]
    of_denying[(of_denying == TRUE) & entailed(shown, absent)] = UNDECIDED
    of_denying[entailed(facts, absent)] = FALSE
    result[denying] = of_denying
    return result


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
    first = _matches(specific, general, 0)  # (G, T, S)
    some = first.any(1)
    count = general.things[:, None]
    if general.concept.shape[1] == 1:
        result &= some | (count == 0)
        return result
    second = _matches(specific, general, 1)
    # Two different things can stand for both: each has one, and together they have several.
    pair = some & second.any(1) & ((first | second).sum(1, dtype=np.uint8) > 1)
    linked = np.flatnonzero(general.joint[:, 0, 1] | general.joint[:, 1, 0])
    pair[linked] = _linked(specific, general.rows(linked), first[linked], second[linked])
    result &= np.where(count == 0, True, np.where(count == 1, some, pair))
    return result


def _linked(
    specific: FactTable, general: FactTable, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Return whether two things of each specific fact match and are linked as wanted, (G, S).

    Args:
        specific: S facts.
        general: G facts of two linked things.
        first: Which of the specific things match the first general thing, (G, T, S).
        second: The same for the second general thing.
    """
    known = specific.joint_known
    result = np.zeros((len(general), len(specific)), bool)
    for one, other in np.argwhere((known | known.swapaxes(1, 2)).any(0)):
        both = first[:, one] & second[:, other]
        both &= _holds(general.joint[:, 0, 1, None], known[:, one, other])
        both &= _holds(general.joint[:, 1, 0, None], known[:, other, one])
        result |= both
    return result


def _circumstances_agree(specific: FactTable, general: FactTable) -> np.ndarray:
    place, *others = general.circumstances.T[..., None]  # (G, 1) each
    known_place, *known_others = specific.circumstances.T  # (S,) each
    result: np.ndarray = (place == UNKNOWN) | (place == known_place) | (place == specific.side)
    for wanted, known in zip(others, known_others, strict=True):
        result &= (wanted == UNKNOWN) | (wanted == known)
    return result


def _matches(specific: FactTable, general: FactTable, number: int) -> np.ndarray:
    """Return whether each specific thing is what a thing of each general fact is, (G, T, S)."""

    def wanted(name: str, rows: np.ndarray) -> np.ndarray:
        return getattr(general, name)[rows, number, None, None]  # type: ignore[no-any-return]

    below = _includes().take(specific.concept.T, 1)  # (C + 1, T, S)
    result: np.ndarray = below[general.concept[:, number]]
    several = np.flatnonzero(general.count[:, number] > 1)
    result[several] &= wanted("count", several) <= specific.count.T
    coloured = np.flatnonzero(general.colour[:, number] != UNKNOWN)
    result[coloured] &= wanted("colour", coloured) == specific.colour.T
    sized = np.flatnonzero(general.size[:, number] != UNKNOWN)
    same_size = wanted("size", sized) == specific.size.T
    result[sized] &= same_size & (wanted("named", sized) == specific.named.T)
    acting = np.flatnonzero(general.alone[:, number])
    result[acting] &= _holds(wanted("alone", acting), specific.alone_known.T)
    return result


def _holds(wanted: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return whether all wanted bits are among the known ones; shapes are broadcast."""
    result: np.ndarray = (wanted & ~known) == 0
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
def _includes() -> np.ndarray:
    """Return whether a concept is another one or lies above it, (C + 1, C + 1).

    The last row and column, which `UNKNOWN` stands for, are false.
    """
    words = load_lexicon()
    names = tuple(words.concepts)
    result = np.zeros((len(names) + 1, len(names) + 1), bool)
    result[:-1, :-1] = [[words.is_a(other, name) for other in names] for name in names]
    return result
