"""Captions of one photo with and without a verb, and of different lengths (Socher 2014, 6.6).

For each pair of captions of one photo, the rank at which one finds the other among all other
captions of the split, averaged over both directions. Pairs are grouped by whether both, one or
none has a verb: a word that the parser tags VERB, so "a dog running" has one and "a dog is on the
beach" has none. Pairs in which both captions have a verb, or neither has one, are also grouped
by their lengths.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.sentences import DEP_TREE, add_trees
from vsdemo.data.text.vocab import tokenize
from vsdemo.evaluation.metrics import caption_scores
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.metrics.pairs import photos_of, times_drawn
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.models.dual_encoder import DualEncoder

KINDS = ("none", "one", "both")  # of the two captions has a verb
MIN_DIFFERENCE = 5  # words between the lengths of two captions of different length
WORST = 10  # pairs that are listed


def has_verb(split: CaptionSet) -> list[bool]:
    """Return whether each caption has a verb."""
    sentences = add_trees([Sentence(caption) for caption in split.captions], DEP_TREE)
    return [s.tree is not None and "VERB" in s.tree.tags for s in sentences]


def pair_ranks(model: DualEncoder, split: CaptionSet) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Return the N pairs of captions of one photo, and the mean rank of each, (N,)."""
    captions = caption_scores.encode(model, split)
    pairs = [pair for of_photo in split.captions_of for pair in combinations(of_photo, 2)]
    queries, wanted = torch.tensor(pairs + [(b, a) for a, b in pairs]).T
    rank = torch.empty(len(queries))
    for rows, scores in caption_scores.blocks(model, captions):
        in_block = (queries >= rows.start) & (queries < rows.stop)
        query_scores = scores[queries[in_block] - rows.start]  # (Q, C)
        own = query_scores.gather(1, wanted[in_block, None])
        higher = (query_scores > own).sum(1)
        tied = (query_scores == own).sum(1) - 1
        rank[in_block] = 1 + higher + tied / 2
    return pairs, rank.view(2, -1).mean(0).numpy()


@dataclass(frozen=True)
class VerbRanks:
    """Mean ranks of pairs.

    Args:
        pairs: The N pairs of caption numbers.
        photo: (N,) number of the photo of each pair.
        rank: (N,) mean rank of each pair.
        kind: (N,) index into KINDS.
        length_difference: (N,) difference of the two lengths, in words.
    """

    pairs: list[tuple[int, int]]
    photo: np.ndarray
    rank: np.ndarray
    kind: np.ndarray
    length_difference: np.ndarray

    def __len__(self) -> int:
        """Return the number of photos."""
        return int(self.photo.max()) + 1

    @property
    def groups(self) -> dict[str, np.ndarray]:
        """(N,) which pairs are in each group; those by length have no pair with one verb."""
        same = self.kind != KINDS.index("one")
        return {
            **{name: self.kind == number for number, name in enumerate(KINDS)},
            "similar_length": same & (self.length_difference < MIN_DIFFERENCE),
            "different_length": same & (self.length_difference >= MIN_DIFFERENCE),
        }

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, float]:
        """Return the mean rank of each group; `gap`, `one` minus `both`; and `length_gap`.

        The latter is `different_length` minus `similar_length`. The pairs of a photo are drawn
        together, as their ranks depend on each other. A group that is not in the sample has the
        mean of all its pairs.
        """
        times = times_drawn(self.photo, photos)
        means = {}
        for name, of_group in self.groups.items():
            if of_group.any():
                weights = times[of_group] if times[of_group].any() else None
                means[name] = float(np.average(self.rank[of_group], weights=weights))
        for gap, more, less in (
            ("gap", "one", "both"),
            ("length_gap", "different_length", "similar_length"),
        ):
            if {more, less} <= means.keys():
                means[gap] = means[more] - means[less]
        return means


@dataclass(frozen=True)
class Verbs(PairedTask):
    """Mean ranks of captions with and without a verb, and by length; lower is better."""

    name: ClassVar[str] = "verbs"
    needs: ClassVar[frozenset[str]] = frozenset({"photos"})
    primary: ClassVar[str] = "one"

    def measure(self, model: DualEncoder, data: PhotoData) -> VerbRanks:
        """Return the mean rank of each pair."""
        verb = has_verb(data.split)
        length = [len(tokenize(caption)) for caption in data.split.captions]
        pairs, rank = pair_ranks(model, data.split)
        return VerbRanks(
            pairs,
            photo=photos_of(pairs, data.split),
            rank=rank,
            kind=np.array([verb[a] + verb[b] for a, b in pairs]),
            length_difference=np.array([abs(length[a] - length[b]) for a, b in pairs]),
        )

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return the mean rank of each group, the gaps, n_pairs, and ci95 over the photos.

        `worst` lists the pairs with the highest ranks.
        """
        ranks = self.measure(model, data)
        result = with_intervals(ranks)
        ci95 = result.pop("ci95")
        counts = {name: int(group.sum()) for name, group in ranks.groups.items()}
        return {**result, "n_pairs": counts, "worst": _worst(ranks, data.split), "ci95": ci95}


def _worst(ranks: VerbRanks, split: CaptionSet) -> list[dict[str, Any]]:
    return [
        {
            "captions": [split.captions[number] for number in ranks.pairs[row]],
            "verbs": KINDS[ranks.kind[row]],
            "rank": float(ranks.rank[row]),
        }
        for row in np.argsort(-ranks.rank, kind="stable")[:WORST]
    ]
