"""Pairs of concepts, labelled by whether the first is a hypernym of the second (Vendrov 2016, 3.2).

There are two protocols over the same taxonomy.

- `paper` is that of the paper's released code. An edge of the transitive closure counts once per
  path, and a negative is a positive with one side replaced by any concept. About one in five test
  edges is therefore also in train, and one in seven negatives is in truth a positive, so that
  perfect knowledge reaches about 93 percent.
- `clean` has every edge once, and its negatives are true negatives. An edge that either protocol
  holds out is not in train, so a model trained by `clean` can be measured by both.

A taxonomy that is too small to hold anything out is both learnt and measured as a `whole`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from vsdemo.core.errors import UserError
from vsdemo.data import packaged
from vsdemo.data.pairs import wordnet
from vsdemo.data.pairs.wordnet import Taxonomy

PROTOCOLS = ("paper", "clean")
WHOLE = "whole"
HELD_OUT = 4000  # edges for dev and for test each; a twentieth of small taxonomies
MIN_EDGES = 200  # needed to hold some of them out
MAX_WHOLE = 2000  # concepts of which all pairs are measured
SEED = 0  # of the splits
TOY = Path(__file__).with_name("toy.tsv")


@dataclass(frozen=True)
class LabelledPairs:
    """N pairs of concepts.

    Args:
        pairs: `(N, 2)`, indices of the general and the specific concept.
        true: `(N,)`, whether the first is a hypernym of the second.
    """

    pairs: np.ndarray
    true: np.ndarray


@dataclass(frozen=True)
class EdgeSet:
    """A set of pairs with fast tests for membership.

    Args:
        codes: `(E,)`, sorted; one number per pair.
        concepts: The number of concepts.
    """

    codes: np.ndarray
    concepts: int

    @classmethod
    def of(cls, pairs: np.ndarray, concepts: int) -> EdgeSet:
        """Return the set of pairs `(N, 2)`."""
        return cls(np.unique(_codes(pairs, concepts)), concepts)

    def contains(self, pairs: np.ndarray) -> np.ndarray:
        """Return which of the pairs `(N, 2)` are in the set, `(N,)`."""
        codes = _codes(pairs, self.concepts)
        if not len(self.codes):
            return np.zeros(len(codes), bool)
        place = np.searchsorted(self.codes, codes).clip(max=len(self.codes) - 1)
        contained: np.ndarray = self.codes[place] == codes
        return contained


@dataclass(frozen=True)
class Split:
    """A taxonomy's pairs to train and to evaluate on.

    Args:
        taxonomy: The taxonomy.
        train: `(T, 2)`, edges to learn from.
        dev: As many negatives as edges.
        test: As many negatives as edges.
        never_negative: Pairs that negatives for training are not drawn from, if any.
    """

    taxonomy: Taxonomy
    train: np.ndarray
    dev: LabelledPairs
    test: LabelledPairs
    never_negative: EdgeSet | None

    def negatives(self, pairs: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw one negative to learn from for each pair, `(N, 2)`."""
        return corrupt(pairs, len(self.taxonomy.names), rng, self.never_negative)


def _codes(pairs: np.ndarray, concepts: int) -> np.ndarray:
    codes: np.ndarray = pairs[:, 0].astype(np.int64) * concepts + pairs[:, 1]
    return codes


def corrupt(
    pairs: np.ndarray, concepts: int, rng: np.random.Generator, never: EdgeSet | None = None
) -> np.ndarray:
    """Replace one random side of each pair by a random concept, `(N, 2)`.

    Both the side and the concept are drawn again while the pair is in `never`. Drawing only the
    concept again would not end for a concept above all others.
    """
    corrupted = pairs.copy()
    pending = np.arange(len(pairs))
    while len(pending):
        corrupted[pending] = pairs[pending]
        # Saved models and their metrics depend on the order of these two draws.
        replacements = rng.integers(0, concepts, len(pending))
        sides = rng.integers(0, 2, len(pending))
        corrupted[pending, sides] = replacements
        pending = pending[never.contains(corrupted[pending])] if never else pending[:0]
    return corrupted


def infer(pairs: np.ndarray, concepts: int) -> EdgeSet:
    """Return the pairs (N, 2) and all that follow from them by transitivity."""
    codes = np.unique(_codes(pairs, concepts))
    while True:
        general, specific = np.divmod(codes, concepts)  # sorted by the general concept
        starts, ends = (np.searchsorted(general, specific, side) for side in ("left", "right"))
        counts = ends - starts  # pairs (b, c) for each pair (a, b)
        first = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) + np.repeat(starts - first, counts)
        implied = np.repeat(general, counts) * concepts + specific[places]
        more = np.union1d(codes, implied)
        if len(more) == len(codes):
            return EdgeSet(codes, concepts)
        codes = more


def protocols(dataset: str = wordnet.NAME) -> tuple[str, ...]:
    """Return the protocols that a taxonomy is large enough for."""
    return PROTOCOLS if len(load(dataset).closure()) >= MIN_EDGES else (WHOLE,)


@lru_cache(maxsize=2)
def split(protocol: str, dataset: str = wordnet.NAME) -> Split:
    """Return the split of a taxonomy, the same each time.

    Args:
        protocol: One of `PROTOCOLS`, or `WHOLE`.
        dataset: As `load` takes it.

    Raises:
        UserError: There is no such protocol, the taxonomy is too small or too large for it, or
            files are missing or malformed.
    """
    if protocol not in (*PROTOCOLS, WHOLE):
        raise UserError(f"There is no protocol {protocol!r}; use one of {', '.join(PROTOCOLS)}.")
    taxonomy = load(dataset)
    paths = taxonomy.paths()
    closure = np.unique(paths, axis=0)
    if protocol == WHOLE:
        return _whole(taxonomy, closure)
    concepts = len(taxonomy.names)
    if len(closure) < MIN_EDGES:
        raise UserError(
            f"{dataset} has {len(closure)} pairs of a concept and a hypernym among its {concepts} "
            f"concepts, too few to hold some out; set protocol={WHOLE}."
        )
    size = min(HELD_OUT, len(closure) // 20)
    path_test, path_dev, path_train = (paths[rows] for rows in _partition(len(paths), size))
    if protocol == "paper":
        return _with_negatives(
            taxonomy, train=path_train, dev=path_dev, test=path_test, closure=None
        )
    test, dev = (closure[rows] for rows in _partition(len(closure), size)[:2])
    held_out = EdgeSet.of(np.concatenate([test, dev, path_test, path_dev]), concepts)
    train = closure[~held_out.contains(closure)]
    return _with_negatives(
        taxonomy, train=train, dev=dev, test=test, closure=EdgeSet.of(closure, concepts)
    )


def _whole(taxonomy: Taxonomy, closure: np.ndarray) -> Split:
    """Train on all edges; evaluate on them and on all other pairs."""
    concepts = len(taxonomy.names)
    if concepts > MAX_WHOLE or not len(closure):
        raise UserError(
            f"A whole taxonomy has 2 to {MAX_WHOLE:,} concepts, some of them hypernyms of others; "
            f"this one has {concepts:,} concepts and {len(closure):,} such pairs, so choose "
            f"protocol={PROTOCOLS[1]}."
        )
    edges = EdgeSet.of(closure, concepts)
    pairs = np.argwhere(~np.eye(concepts, dtype=bool))
    every_pair = LabelledPairs(pairs, edges.contains(pairs))
    return Split(taxonomy, closure, dev=every_pair, test=every_pair, never_negative=edges)


def load(dataset: str) -> Taxonomy:
    """Return a taxonomy.

    Args:
        dataset: `wordnet`, `toy` (a handful of its concepts), or the path of a file in the format
            of `wordnet.read`.
    """
    if dataset == wordnet.NAME:
        return wordnet.load()
    if dataset == "toy":
        packaged.check(TOY)
        return wordnet.read(TOY)
    return wordnet.read(Path(dataset))


def _partition(count: int, size: int) -> list[np.ndarray]:
    """Return the row numbers of test, dev and train."""
    return np.split(np.random.default_rng(SEED).permutation(count), [size, 2 * size])


def _with_negatives(
    taxonomy: Taxonomy,
    *,
    train: np.ndarray,
    dev: np.ndarray,
    test: np.ndarray,
    closure: EdgeSet | None,
) -> Split:
    """Add as many negatives to dev and test; true negatives if the closure is given."""
    concepts = len(taxonomy.names)
    rng = np.random.default_rng(SEED + 1)

    def labelled(positives: np.ndarray) -> LabelledPairs:
        negatives = corrupt(positives, concepts, rng, closure)
        true = np.arange(2 * len(positives)) < len(positives)
        return LabelledPairs(np.concatenate([positives, negatives]), true)

    labelled_test = labelled(test)
    labelled_dev = labelled(dev)
    # Training negatives may be held-out edges, because nothing in train reveals those.
    never_negative = EdgeSet.of(train, concepts) if closure else None
    return Split(taxonomy, train, labelled_dev, labelled_test, never_negative)


def infer_from_closure(split: Split, pairs: LabelledPairs) -> np.ndarray:
    """Return which pairs are in the transitive closure of the known edges, `(N,)`.

    The known edges are those of train and, unless `pairs` is dev, of dev. This is the baseline
    that learns nothing (Vendrov 2016, section 3.4).
    """
    dev = split.dev.pairs[split.dev.true]
    known = split.train if pairs is split.dev else np.concatenate([split.train, dev])
    known = np.unique(known, axis=0)
    general, specific = known[known[:, 1].argsort(kind="stable")].T
    starts = np.searchsorted(specific, np.arange(len(split.taxonomy.names) + 1))
    ancestors: dict[int, set[int]] = {}
    for concept in np.unique(pairs.pairs[:, 1]).tolist():
        above: set[int] = set()
        pending = [concept]
        while pending:
            current = pending.pop()
            new = set(general[starts[current] : starts[current + 1]].tolist()) - above
            above |= new
            pending += new
        ancestors[concept] = above
    return np.array([g in ancestors[s] for g, s in pairs.pairs.tolist()])
