"""Items of one order-embedding space and the order between them (Vendrov et al. 2016).

Concepts, captions and photos are embeddings in one space. x lies above y where the order violation
E(x, y) = |max(0, x - y)|^2 (Eq. 2) is small. The origin lies above everything and is the root.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.models.scores import Score

ROOT, CONCEPT, CAPTION, PHOTO = KINDS = ("root", "concept", "caption", "photo")
ROOT_TEXT = "anything"
PENALTY = 30.0  # weight of a violation against the distance of a step
GAP = 0.1  # least share of all depths between a caption and the next step
MIN_LENGTH_RANGE = 0.01  # lengths that differ by less count as equal
MAX_SAMPLE = 500  # evenly spaced photos that give the depths of unit-length embeddings
MAX_STEPS = 100  # items returned by `above` and `below`
NO_ORDER = (
    "has a score without an order, so nothing lies above anything; use an order-embedding, such as "
    "checkpoints/storybook/order."
)


@dataclass(frozen=True)
class Item:
    """A concept, caption or photo of a hierarchy.

    Args:
        kind: One of `KINDS`.
        text: The concept, the caption, or the name of the photo.
        number: Index of the photo in its gallery; 0 for other kinds.
    """

    kind: str
    text: str
    number: int = 0


@dataclass(frozen=True)
class Step:
    """An item that a search or a walk reaches.

    Args:
        number: Index of the item in its hierarchy.
        violation: E(general, specific) between the item and the embedding it is reached from.
    """

    number: int
    violation: float


def check_order(score: Score, name: str) -> Score:
    """Return the score if captions lie above photos under it.

    Raises:
        UserError: If the score has no such order. The message names the model `name`.
    """
    if not score.is_order or score.reversed:
        raise UserError(f"{name} {NO_ORDER}")
    return score


class Hierarchy:
    """N items of one order-embedding space.

    Args:
        items: The N items.
        x: `(N, D)`, their nonnegative embeddings.
        score: The order violation of the model.
        limit: The largest violation of a step. For a model of concepts this is the margin that
            negative pairs were trained to exceed.

    Raises:
        UserError: If there are fewer than two items, or an embedding is not finite.
    """

    def __init__(
        self,
        items: Sequence[Item],
        x: Tensor,
        score: Score,
        limit: float = float("inf"),
    ) -> None:
        if len(items) < 2:
            raise UserError("A hierarchy needs two items at least; choose a larger gallery.")
        if not torch.isfinite(x).all():
            raise UserError("Some embeddings are not numbers; the model's weights are damaged.")
        self.items = tuple(items)
        self.x = x.float().cpu()
        self.score = score
        self.limit = limit
        kinds = torch.tensor([KINDS.index(item.kind) for item in items])
        self.of_kind = {kind: kinds == i for i, kind in enumerate(KINDS)}  # each (N,), bool

    def __len__(self) -> int:
        """Return N."""
        return len(self.items)

    def extended(self, items: Sequence[Item], x: Tensor) -> Hierarchy:
        """Return this hierarchy with M more concepts or captions at its end.

        Items and depths of this hierarchy stay as they are.

        Args:
            items: The M items; none of them a photo.
            x: `(M, D)`.
        """
        result = Hierarchy(
            items=(*self.items, *items),
            x=torch.cat([self.x, x]),
            score=self.score,
            limit=self.limit,
        )
        result.by_length = self.by_length
        result.depths = torch.cat([self.depths, self.depth(x)])
        return result

    @cached_property
    def by_length(self) -> bool:
        """Whether the length of an embedding says how specific it is.

        It does not where all embeddings have length 1 (section 4.4). Then an item is the more
        general, the less it violates the order above photos.
        """
        lengths = self.x[~self.of_kind[ROOT]].norm(dim=1)
        has_photos = bool(self.of_kind[PHOTO].any())
        return not has_photos or float(lengths.max() - lengths.min()) > MIN_LENGTH_RANGE

    @property
    def depth_name(self) -> str:
        """What a depth measures, for people."""
        return "length" if self.by_length else "mean violation above photos"

    def depth(self, x: Tensor) -> Tensor:
        """Return the depths `(M,)` of embeddings `(M, D)`: 0 at the root, larger if specific."""
        if self.by_length:
            lengths: Tensor = x.norm(dim=1)
            return lengths
        photos = self.x[self.of_kind[PHOTO]]
        sample = photos[:: -(-len(photos) // MAX_SAMPLE)]
        violations: Tensor = -self.score(Embeddings(x), Embeddings(sample))  # (M, P)
        return violations.mean(dim=1)

    @cached_property
    def depths(self) -> Tensor:
        """The depths `(N,)` of all items; all photos are as deep as the deepest other item."""
        depths_above = self.depth(self.x[self._not_photos])
        depths = torch.full((len(self),), max(depths_above.tolist(), default=0.0))
        depths[self._not_photos] = depths_above
        return depths

    @cached_property
    def gap(self) -> float:
        """The least difference in depth of a step from or to a caption."""
        inner = self.depths[~self.of_kind[ROOT]]
        return GAP * float(inner.max() - inner.min())

    def violations(self, embedding: Tensor, numbers: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return E(item, embedding) and E(embedding, item), `(M,)` each.

        Their sum is the squared distance |x - y|^2.

        Args:
            embedding: `(1, D)`.
            numbers: `(M,)`, the items; by default all.
        """
        x = self.x if numbers is None else self.x[numbers]
        above = -self.score(Embeddings(x), Embeddings(embedding))[:, 0]
        square = x.square().sum(1) - 2 * (x @ embedding[0]) + embedding.square().sum()
        return above, (square - above).clamp(min=0)

    @cached_property
    def _not_photos(self) -> Tensor:
        """Indices of all items but photos; only these can lie above something."""
        return (~self.of_kind[PHOTO]).nonzero()[:, 0]

    def above(
        self,
        embedding: Tensor,
        depth: float,
        *,
        start: Tensor | None = None,
        concepts_only: bool = False,
        candidates: Collection[int] | None = None,
    ) -> list[Step]:
        """Return the items above an embedding, nearest first.

        Items are ranked by `PENALTY` times the violation plus the distance upwards. Ranked by the
        violation alone, the root would always come first.

        Args:
            embedding: `(1, D)`.
            depth: Its depth; items that are not less deep are left out.
            start: `(1, D)`, where a walk began. Items must lie above it as well.
            concepts_only: Whether to leave out captions. Set for the embedding of a concept.
            candidates: If given, only these items and the root are returned, however small the
                difference in depth.
        """
        numbers = self._not_photos
        up, down = self.violations(embedding, numbers)
        worst = up
        if start is not None:
            worst = torch.maximum(up, self.violations(start, numbers)[0])
        is_caption = self.of_kind[CAPTION][numbers]
        is_root = self.of_kind[ROOT][numbers]
        depths = self.depths[numbers]
        if candidates is not None:
            gap = torch.zeros_like(depths)
        else:
            gap = torch.where(is_caption, self.gap, 0.0 if concepts_only else self.gap)
        allowed = (depths < depth - gap) & (up <= down) & (worst <= self.limit)
        if concepts_only:
            allowed &= ~is_caption
        if candidates is not None:
            listed = torch.tensor(sorted(candidates), dtype=numbers.dtype)
            allowed &= is_root | torch.isin(numbers, listed)
        cost = PENALTY * worst + down
        if not self.by_length:  # everything is equally far from the root, so it comes last
            cost = cost.masked_fill(is_root, float(cost.max()))
            allowed |= is_root & (depths < depth)
        return _cheapest(cost, allowed, violations=up, numbers=numbers)

    def below(
        self,
        embedding: Tensor,
        depth: float,
        *,
        kind: str | None = None,
        start: Tensor | None = None,
    ) -> list[Step]:
        """Return the items below an embedding, nearest first.

        Every photo counts as below; photos are ranked by their violation alone.

        Args:
            embedding: `(1, D)`.
            depth: Its depth; other items than photos that are not deeper are left out.
            kind: Return items of this kind; by default of all kinds but photos.
            start: `(1, D)`, where a walk began. Items must lie below it as well.
        """
        numbers = self.of_kind[kind].nonzero()[:, 0] if kind else self._not_photos
        up, down = self.violations(embedding, numbers)
        worst = down
        if start is not None:
            worst = torch.maximum(down, self.violations(start, numbers)[1])
        gap = torch.where(self.of_kind[CAPTION][numbers], self.gap, 0)
        allowed = (self.depths[numbers] > depth + gap) & (down <= up) & (worst <= self.limit)
        allowed |= self.of_kind[PHOTO][numbers]
        cost = worst if kind == PHOTO else PENALTY * worst + up
        return _cheapest(cost, allowed, violations=down, numbers=numbers)

    def nearest(self, embedding: Tensor, k: int, kind: str) -> list[Step]:
        """Return the k items of a kind nearest to an embedding `(1, D)`, by squared distance."""
        numbers = self.of_kind[kind].nonzero()[:, 0]
        up, down = self.violations(embedding, numbers)
        distances = up + down
        everything = torch.ones_like(distances, dtype=torch.bool)
        return _cheapest(distances, everything, violations=distances, numbers=numbers, k=k)


def hierarchy_of_photos(
    texts: Sequence[Item], x_texts: Tensor, photos: Sequence[str], x_photos: Tensor, score: Score
) -> Hierarchy:
    """Return the hierarchy of the origin, texts and photos, in this order.

    Args:
        texts: T concepts and captions.
        x_texts: `(T, D)`.
        photos: Names of P photos.
        x_photos: `(P, D)`.
        score: The order violation of the model.

    Raises:
        UserError: As `Hierarchy` does.
    """
    items = [Item(ROOT, ROOT_TEXT), *texts]
    items += [Item(PHOTO, name, number) for number, name in enumerate(photos)]
    origin = torch.zeros(1, x_texts.shape[1])
    return Hierarchy(items, torch.cat([origin, x_texts, x_photos]), score)


def compose(embeddings: Tensor) -> Tensor:
    """Return the element-wise maximum `(1, D)` of embeddings `(M, D)`; it lies below all of them.

    This is the conjunction of section 4.3: everything that any of them says.
    """
    return embeddings.amax(0, keepdim=True)


def abstract(embeddings: Tensor) -> Tensor:
    """Return the element-wise minimum `(1, D)` of embeddings `(M, D)`; it lies above all of them.

    It keeps what they have in common.
    """
    return embeddings.amin(0, keepdim=True)


def _cheapest(
    cost: Tensor, allowed: Tensor, *, violations: Tensor, numbers: Tensor, k: int = MAX_STEPS
) -> list[Step]:
    """Return the k allowed items of least cost. All tensors are `(M,)`."""
    order = cost.masked_fill(~allowed, torch.inf).argsort(stable=True)
    order = order[: min(k, int(allowed.sum()))]
    reached = zip(numbers[order].tolist(), violations[order].tolist(), strict=True)
    return [Step(number, violation) for number, violation in reached]
