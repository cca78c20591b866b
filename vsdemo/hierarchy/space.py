"""The hierarchy that an order-embedding has learnt: what lies above what, walked and composed.

Concepts, captions and photos are points of one space; x lies above y where the order violation
E(x, y) = |max(0, x - y)|^2 is small (Vendrov 2016, Eq. 2). The origin lies above all: the root.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.models.scores import OrderViolation, Score

ROOT, CONCEPT, CAPTION, PHOTO = KINDS = ("root", "concept", "caption", "photo")
PENALTY = 30.0  # what a violation counts beside the distance that a step goes
GAP = 0.1  # a step from or to a caption goes up by this share of all heights at least
LENGTHS = 0.01  # vectors whose lengths differ by less all have the same
LONGEST = 40  # steps of a walk
SAMPLE = 500  # photos, spread evenly, that tell how general words are
Follows = Mapping[int | None, Collection[int]]
MANY = 100  # items told at most of what lies above or below
SYMMETRIC = (
    "has a score without an order, so nothing lies above anything; use an order-embedding, such as "
    "checkpoints/storybook/order."
)


@dataclass(frozen=True)
class Item:
    """kind: of KINDS. text: a concept, a caption, or what stands for a photo. number: of the photo
    in its gallery."""

    kind: str
    text: str
    number: int = 0


@dataclass(frozen=True)
class Step:
    """An item reached, and E(general, specific) between it and where the step began."""

    number: int
    violation: float


def check_order(score: Score, name: str) -> OrderViolation:
    """The score as one with an order. Raises UserError for any other."""
    if not isinstance(score, OrderViolation) or score.reversed:
        raise UserError(f"{name} {SYMMETRIC}")
    return score


class World:
    """N items in one space of order-embeddings.

    x: (N, D) nonnegative points. limit: what violates more than this is no step: the margin that
    wrong pairs were held at, where a model has learnt such. Raises UserError where there are not
    two items, or a point is not a number.
    """

    def __init__(
        self,
        items: Sequence[Item],
        x: Tensor,
        score: OrderViolation,
        limit: float = float("inf"),
    ) -> None:
        if len(items) < 2:
            raise UserError("A hierarchy needs two items at least; choose a larger gallery.")
        if not torch.isfinite(x).all():
            raise UserError("Some embeddings are not numbers; the model's weights are damaged.")
        self.items, self.x, self.score = tuple(items), x.float().cpu(), score
        self.limit = limit
        kinds = torch.tensor([KINDS.index(item.kind) for item in items])
        self.of_kind = {kind: kinds == i for i, kind in enumerate(KINDS)}

    def __len__(self) -> int:
        return len(self.items)

    def extended(self, items: Sequence[Item], x: Tensor) -> World:
        """This world with more words (M, D) behind its own items, which keep their numbers."""
        more = World((*self.items, *items), torch.cat([self.x, x]), self.score, self.limit)
        more.by_length = self.by_length
        more.heights = torch.cat([self.heights, self.height(x)])
        return more

    @cached_property
    def by_length(self) -> bool:
        """Whether vectors differ in length, and are the more general the shorter they are. Where
        all have length 1 (section 4.4), those are general that lie above most photos."""
        lengths = self.x[~self.of_kind[ROOT]].norm(dim=1)
        photos = bool(self.of_kind[PHOTO].any())
        return not photos or float(lengths.max() - lengths.min()) > LENGTHS

    @property
    def meaning(self) -> str:
        """What a height is."""
        return "length" if self.by_length else "mean violation above photos"

    def height(self, x: Tensor) -> Tensor:
        """(M,) of points (M, D); the root's is 0, and the more specific lies higher in number."""
        if self.by_length:
            return x.norm(dim=1)
        photos = self.x[self.of_kind[PHOTO]]
        some = photos[:: -(-len(photos) // SAMPLE)]
        return -self.score(Embeddings(x), Embeddings(some)).mean(1)

    @cached_property
    def heights(self) -> Tensor:
        """(N,) of all items; of photos that of the most specific one, as nothing is below them."""
        of_words = self.height(self.x[self._words])
        heights = torch.full((len(self),), max(of_words.tolist(), default=0.0))
        heights[self._words] = of_words
        return heights

    @cached_property
    def gap(self) -> float:
        """By how much a step from or to a caption goes up at least."""
        inner = self.heights[~self.of_kind[ROOT]]
        return GAP * float(inner.max() - inner.min())

    def violations(self, point: Tensor, rows: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """E(item, point) and E(point, item) of a point (1, D) and the items of some rows, or all,
        (N,) each; |x - y|^2 is the sum of both."""
        x = self.x if rows is None else self.x[rows]
        above = -self.score(Embeddings(x), Embeddings(point))[:, 0]
        square = x.square().sum(1) - 2 * (x @ point[0]) + point.square().sum()
        return above, (square - above).clamp(min=0)

    @cached_property
    def _words(self) -> Tensor:
        """Numbers of all that is no photo: nothing else lies above anything."""
        return (~self.of_kind[PHOTO]).nonzero()[:, 0]

    def above(
        self,
        point: Tensor,
        height: float,
        start: Tensor | None = None,
        concept: bool = False,
        among: Collection[int] | None = None,
    ) -> list[Step]:
        """What lies above a point (1, D), the nearest first.

        Near is what is not far up, a violation counting PENALTY times: the smallest violation
        alone would be that of the root, always. start: where a walk began; who lies above it
        worse than above the point is judged by that. concept: the point is one, so concepts only.
        among: the only items, beside the root, that may lie above, where that is known.
        """
        rows = self._words
        up, down = self.violations(point, rows)
        worst = up if start is None else torch.maximum(up, self.violations(start, rows)[0])
        captions, root = self.of_kind[CAPTION][rows], self.of_kind[ROOT][rows]
        heights = self.heights[rows]
        gap = torch.where(captions, self.gap, 0 if concept else self.gap)
        if among is not None:  # whatever follows is a step, however small
            gap = torch.zeros_like(heights)
        allowed = (heights < height - gap) & (up <= down) & (worst <= self.limit)
        allowed &= ~(captions & concept)
        if among is not None:
            allowed &= root | torch.isin(rows, torch.tensor(sorted(among), dtype=rows.dtype))
        cost = PENALTY * worst + down
        if not self.by_length:  # the root, from which all is equally far, comes last
            cost = cost.masked_fill(root, float(cost.max()))
            allowed |= root & (heights < height)
        return _nearest(cost, allowed, up, rows)

    def below(
        self, point: Tensor, height: float, kind: str | None = None, start: Tensor | None = None
    ) -> list[Step]:
        """What lies below a point (1, D), of one kind or all but photos, the nearest first; of
        photos every one, that with the smallest violation first. start: as of `above`."""
        rows = self.of_kind[kind].nonzero()[:, 0] if kind else self._words
        up, down = self.violations(point, rows)
        worst = down if start is None else torch.maximum(down, self.violations(start, rows)[1])
        gap = torch.where(self.of_kind[CAPTION][rows], self.gap, 0)
        allowed = (self.heights[rows] > height + gap) & (down <= up) & (worst <= self.limit)
        allowed |= self.of_kind[PHOTO][rows]
        cost = worst if kind == PHOTO else PENALTY * worst + up
        return _nearest(cost, allowed, down, rows)

    def climb(
        self,
        point: Tensor,
        kind: str = CAPTION,
        follows: Follows | None = None,
        most: int = LONGEST,
    ) -> list[Step]:
        """From a point (1, D), a photo's or one of another kind, step by step up to the root, or so
        many steps at most. follows: by item, and None for the point, what alone may lie above."""
        start, steps, number = point, list[Step](), None
        height = float("inf") if kind == PHOTO else float(self.height(point))
        while kind != ROOT and len(steps) < most:
            only = None if follows is None or kind == PHOTO else follows.get(number, ())
            found = self.above(point, height, start, kind == CONCEPT and only is None, only)
            if kind == PHOTO:  # a concept says less of it than people would
                found = [s for s in found if self.items[s.number].kind == CAPTION] or found
            if not found:
                break
            steps.append(found[0])
            number = found[0].number
            kind, point = self.items[number].kind, self.x[[number]]
            height = float(self.heights[number])
        return steps

    def descend(self, number: int) -> list[Step]:
        """From an item step by step down, until nothing is below; a photo is the end."""
        steps, start = list[Step](), self.x[[number]]
        while self.items[number].kind != PHOTO and len(steps) < LONGEST:
            where = (self.x[[number]], float(self.heights[number]))
            # a photo only when all is said
            found = self.below(*where, start=start) or self.below(*where, PHOTO, start)
            if not found:
                break
            steps.append(found[0])
            number = found[0].number
        return steps

    def near(self, point: Tensor, k: int, kind: str) -> list[Step]:
        """The k items of a kind nearest to a point (1, D), by violations both ways."""
        rows = self.of_kind[kind].nonzero()[:, 0]
        both = sum(self.violations(point, rows))
        return _nearest(both, torch.ones_like(both, dtype=torch.bool), both, rows, k)


def composed(points: Tensor) -> Tensor:
    """(1, D): the element-wise maximum of points (M, D), which lies below all of them."""
    return points.amax(0, keepdim=True)


def abstracted(points: Tensor) -> Tensor:
    """(1, D): the element-wise minimum of points (M, D), which lies above all of them."""
    return points.amin(0, keepdim=True)


def _nearest(
    cost: Tensor, allowed: Tensor, violation: Tensor, rows: Tensor, k: int = MANY
) -> list[Step]:
    """The k cheapest of the rows that are allowed."""
    order = cost.masked_fill(~allowed, torch.inf).argsort(stable=True)[: min(k, int(allowed.sum()))]
    return [
        Step(n, v) for n, v in zip(rows[order].tolist(), violation[order].tolist(), strict=True)
    ]
