"""Pairs of concepts, of which the first does or does not lie above the second (Vendrov 2016, 3.2).

Two protocols over the same hierarchy. `paper` is that of the paper's released code: an edge of the
transitive closure counts as often as there are paths for it, a wrong pair is a right one with one
side replaced by any concept at all. So about one in five test edges also stands in train, and one
in seven wrong pairs is in truth right: who knows everything is right in about 93 percent. `clean`:
every edge once, wrong pairs are wrong, and what is held out by either protocol stands not in
train, so that a model that learnt by `clean` may be measured by both. A hierarchy that is too small
to hold anything out is learnt and measured `whole`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from vsdemo.core.errors import UserError
from vsdemo.data.pairs import wordnet
from vsdemo.data.pairs.wordnet import NAME, Taxonomy

PROTOCOLS = ("paper", "clean")
WHOLE = "whole"
HELD_OUT = 4000  # edges for dev, and as many for test; a twentieth where there are few
FEWEST, MOST = 200, 2000  # edges to hold some out of, concepts to be measured whole
SEED = 0  # of the splits


@dataclass(frozen=True)
class LabelledPairs:
    """pairs: (N, 2) numbers of concepts, general and specific; true: (N,)."""

    pairs: np.ndarray
    true: np.ndarray


@dataclass(frozen=True)
class EdgeSet:
    """A set of pairs (N, 2) that tells quickly which others it holds; concepts: how many."""

    codes: np.ndarray
    concepts: int

    @classmethod
    def of(cls, pairs: np.ndarray, concepts: int) -> EdgeSet:
        return cls(np.unique(_codes(pairs, concepts)), concepts)

    def contains(self, pairs: np.ndarray) -> np.ndarray:
        """(N,) which of these it holds."""
        codes = _codes(pairs, self.concepts)
        if not len(self.codes):
            return np.zeros(len(codes), bool)
        place = np.searchsorted(self.codes, codes).clip(max=len(self.codes) - 1)
        return self.codes[place] == codes


@dataclass(frozen=True)
class Split:
    """train: (T, 2) edges to learn from; dev and test: as many wrong pairs as edges. known: where
    wrong pairs to learn from must not come from, None where they may come from anywhere."""

    hierarchy: Taxonomy
    train: np.ndarray
    dev: LabelledPairs
    test: LabelledPairs
    known: EdgeSet | None

    def negatives(self, pairs: np.ndarray, draw: np.random.Generator) -> np.ndarray:
        """Wrong pairs to learn from, one for each of these."""
        return corrupt(pairs, len(self.hierarchy.names), draw, self.known)


def _codes(pairs: np.ndarray, concepts: int) -> np.ndarray:
    return pairs[:, 0].astype(np.int64) * concepts + pairs[:, 1]


def corrupt(
    pairs: np.ndarray, concepts: int, draw: np.random.Generator, never: EdgeSet | None = None
) -> np.ndarray:
    """(N, 2) each pair with one side, by lot, replaced by a concept drawn from all; both are drawn
    anew as long as the pair is one of `never`: nothing makes a wrong pair of what is above all."""
    found, todo = pairs.copy(), np.arange(len(pairs))
    while len(todo):
        found[todo] = pairs[todo]
        found[todo, draw.integers(0, 2, len(todo))] = draw.integers(0, concepts, len(todo))
        todo = todo[never.contains(found[todo])] if never else todo[:0]
    return found


def protocols(dataset: str = NAME) -> tuple[str, ...]:
    """Those that a hierarchy is large enough for."""
    return PROTOCOLS if len(load(dataset).closure()) >= FEWEST else (WHOLE,)


@lru_cache(maxsize=2)
def split(protocol: str, dataset: str = NAME) -> Split:
    """The split of a hierarchy by one of PROTOCOLS or WHOLE, the same each time.

    dataset: `wordnet`, `toy`, or the path of a hierarchy of one's own (`wordnet.read`).
    Raises UserError for another protocol or one that the hierarchy is too small or too large for,
    and when files are missing or damaged.
    """
    if protocol not in (*PROTOCOLS, WHOLE):
        raise UserError(f"There is no protocol {protocol!r}; valid are {', '.join(PROTOCOLS)}.")
    hierarchy = load(dataset)
    concepts, rows = len(hierarchy.names), hierarchy.paths()
    every = np.unique(rows, axis=0)
    if protocol == WHOLE:
        return _whole(hierarchy, every)
    if len(every) < FEWEST:
        raise UserError(
            f"{dataset} has {len(every)} pairs of which one lies above the other, too few of its "
            f"{concepts} concepts to hold some out; set protocol={WHOLE}."
        )
    size = min(HELD_OUT, len(every) // 20)
    by_path = [rows[part] for part in _parts(len(rows), size)]
    if protocol == "paper":
        return _assembled(hierarchy, by_path, None)
    edges = [every[part] for part in _parts(len(every), size)]
    held_out = EdgeSet.of(np.concatenate([*edges[:2], *by_path[:2]]), concepts)
    edges[2] = every[~held_out.contains(every)]
    return _assembled(hierarchy, edges, EdgeSet.of(every, concepts))


def _whole(hierarchy: Taxonomy, every: np.ndarray) -> Split:
    """All edges to learn from; measured on these and on all other pairs."""
    concepts = len(hierarchy.names)
    if concepts > MOST or not len(every):
        raise UserError(
            f"From 2 to {MOST:,} concepts, some above others, can be measured whole; here are "
            f"{concepts:,} with {len(every):,} pairs, so choose protocol={PROTOCOLS[1]}."
        )
    pairs = np.argwhere(~np.eye(concepts, dtype=bool))
    known = EdgeSet.of(every, concepts)
    every_pair = LabelledPairs(pairs, known.contains(pairs))
    return Split(hierarchy, every, every_pair, every_pair, known)


def load(dataset: str) -> Taxonomy:
    """`wordnet`, `toy`, a handful of its concepts, or the hierarchy in this file."""
    if dataset == NAME:
        return wordnet.load()
    return wordnet.read(Path(__file__).with_name("toy.tsv") if dataset == "toy" else Path(dataset))


def _parts(count: int, size: int) -> list[np.ndarray]:
    """Numbers of what belongs to test, dev and train."""
    return np.split(np.random.default_rng(SEED).permutation(count), [size, 2 * size])


def _assembled(hierarchy: Taxonomy, parts: list[np.ndarray], truth: EdgeSet | None) -> Split:
    """truth: all edges where wrong pairs have to be wrong."""
    draw, concepts = np.random.default_rng(SEED + 1), len(hierarchy.names)
    test, dev = (
        LabelledPairs(
            np.concatenate([right, corrupt(right, concepts, draw, truth)]),
            np.arange(2 * len(right)) < len(right),
        )
        for right in parts[:2]
    )
    # Wrong pairs to learn from may be held-out edges, as nobody can know these.
    known = EdgeSet.of(parts[2], concepts) if truth else None
    return Split(hierarchy, parts[2], dev, test, known)


def infer_from_closure(split: Split, asked: LabelledPairs) -> np.ndarray:
    """(N,) which pairs lie in the transitive closure of the edges of train and, where others are
    asked for, of dev: the baseline that learns nothing (Vendrov 2016, section 3.4)."""
    dev = split.dev.pairs[split.dev.true]
    given = split.train if asked is split.dev else np.concatenate([split.train, dev])
    given = np.unique(given, axis=0)
    general, specific = given[given[:, 1].argsort(kind="stable")].T
    starts = np.searchsorted(specific, np.arange(len(split.hierarchy.names) + 1))
    found: dict[int, set[int]] = {}
    for number in np.unique(asked.pairs[:, 1]).tolist():
        above, todo = set[int](), [number]
        while todo:
            at = todo.pop()
            new = set(general[starts[at] : starts[at + 1]].tolist()) - above
            above |= new
            todo += new
        found[number] = above
    return np.array([g in found[s] for g, s in asked.pairs.tolist()])
