"""Free walks through the hierarchy of a model over photos whose captions' relations are known.

A walk up begins at a photo and goes, step by step, to the nearest concept or caption above; a walk
down begins at a concept or caption and goes to the nearest one below, at last to a photo. The items
are the concepts that the model knows, the captions of the split and its photos. A step is true if
the upper item follows from the lower one; `evaluation.worlds` says how that is known.

Two rules about texts serve as baselines; for them a photo stands where the text that the model
finds best for it stands. `overlap`: a text lies above another one that has all of its words and
more. A model without an order walks by cosines: to the nearest text that has fewer words, or more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np

from vsdemo.core.errors import UserError
from vsdemo.evaluation.metrics.bootstrap import Metrics, with_intervals
from vsdemo.evaluation.task import PairedTask, PhotoData, Result
from vsdemo.evaluation.walkers import OverlapWalker, Walker, walker_of
from vsdemo.evaluation.worlds import World, known_texts, world
from vsdemo.models.dual_encoder import DualEncoder

FIRST = 5  # items listed below an item, among which its children should be


@dataclass(frozen=True)
class WalkCounts:
    """What was counted on the walks that belong to each photo, all (P,).

    Args:
        up: True steps up.
        steps_up: Steps up.
        down: True steps down.
        steps_down: Steps down; an empty walk counts as one.
        children: True children among the first items below.
        possible: The most children that could be among them.
    """

    up: np.ndarray
    steps_up: np.ndarray
    down: np.ndarray
    steps_down: np.ndarray
    children: np.ndarray
    possible: np.ndarray

    def __len__(self) -> int:
        return len(self.up)

    def metrics(self, photos: np.ndarray | None = None) -> dict[str, float]:
        """Return the metrics of all photos or of a sample."""
        rows = slice(None) if photos is None else photos

        def share(right: np.ndarray, of: np.ndarray) -> float:
            return 100 * float(right[rows].sum() / max(1, of[rows].sum()))

        return {
            "up": share(self.up, np.maximum(self.steps_up, 1)),
            "steps_up": float(self.steps_up[rows].mean()),
            "down": share(self.down, self.steps_down),
            "children": share(self.children, self.possible),
        }


@dataclass(frozen=True)
class BothCounts:
    """What was counted on the walks of a model, and on those by word overlap."""

    model: WalkCounts
    overlap: WalkCounts

    def __len__(self) -> int:
        return len(self.model)

    def metrics(self, photos: np.ndarray | None = None) -> Metrics:
        """Return the metrics of all photos or of a sample."""
        return {**self.model.metrics(photos), "overlap": self.overlap.metrics(photos)}


@dataclass(frozen=True)
class Walks(PairedTask):
    """Walks from photos up, and from concepts and captions down."""

    name: ClassVar[str] = "walks"
    needs: ClassVar[frozenset[str]] = frozenset({"photos", "relations"})
    primary: ClassVar[str] = "up"

    def check(self, model: DualEncoder) -> None:
        """Raise UserError for a model of sets, or of photos above captions."""
        order = model.score.order
        if model.score.can_align or (order is not None and order.reversed):
            raise UserError(
                "The task walks needs one vector for each sentence and photo and, in an order, "
                "captions above photos."
            )

    def measure(self, model: DualEncoder, data: PhotoData) -> BothCounts:
        """Return what is counted on the walks of each photo."""
        truth = world(data.split)
        known = known_texts(model, truth)
        return BothCounts(
            count(walker_of(model, data, truth, known), truth, known),
            count(OverlapWalker(model, data, truth, known), truth, known),
        )

    def evaluate(self, model: DualEncoder, data: PhotoData) -> Result:
        """Return percentages, with ci95 over photos.

        up, down: steps that are true, an empty walk counting as one false step; steps_up: mean
        number of steps of a walk up, without the root; children: of the texts directly below the
        starts of the walks down, at most FIRST each, those among the first FIRST listed below;
        overlap: the same metrics by the rule of this name.
        """
        return dict(with_intervals(self.measure(model, data)))


def count(walker: Walker, truth: World, known: np.ndarray) -> WalkCounts:
    """Return what is counted on the walks that belong to each photo of a split."""
    ups = [_count_up(truth, walker.up(photo), photo) for photo in range(len(truth.starts))]
    downs = {
        text: _count_down(walker, truth, text, known)
        for text in dict.fromkeys(truth.starts.ravel().tolist())
        if known[text]
    }
    of_photos = [
        np.sum([downs.get(text, (0, 0, 0, 0)) for text in starts], axis=0)
        for starts in truth.starts.tolist()
    ]
    up, steps_up = np.array(ups).T
    down, steps_down, children, possible = np.array(of_photos).T
    return WalkCounts(up, steps_up, down, steps_down, children, possible)


def _count_up(truth: World, texts: Sequence[int], photo: int) -> tuple[int, int]:
    """Return how many steps of a walk up are true, and how many there are."""
    right = [bool(truth.describes[text, photo]) for text in texts[:1]]
    right += [bool(truth.follows[b, a]) for a, b in pairwise(texts)]
    return sum(right), len(right)


def _count_down(
    walker: Walker, truth: World, text: int, known: np.ndarray
) -> tuple[int, int, int, int]:
    """Return true steps, steps, true children among the first ones listed, and possible ones."""
    texts, photo = walker.down(text)
    right = [bool(truth.follows[a, b]) for a, b in pairwise([text, *texts])]
    if photo is not None:
        right.append(bool(truth.describes[[text, *texts][-1], photo]))
    children = set(truth.children(text, known).tolist())
    reached = len(children.intersection(walker.below(text)[:FIRST]))
    return sum(right), max(1, len(right)), reached, min(FIRST, len(children))
