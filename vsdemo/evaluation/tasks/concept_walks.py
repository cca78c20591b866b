"""Free walks up from concepts, over the whole taxonomy of a model of concepts.

A walk begins at a concept and goes, step by step, to another one above, by the model alone. A step
is true if the upper concept is a hypernym of the lower one, directly or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from vsdemo.core.errors import UserError
from vsdemo.core.sentences import Sentence
from vsdemo.data.pairs import hypernyms
from vsdemo.data.pairs.wordnet import Taxonomy
from vsdemo.evaluation.metrics.bootstrap import with_intervals
from vsdemo.evaluation.task import ConceptData, Result, Task
from vsdemo.hierarchy.order import ROOT, Hierarchy, check_order, hierarchy_of_concepts
from vsdemo.hierarchy.walks import climb
from vsdemo.models.dual_encoder import DualEncoder

WALKS = 200  # random concepts, or all of a small taxonomy
SEED = 0


@dataclass(frozen=True)
class ConceptWalkCounts:
    """What was counted on W walks, all (W,).

    Args:
        up: True steps.
        steps_up: Steps, without those to the root, which are always true.
        depth: Concepts on the shortest path up, also without the root.
    """

    up: np.ndarray
    steps_up: np.ndarray
    depth: np.ndarray

    def __len__(self) -> int:
        return len(self.up)

    def metrics(self, walks: np.ndarray | None = None) -> dict[str, float]:
        """Return the metrics of all walks or of a sample."""
        rows = slice(None) if walks is None else walks
        up, steps = self.up[rows], self.steps_up[rows]
        return {
            "up": 100 * float(up.sum() / np.maximum(steps, 1).sum()),
            "steps_up": float(steps.mean()),
            "whole": 100 * float(((up == steps) & (steps > 0)).mean()),
            "depth": float(self.depth[rows].mean()),
        }


@dataclass(frozen=True)
class ConceptWalks(Task):
    """Walks up from random concepts."""

    name: ClassVar[str] = "concept_walks"
    needs: ClassVar[frozenset[str]] = frozenset({"concepts"})
    primary: ClassVar[str] = "whole"

    def check(self, model: DualEncoder) -> None:
        """Raise UserError for a model that is not one of concepts, or whose score has no order."""
        if "concepts" not in model.text.needs:
            raise UserError(
                "The task concept_walks is for a model of concepts; `train hypernyms` makes one."
            )
        check_order(model.score, "This model")

    def evaluate(self, model: DualEncoder, data: ConceptData) -> Result:
        """Return percentages, with ci95 over walks.

        up: steps that are true, an empty walk counting as one false step; steps_up: mean number of
        steps, without those to the root; whole: walks that are not empty and true throughout;
        depth: mean number of concepts on the shortest true path, without the root.

        The walks are the same for every split.

        Raises:
            UserError: The model is one of sentences or of other concepts, it has no order, or data
                are missing or damaged.
        """
        self.check(model)
        return dict(with_intervals(measure(model, hypernyms.load(data.dataset))))


def measure(model: DualEncoder, taxonomy: Taxonomy) -> ConceptWalkCounts:
    """Return what is counted on walks from random concepts that are not directly below the root.

    Raises:
        UserError: The model is one of other concepts.
    """
    names = taxonomy.names
    if names != model.text.names:
        raise UserError("The model was trained on other concepts than those of the taxonomy.")
    x = model.encode_text([Sentence(name) for name in names]).x.float()
    order, part = check_order(model.score, "This model"), model.score.order_part
    hierarchy = hierarchy_of_concepts(names, part(x), order, model.limits)
    depths = depths_of(taxonomy)
    starts = np.flatnonzero(depths > 0)
    if len(starts) > WALKS:
        starts = np.random.default_rng(SEED).choice(starts, WALKS, replace=False)
    counts = np.array([_count(hierarchy, taxonomy, int(start)) for start in starts])  # (W, 2)
    return ConceptWalkCounts(up=counts[:, 0], steps_up=counts[:, 1], depth=depths[starts])


def depths_of(taxonomy: Taxonomy) -> np.ndarray:
    """Return how many concepts lie between each concept and its nearest root, (C,).

    It is -1 for a root.
    """
    depths = np.full(len(taxonomy.names), -1)
    for concept in taxonomy.order:
        parents = [*taxonomy.parents[concept]]
        if parents:
            depths[concept] = 1 + depths[parents].min()
    return depths


def _count(hierarchy: Hierarchy, taxonomy: Taxonomy, start: int) -> tuple[int, int]:
    """Return how many steps of a walk are true, and how many there are."""
    steps = climb(hierarchy, hierarchy.node(start))
    path = [start, *(step.number for step in steps)]
    path = [number for number in path if hierarchy.items[number].kind != ROOT]
    right = [upper in taxonomy.ancestors(lower) for lower, upper in pairwise(path)]
    return sum(right), len(right)
