"""Items of one order-embedding space and the order between them (Vendrov et al. 2016).

Concepts, captions and photos are embeddings in one space. x lies above y where the order violation
E(x, y) = |max(0, x - y)|^2 (Eq. 2) is small. The origin lies above everything and is the root.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from vsdemo.core.embeddings import Embeddings
from vsdemo.core.errors import UserError
from vsdemo.core.language import translate
from vsdemo.data.relations import generalize
from vsdemo.hierarchy.concept_truth import ConceptTruth
from vsdemo.hierarchy.truth import Truth
from vsdemo.models.limits import NO_LIMITS, Limits
from vsdemo.models.scores import Order, Score

ROOT, CONCEPT, CAPTION, PHOTO = KINDS = ("root", "concept", "caption", "photo")
ROOT_TEXT = "anything"
PENALTY = 30.0  # without limits: weight of a violation against the distance of a step
GAP = 0.1  # without limits: smallest step from or to a caption, as a share of the range of depths
MIN_LENGTH_RANGE = 0.01  # lengths that differ by less count as equal
MAX_SAMPLE = 500  # evenly spaced photos that give the depths of unit-length embeddings
MAX_STEPS = 100  # items returned by `above` and `below`
NO_ORDER = (
    "has a score without an order, so nothing lies above anything; use an order-embedding, such as "
    "checkpoints/storybook/hierarchy."
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


@dataclass(frozen=True)
class Node:
    """A place to walk from: an item of the hierarchy, or any sentence or photo.

    Args:
        text: What to show for it.
        kind: One of `KINDS`.
        embedding: `(1, K)`, what the order compares.
        number: Index of its item; None if it is not an item.
    """

    text: str
    kind: str
    embedding: Tensor = field(compare=False)
    number: int | None = None


def check_order(score: Score, name: str) -> Order:
    """Return the order of a score if captions lie above photos in it.

    Raises:
        UserError: If the score has no such order. The message names the model `name`.
    """
    order = score.order
    if order is None or order.reversed:
        raise UserError(f"{name} {NO_ORDER}")
    return order


class Hierarchy:
    """N items of one order-embedding space.

    Attributes:
        truth: What is known to be true of the items; None if nothing is known.
        arrow_limit: The largest violation of an arrow on a map.
        grammar: Texts -> the texts that follow from them by their grammar, in lower case and
            without punctuation.

    Args:
        items: The N items.
        x: `(N, K)`, what the order compares of their embeddings.
        order: The order among them.
        limits: The largest violations of a step.

    Raises:
        UserError: If there are fewer than two items, or an embedding is not finite.
    """

    def __init__(
        self,
        items: Sequence[Item],
        x: Tensor,
        order: Order,
        limits: Limits = NO_LIMITS,
    ) -> None:
        if len(items) < 2:
            raise UserError(
                translate("A hierarchy needs at least two items; choose a larger gallery.")
            )
        if not torch.isfinite(x).all():
            raise UserError("Some embeddings are NaN or infinite; the model's weights are damaged.")
        self.items = tuple(items)
        self.x = x.float().cpu()
        self.order = order
        self.limits = limits
        self.truth: Truth | ConceptTruth | None = None
        self.grammar: Mapping[str, Collection[str]] = {}
        self.arrow_limit = limits.texts
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
            x: `(M, K)`.
        """
        result = copy(self)  # checking and sorting all items again would take longer
        result.items = (*self.items, *items)
        result.x = torch.cat([self.x, x.float().cpu()])
        result.by_length = self.by_length
        result.depths = torch.cat([self.depths, self.depth(x)])
        result.of_kind = {
            kind: torch.cat([before, torch.full((len(items),), False)])
            for kind, before in self.of_kind.items()
        }
        for number, item in enumerate(items, start=len(self)):
            result.of_kind[item.kind][number] = True
        for cached in ("gap", "number_of_text", "_not_photos"):
            result.__dict__.pop(cached, None)
        return result

    @cached_property
    def by_length(self) -> bool:
        """Whether the length of an embedding says how specific it is.

        It does not if all embeddings have length 1 (section 4.4). Then an item is more general the
        less it violates the order above photos.
        """
        lengths = self.x[~self.of_kind[ROOT]].norm(dim=1)
        has_photos = bool(self.of_kind[PHOTO].any())
        return not has_photos or float(lengths.max() - lengths.min()) > MIN_LENGTH_RANGE

    @property
    def has_limits(self) -> bool:
        """Whether it is known where the order ends."""
        return self.limits.texts < float("inf")

    @property
    def depth_name(self) -> str:
        """What a depth measures, for people."""
        return self.order.depth_name if self.by_length else "mean violation above photos"

    def node(self, number: int) -> Node:
        """Return the node of an item."""
        item = self.items[number]
        return Node(item.text, item.kind, self.x[[number]], number)

    def depth_of(self, node: Node) -> float:
        """Return the depth of a node; a photo is deeper than everything else."""
        if node.kind == PHOTO:
            return float("inf")
        if node.number is not None:
            return float(self.depths[node.number])
        return float(self.depth(node.embedding))

    def depth(self, x: Tensor) -> Tensor:
        """Return the depths `(M,)` of embeddings `(M, K)`: 0 at the root, larger if specific."""
        if self.by_length:
            lengths: Tensor = x.norm(dim=1)
            return lengths
        photos = self.x[self.of_kind[PHOTO]]
        sample = photos[:: -(-len(photos) // MAX_SAMPLE)]
        violations = self.order.violation(Embeddings(x), Embeddings(sample))  # (M, P)
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
        """The least difference in depth of a step from or to a caption; 0 where limits are known.

        Where they are not, short steps are hardly better than chance.
        """
        if self.has_limits:
            return 0.0
        inner = self.depths[~self.of_kind[ROOT]]
        return GAP * float(inner.max() - inner.min())

    def limit_below(self, kind: str) -> float:
        """Return the largest violation of what lies above an item of this kind."""
        return self.limits.photos if kind == PHOTO else self.limits.texts

    def violations(self, embedding: Tensor, numbers: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return E(item, embedding) and E(embedding, item), `(M,)` each.

        Args:
            embedding: `(1, K)`.
            numbers: `(M,)`, the items; by default all.
        """
        x = self.x if numbers is None else self.x[numbers]
        return self.order.violations_around(x, embedding)

    @cached_property
    def number_of_text(self) -> Mapping[str, int]:
        """The number of each concept and caption, by its `generalize.key`."""
        return {
            generalize.key(item.text): number
            for number, item in enumerate(self.items)
            if item.kind != PHOTO
        }

    @cached_property
    def _not_photos(self) -> Tensor:
        """Indices of all items except photos; only these can lie above something."""
        return (~self.of_kind[PHOTO]).nonzero()[:, 0]

    def above(
        self,
        node: Node,
        *,
        start: Node | None = None,
        candidates: Collection[int] | None = None,
    ) -> list[Step]:
        """Return the items above a node, the most specific first. No caption is above a concept.

        Without limits, items are ranked by `PENALTY` times the violation plus the distance upwards;
        ranked by the violation alone, the root would always come first. Where violations are
        angles there is no such distance: the most specific of two equal ones comes first, and the
        root last.

        Args:
            node: The node.
            start: Where a walk began. Items must lie above it as well.
            candidates: If given, only these items (including captions) and the root are returned,
                however small the difference in depth.
        """
        numbers = self._not_photos
        if candidates is not None:
            listed = torch.tensor(sorted(candidates), dtype=numbers.dtype)
            numbers = numbers[self.of_kind[ROOT][numbers] | torch.isin(numbers, listed)]
        up, down = self.violations(node.embedding, numbers)
        worst, allowed = up, up <= self.limit_below(node.kind)
        if start is not None:
            from_start = self.violations(start.embedding, numbers)[0]
            worst = torch.maximum(up, from_start)
            allowed &= from_start <= self.limit_below(start.kind)
        is_caption = self.of_kind[CAPTION][numbers]
        is_root = self.of_kind[ROOT][numbers]
        depth, depths = self.depth_of(node), self.depths[numbers]
        concepts_only = node.kind == CONCEPT and candidates is None
        if candidates is not None:
            gap = torch.zeros_like(depths)
        else:
            gap = torch.where(is_caption, self.gap, 0.0 if concepts_only else self.gap)
        allowed &= (depths < depth - gap) & (up <= down)
        if concepts_only:
            allowed &= ~is_caption
        cost = -depths
        if not self.has_limits:
            cost = PENALTY * worst + (down if self.order.by_coordinates else -depths)
        if not self.by_length:  # everything is equally far from the root
            allowed |= is_root & (depths < depth)
        if not (self.by_length and (self.has_limits or self.order.by_coordinates)):
            cost = cost.masked_fill(is_root, float(cost.max()) + 1)  # the root comes last
        return _cheapest(cost, allowed, violations=up, numbers=numbers)

    def below(
        self, node: Node, *, kind: str | None = None, start: Node | None = None
    ) -> list[Step]:
        """Return the items below a node, nearest first; photos are ranked by their violation alone.

        Args:
            node: The node.
            kind: Return items of this kind; by default of all kinds except photos.
            start: Where a walk began. Items must lie below it as well.
        """
        numbers = self.of_kind[kind].nonzero()[:, 0] if kind else self._not_photos
        up, down = self.violations(node.embedding, numbers)
        worst = down
        if start is not None:
            worst = torch.maximum(down, self.violations(start.embedding, numbers)[1])
        if kind == PHOTO:
            allowed, cost = worst <= self.limits.photos, worst
        else:
            gap = torch.where(self.of_kind[CAPTION][numbers], self.gap, 0)
            allowed = self.depths[numbers] > self.depth_of(node) + gap
            allowed &= (down <= up) & (worst <= self.limits.texts)
            cost = up if self.has_limits else up + PENALTY * worst
        return _cheapest(cost, allowed, violations=down, numbers=numbers)

    def children(self, node: Node) -> list[Step]:
        """Return the items, except photos, directly below a node, nearest first.

        These are the items of `below` without another of these items above them; without limits
        they are all items of `below`, as too many lie above each other.
        """
        below = self.below(node)
        if not self.has_limits:
            return below
        numbers = torch.tensor([step.number for step in below], dtype=torch.long)
        x, depths = Embeddings(self.x[numbers]), self.depths[numbers]
        violations = self.order.violation(x, x)  # (M, M)
        above = (violations <= self.limits.texts) & (violations <= violations.T)
        between = (above & (depths[:, None] < depths)).any(0)
        return [step for step, has in zip(below, between.tolist(), strict=True) if not has]

    def nearest(self, embedding: Tensor, k: int, kind: str) -> list[Step]:
        """Return the k items of a kind nearest to an embedding `(1, K)`.

        The distance is the sum of the violations in both directions: the squared distance of
        coordinates, or otherwise roughly the angle between two items as seen from the root.
        """
        numbers = self.of_kind[kind].nonzero()[:, 0]
        up, down = self.violations(embedding, numbers)
        distances = up + down
        everything = torch.ones_like(distances, dtype=torch.bool)
        return _cheapest(distances, everything, violations=distances, numbers=numbers, k=k)


def hierarchy_of_photos(
    texts: Sequence[Item],
    x_texts: Tensor,
    photos: Sequence[str],
    x_photos: Tensor,
    order: Order,
    limits: Limits = NO_LIMITS,
) -> Hierarchy:
    """Return the hierarchy of the origin, texts and photos, in this order.

    Args:
        texts: T concepts and captions.
        x_texts: `(T, K)`.
        photos: Names of P photos.
        x_photos: `(P, K)`.
        order: The order among them.
        limits: The largest violations of a step.

    Raises:
        UserError: As `Hierarchy` does.
    """
    items = [Item(ROOT, ROOT_TEXT), *texts]
    items += [Item(PHOTO, name, number) for number, name in enumerate(photos)]
    origin = torch.zeros(1, x_texts.shape[1])
    return Hierarchy(items, torch.cat([origin, x_texts, x_photos]), order, limits)


def hierarchy_of_concepts(
    names: Sequence[str], x: Tensor, order: Order, limits: Limits = NO_LIMITS
) -> Hierarchy:
    """Return the hierarchy of N concepts; the one with the shortest embedding is the root.

    Args:
        names: Names of the concepts.
        x: `(N, K)`.
        order: The order among them.
        limits: The largest violations of a step.

    Raises:
        UserError: As `Hierarchy` does.
    """
    root = int(x.norm(dim=1).argmin())
    items = [
        Item(kind=ROOT if number == root else CONCEPT, text=name, number=number)
        for number, name in enumerate(names)
    ]
    return Hierarchy(items, x, order, limits)


def compose(embeddings: Tensor) -> Tensor:
    """Return the element-wise maximum `(1, K)` of embeddings `(M, K)`; it lies below all of them.

    This is the conjunction of section 4.3: everything that any of them says.
    """
    return embeddings.amax(0, keepdim=True)


def abstract(embeddings: Tensor) -> Tensor:
    """Return the element-wise minimum `(1, K)` of embeddings `(M, K)`; it lies above all of them.

    It keeps what they have in common.
    """
    return embeddings.amin(0, keepdim=True)


def _cheapest(
    cost: Tensor, allowed: Tensor, *, violations: Tensor, numbers: Tensor, k: int = MAX_STEPS
) -> list[Step]:
    """Return the k allowed items of lowest cost. All tensors are `(M,)`."""
    order = cost.masked_fill(~allowed, torch.inf).argsort(stable=True)
    order = order[: min(k, int(allowed.sum()))]
    reached = zip(numbers[order].tolist(), violations[order].tolist(), strict=True)
    return [Step(number, violation) for number, violation in reached]
