"""Passives, reordered sentences and exchanged roles (Socher 2014, sections 1, 3 and 6).

The captions that `data.text.rewrites` can rewrite are paired with their rewrites. An original is
the query and ranks its rewrite among all other captions of the split, whatever photo they
describe, and no other rewrite. The rewrite with exchanged roles is a control: it has the words of
the original but another meaning, so a model that reads who does what puts the passive nearer. A bag
of words never does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text import rewrites
from vsdemo.data.text.sentences import DEP_TREE, add_trees
from vsdemo.evaluation.metrics.bootstrap import Measurement, Parts, with_intervals
from vsdemo.evaluation.metrics.ranks import best_ranks
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.models.dual_encoder import DualEncoder

KINDS = {
    "passive": rewrites.to_passive,
    "fronted": rewrites.front_place,
    "swapped": rewrites.swap_conjuncts,
    "reversed": rewrites.reverse_roles,
}
ROLES = "roles"  # the part of `Roles`
CHUNK = 1000  # queries in a block
EXAMPLES = 3  # listed of each kind


class Pair(NamedTuple):
    """A caption's number and a rewrite of the caption."""

    kind: str
    caption: int
    rewrite: str


class PairResults(NamedTuple):
    """For each pair, (N,): rank, the model's score, and nearer than any caption of the photo."""

    rank: np.ndarray
    similarity: np.ndarray
    nearer_than_fellows: np.ndarray

    def select(self, pairs: Any) -> PairResults:
        """Return the results of some pairs, by their numbers."""
        return PairResults(*(column[pairs] for column in self))


def find_pairs(split: CaptionSet) -> list[Pair]:
    """Return all pairs, kind by kind.

    Raises:
        UserError: No caption can be rewritten.
    """
    captions = [Sentence(caption) for caption in split.captions]
    sentences = add_trees(captions, DEP_TREE)
    pairs = []
    for kind, rewrite in KINDS.items():
        for number, sentence in enumerate(sentences):
            if text := rewrite(sentence):
                pairs.append(Pair(kind, number, text))
    if not pairs:
        raise UserError(
            f"{split.name} has no caption that the rules of this task can rewrite; choose a "
            "split with full sentences such as `A dog chases a ball.`"
        )
    return pairs


def measure(model: DualEncoder, split: CaptionSet, pairs: list[Pair]) -> PairResults:
    """Rank each rewrite for its original among the C - 1 other captions of the split."""
    captions = model.encode_text([Sentence(caption) for caption in split.captions])
    rewritten = model.encode_text([Sentence(pair.rewrite) for pair in pairs])
    owner = torch.tensor(split.photo_of)
    numbers = torch.tensor([pair.caption for pair in pairs])
    blocks = []
    for start in range(0, len(pairs), CHUNK):
        rows, query = slice(start, start + CHUNK), numbers[start : start + CHUNK]
        own = model.score.symmetric(captions[query], rewritten[rows]).diagonal()[:, None]  # (Q, 1)
        others = model.score.symmetric(captions[query], captions)  # (Q, C)
        others[torch.arange(len(query)), query] = -torch.inf  # the query itself
        scores = torch.cat([own, others], 1)
        is_rewrite = torch.arange(scores.shape[1]).expand(scores.shape) == 0
        same_photo = others.masked_fill(owner[query, None] != owner, -torch.inf)
        nearer = own[:, 0] > same_photo.amax(1)
        blocks.append((best_ranks(scores, is_rewrite), own[:, 0], nearer))
    rank, similarity, nearer_than_fellows = zip(*blocks, strict=True)
    return PairResults(
        rank=torch.cat(rank).numpy(),
        similarity=torch.cat(similarity).numpy(),
        nearer_than_fellows=torch.cat(nearer_than_fellows).numpy(),
    )


def summary(results: PairResults) -> dict[str, float]:
    """Return meanr, r1, similarity and nearer_than_fellows of the pairs of one kind."""
    return {
        "meanr": float(results.rank.mean()),
        "r1": 100 * float((results.rank <= 1).mean()),
        "similarity": float(results.similarity.mean()),
        "nearer_than_fellows": 100 * float(results.nearer_than_fellows.mean()),
    }


def passive_over_reversed(passive: np.ndarray, control: np.ndarray) -> dict[str, float]:
    """Return the percentage of N captions whose passive is more similar than the control.

    Args:
        passive: (N,) similarities of the passives.
        control: (N,) similarities of the rewrites with exchanged roles; a tie counts half.
    """
    wins = (passive > control) + (passive == control) / 2
    return {"passive_over_reversed": 100 * float(wins.mean())}


@dataclass(frozen=True)
class Rewrites:
    """The results of the pairs of one kind, as a measurement."""

    results: PairResults

    def __len__(self) -> int:
        return len(self.results.rank)

    def metrics(self, pairs: np.ndarray | None = None) -> dict[str, float]:
        """Return the summary of all pairs, or of those with these numbers."""
        return summary(self.results if pairs is None else self.results.select(pairs))


@dataclass(frozen=True)
class Roles:
    """The similarities of passives and of their controls, (N,) each, as a measurement."""

    passive: np.ndarray
    control: np.ndarray

    def __len__(self) -> int:
        return len(self.control)

    def metrics(self, captions: np.ndarray | None = None) -> dict[str, float]:
        """Return `passive_over_reversed` of all captions, or of those with these numbers."""
        drawn = slice(None) if captions is None else captions
        return passive_over_reversed(self.passive[drawn], self.control[drawn])


@dataclass(frozen=True)
class Paraphrases(PairedTask):
    """Ranks of rewritten captions."""

    name: ClassVar[str] = "paraphrases"
    needs: ClassVar[frozenset[str]] = frozenset({"photos"})
    primary: ClassVar[str] = "passive_over_reversed"

    def measure(self, model: DualEncoder, data: PhotoData) -> Parts:
        """Return `Rewrites` of each kind that there is, and `Roles` as `roles`."""
        return _parts(model, data.split, find_pairs(data.split))

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return metrics of each kind of rewrite, n_pairs of each, examples, and ci95 over pairs.

        For each kind: meanr, r1, similarity (the model's own score) and nearer_than_fellows, the
        percentage that is nearer than every other caption of the same photo.
        `passive_over_reversed`: the percentage of captions with both rewrites whose passive is
        nearer than the exchanged roles, a tie counting half.
        """
        split = data.split
        pairs = find_pairs(split)
        result = with_intervals(_parts(model, split, pairs))
        for values in (result, result["ci95"]):
            values |= values.pop(ROLES, {})
        by_kind = {kind: [pair for pair in pairs if pair.kind == kind] for kind in KINDS}
        listed = [pair for of_kind in by_kind.values() for pair in of_kind[:EXAMPLES]]
        examples = [[pair.kind, split.captions[pair.caption], pair.rewrite] for pair in listed]
        counts = {kind: len(of_kind) for kind, of_kind in by_kind.items()}
        return {**result, "n_pairs": counts, "examples": examples}


def _parts(model: DualEncoder, split: CaptionSet, pairs: list[Pair]) -> Parts:
    """Return the results of pairs by kind, and of captions with a passive and exchanged roles."""
    results = measure(model, split, pairs)
    rows = {kind: [i for i, pair in enumerate(pairs) if pair.kind == kind] for kind in KINDS}
    parts: dict[str, Measurement] = {
        kind: Rewrites(results.select(of_kind)) for kind, of_kind in rows.items() if of_kind
    }
    reversible = {pairs[i].caption for i in rows["reversed"]}  # each has a passive, too
    if reversible:
        passives = [i for i in rows["passive"] if pairs[i].caption in reversible]
        parts[ROLES] = Roles(results.similarity[passives], results.similarity[rows["reversed"]])
    return Parts(parts)
