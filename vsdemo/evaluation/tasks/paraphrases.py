"""Does a model see through active, passive and word order? (Socher 2014, sections 1, 3 and 6)

The captions that `data.rewrites` can say otherwise are paired with their rewrites. An original is
the query and ranks its rewrite among all other captions of the split, whatever photo they
describe; no other rewrite is there. The rewrite with exchanged roles is a control: it has the words
of the original but another meaning, so a model that knows who does what puts the passive nearer.
A bag of words never does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.text import rewrites
from vsdemo.data.text.sentences import add_trees
from vsdemo.evaluation.metrics.ranks import best_ranks, bootstrap
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "passive_over_reversed"
KINDS = {
    "passive": rewrites.to_passive,
    "fronted": rewrites.front_place,
    "swapped": rewrites.swap_conjuncts,
    "reversed": rewrites.reverse_roles,
}
CHUNK = 1000  # queries a block
EXAMPLES = 3  # listed of each kind


class Pair(NamedTuple):
    """A caption's number and what was made of it."""

    kind: str
    caption: int
    rewrite: str


class Measured(NamedTuple):
    """For each pair, (P,): rank from 1, the model's score, nearer than any caption of the photo."""

    rank: np.ndarray
    similarity: np.ndarray
    nearer_than_fellows: np.ndarray

    def of(self, pairs: Any) -> Measured:
        """Those of some pairs, by their numbers."""
        return Measured(*(column[pairs] for column in self))


def find_pairs(split: CaptionSet) -> list[Pair]:
    """All pairs, kind by kind. Raises UserError when no caption can be said otherwise."""
    trees = add_trees([Sentence(c) for c in split.captions], frozenset({"dep_tree"}))
    pairs = [
        Pair(kind, number, said)
        for kind, rewrite in KINDS.items()
        for number, sentence in enumerate(trees)
        if (said := rewrite(sentence))
    ]
    if not pairs:
        raise UserError(
            f"{split.name} has no caption that the rules of this task can say otherwise; choose a "
            "split with full sentences such as `A dog chases a ball.`"
        )
    return pairs


def measure(model: DualEncoder, split: CaptionSet, pairs: list[Pair]) -> Measured:
    """How near each rewrite is to its original, beside the C - 1 other captions of the split."""
    captions = model.encode_text([Sentence(c) for c in split.captions])
    said = model.encode_text([Sentence(p.rewrite) for p in pairs])
    owner, numbers = torch.tensor(split.photo_of), torch.tensor([p.caption for p in pairs])
    found = []
    for start in range(0, len(pairs), CHUNK):
        rows, query = slice(start, start + CHUNK), numbers[start : start + CHUNK]
        own = model.score.neighbours(captions[query], said[rows]).diagonal()[:, None]  # (q, 1)
        others = model.score.neighbours(captions[query], captions)  # (q, C)
        others[torch.arange(len(query)), query] = -torch.inf  # a query never finds itself
        scores = torch.cat([own, others], 1)
        wanted = torch.arange(scores.shape[1]).expand(scores.shape) == 0
        fellows = others.masked_fill(owner[query, None] != owner, -torch.inf)
        nearer = own[:, 0] > fellows.amax(1)
        found.append((best_ranks(scores, wanted), own[:, 0], nearer))
    return Measured(*(torch.cat(column).numpy() for column in zip(*found, strict=True)))


def figures(found: Measured) -> dict[str, float]:
    """meanr, r1, similarity, nearer_than_fellows of the pairs of one kind."""
    return {
        "meanr": float(found.rank.mean()),
        "r1": 100 * float((found.rank <= 1).mean()),
        "similarity": float(found.similarity.mean()),
        "nearer_than_fellows": 100 * float(found.nearer_than_fellows.mean()),
    }


def wins(passive: np.ndarray, control: np.ndarray) -> dict[str, float]:
    """passive_over_reversed of the similarities of N captions' two rewrites, (N,) each."""
    return {PRIMARY: 100 * float(((passive > control) + (passive == control) / 2).mean())}


def evaluate(model: DualEncoder, split: CaptionSet, features: Tensor) -> dict[str, Any]:
    """For each kind of rewrite meanr, r1, similarity (the model's own score) and
    nearer_than_fellows: the percentage that is nearer than every other caption of the same photo,
    should it have one.

    `passive_over_reversed`: the percentage of captions with both whose passive is nearer than the
    exchanged roles, a tie counting half. `n_pairs` of each kind; ci95 over pairs; a few examples.
    """
    pairs = find_pairs(split)
    found = measure(model, split, pairs)
    rows = {k: [i for i, p in enumerate(pairs) if p.kind == k] for k in KINDS}
    result: dict[str, Any] = {"n_pairs": {k: len(of_kind) for k, of_kind in rows.items()}}
    ci95: dict[str, Any] = {}
    for kind, of_kind in rows.items():
        if of_kind:
            part = found.of(of_kind)
            result[kind] = figures(part)
            ci95[kind] = bootstrap(lambda drawn, part=part: figures(part.of(drawn)), len(of_kind))
    reversible = {pairs[i].caption for i in rows["reversed"]}  # each of them has a passive, too
    if reversible:
        passive = found.similarity[[i for i in rows["passive"] if pairs[i].caption in reversible]]
        control = found.similarity[rows["reversed"]]
        result |= wins(passive, control)
        ci95 |= bootstrap(lambda drawn: wins(passive[drawn], control[drawn]), len(control))
    listed = [pairs[i] for of_kind in rows.values() for i in of_kind[:EXAMPLES]]
    examples = [[p.kind, split.captions[p.caption], p.rewrite] for p in listed]
    return {**result, "examples": examples, "ci95": ci95}
