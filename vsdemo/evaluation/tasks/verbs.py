"""Where sentence vectors fail: two captions of a photo of which one has no verb (Socher 2014, 6.6).

For each pair of captions of one photo, the rank at which one finds the other among all other
captions of the split, averaged over both directions. Pairs are told apart by whether both, one
or none holds a verb: a word that the parser tags VERB, so "a dog running" has one and "a dog is
on the beach" has none.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from vsdemo.core.caption_set import CaptionSet
from vsdemo.core.sentences import Sentence
from vsdemo.data.text.sentences import add_trees
from vsdemo.evaluation.metrics.ranks import bootstrap
from vsdemo.evaluation.tasks.similarity import blocks, encode
from vsdemo.models.dual_encoder import DualEncoder

PRIMARY = "one"
KINDS = ("none", "one", "both")  # of two captions with a verb
WORST = 10  # pairs that are listed


def has_verb(split: CaptionSet) -> list[bool]:
    """Whether each caption holds a verb."""
    sentences = add_trees([Sentence(c) for c in split.captions], frozenset({"dep_tree"}))
    return [s.tree is not None and "VERB" in s.tree.tags for s in sentences]


def pair_ranks(model: DualEncoder, split: CaptionSet) -> tuple[list[tuple[int, int]], np.ndarray]:
    """(pairs of captions of one photo, (P,) mean rank at which they find each other)."""
    captions = encode(model, split)
    pairs = [pair for of_one in split.captions_of for pair in combinations(of_one, 2)]
    queries, wanted = torch.tensor(pairs + [(b, a) for a, b in pairs]).T
    rank = torch.empty(len(queries))
    for rows, scores in blocks(model, captions):
        here = (queries >= rows.start) & (queries < rows.stop)
        of_query = scores[queries[here] - rows.start]
        own = of_query.gather(1, wanted[here, None])
        higher, tied = (of_query > own).sum(1), (of_query == own).sum(1) - 1
        rank[here] = 1 + higher + tied / 2
    return pairs, rank.view(2, -1).mean(0).numpy()


def evaluate(model: DualEncoder, split: CaptionSet, features: Tensor) -> dict[str, Any]:
    """Mean rank of each kind of pair there is, with its interval over the pairs; lower is better.

    `gap` is `one` minus `both`; `worst` lists the pairs that are furthest apart.
    """
    verb = has_verb(split)
    pairs, rank = pair_ranks(model, split)
    kind = np.array([verb[a] + verb[b] for a, b in pairs])
    counts = {k: int((kind == i).sum()) for i, k in enumerate(KINDS)}
    whole = {k: float(rank[kind == i].mean()) for i, k in enumerate(KINDS) if counts[k]}

    def means(drawn: np.ndarray) -> dict[str, float]:
        found = {k: rank[drawn][kind[drawn] == KINDS.index(k)] for k in whole}
        return _with_gap({k: float(r.mean()) if len(r) else whole[k] for k, r in found.items()})

    worst = [
        {
            "captions": [split.captions[i] for i in pairs[p]],
            "verbs": KINDS[kind[p]],
            "rank": float(rank[p]),
        }
        for p in np.argsort(-rank, kind="stable")[:WORST]
    ]
    interval = bootstrap(means, len(pairs))
    return {**_with_gap(whole), "n_pairs": counts, "worst": worst, "ci95": interval}


def _with_gap(means: dict[str, float]) -> dict[str, float]:
    gap = {"gap": means["one"] - means["both"]} if {"one", "both"} <= means.keys() else {}
    return means | gap
