"""Scores: how well a general item (a caption) fits a specific one (a photo); higher is better.

Sign and orientation are the same from the loss to the screen: `score(general, specific)` is
(G, S). `to_unit` maps a score to 0..1 for bars. What a score can do is declared in attributes
(`normalized`, `order`, `directed`, `can_align`), so that callers need no type checks.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from subprocess import CalledProcessError
from types import ModuleType
from typing import Any, ClassVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from vsdemo.core.embeddings import Embeddings

# Numbers in a block of intermediate results; on a CPU few, to fit a cache of 4 MB.
GPU_BLOCK = 1 << 26
CPU_BLOCK = 1 << 20
# Stored items that are converted to single precision and scored at a time.
GPU_PART = 262_144
CPU_PART = 1024
LARGE = 1 << 24  # compiled code is used from this many stored numbers on
KERNELS = {"cpu": "vsdemo.models.cpu_kernels", "cuda": "vsdemo.models.gpu_kernels"}
MANY = {
    "cpu": 1 << 22,
    "cuda": 1 << 27,
}  # compiled code is faster from this many numbers to compare on
COMPILED = (torch.float32, torch.float64)
STORED = (torch.float32, torch.float16)  # precisions of stored items that compiled code can read
ROUNDING = 1e-3  # largest change in the length of a unit vector by half precision
TINY = 1e-5  # smaller products of lengths count as 0
SPARSE = 0.25  # share of pairs with a gradient below which the others are left out
log = logging.getLogger(__name__)


class Score:
    """A similarity of general embeddings (G, D) and specific embeddings (S, D).

    Attributes:
        unit: Short name of the score, shown beside its values.
        meaning: One sentence for visitors.
        normalized: Whether encoders with this score return vectors of length 1.
        can_align: Whether embeddings are sets of parts, so that `align` and the methods below it
            are defined.
        metric: The similarity of `angle_part` by which a vector engine finds candidates for the
            best items: "cosine", "inner" or "euclidean".
        candidates: How many of them it has to find for each of the best items.
    """

    unit: ClassVar[str]
    meaning: ClassVar[str]
    normalized: ClassVar[bool] = True
    can_align: ClassVar[bool] = False
    metric: ClassVar[str] = "cosine"
    candidates: ClassVar[int] = 10

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return all scores, (G, S)."""
        raise NotImplementedError

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,): the diagonal of all scores."""
        raise NotImplementedError

    def to_unit(self, scores: Tensor) -> Tensor:
        """Map scores of encoder outputs to 0..1, keeping their order."""
        return scores.clamp(0, 1)

    def offset(self, general: Embeddings) -> Tensor:
        """Return what general items add to all of their scores, (G,).

        It does not change the order of the specific items. Scores of different general items can be
        compared without it.
        """
        return general.x.new_zeros(len(general))

    def symmetric(self, a: Embeddings, b: Embeddings) -> Tensor:
        """Return the scores of items of one kind, (A, B): the mean of both directions."""
        return (self(a, b) + self(b, a).T) / 2

    def of_query(self, query: Embeddings, stored: Embeddings, *, symmetric: bool = False) -> Tensor:
        """Return the scores of one query with N stored items, (N,), in single precision.

        Args:
            query: One general item (1, D), or a set (1, K, D).
            stored: N specific items on the same device, in single or half precision.
            symmetric: Return the `symmetric` scores instead.
        """
        if stored.mask is None and (kernels := _kernels_for_stored(stored)) is not None:
            scores = self._compiled(kernels, query.x[0], stored.x, symmetric=symmetric)
            if scores is not None:
                return scores
        score = self.symmetric if symmetric else self
        result = query.x.new_empty(len(stored), dtype=torch.float32)
        size = CPU_PART if result.device.type == "cpu" else GPU_PART
        for start in range(0, len(stored), size):
            part = slice(start, start + size)
            result[part] = score(query, stored[part].float())[0]
        return result

    def _compiled(
        self, kernels: ModuleType, query: Tensor, stored: Tensor, *, symmetric: bool
    ) -> Tensor | None:
        """Return `of_query` by compiled code; None if there is none for this score.

        Args:
            kernels: The module of the device, see KERNELS.
            query: (D,).
            stored: (N, D).
            symmetric: Return the `symmetric` scores instead.
        """
        return None

    def best_beyond(self, query: Tensor, similarity: float) -> float | None:
        """Return a score that specific items of low similarity cannot exceed.

        Args:
            query: A general item, (D,).
            similarity: The highest similarity by `metric` with the query; for "euclidean", minus
                the squared distance.

        Returns:
            The score; None if the similarity says nothing about it.
        """
        return None

    @property
    def directed(self) -> Score:
        """The score that says whether something general follows from something specific.

        It is the score itself, unless the score is symmetric and comes with an order.
        """
        return self

    @property
    def order(self) -> Order | None:
        """The order of what `order_part` returns; None for a score without an order."""
        return None

    def order_part(self, x: Tensor) -> Tensor:
        """Return those coordinates of embeddings (N, D) that the order compares, (N, K).

        The root is at 0, and the length of a row says how specific an item is.

        Raises:
            TypeError: The score has no order.
        """
        raise TypeError(f"{type(self).__name__} has no order")

    def angle_part(self, x: Tensor) -> Tensor:
        """Return the coordinates of embeddings (..., D) whose cosine says how similar items are.

        These are all coordinates, unless the score has separate coordinates for something else.
        """
        return x

    def align(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of all parts of sentences with all regions of photos, (G, S, M, K).

        Raises:
            TypeError: `can_align` is false; so do the methods below.
        """
        raise self._no_parts()

    def align_pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return `align` of matching rows, (N, M, K)."""
        raise self._no_parts()

    def align_parts(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return `align` of the R parts that the mask marks, sentence by sentence, (R, S, K)."""
        raise self._no_parts()

    def part_scores(self, aligned: Tensor, fragments: Tensor, specific: Embeddings) -> Tensor:
        """Return what each part adds to the score: aligned (..., S, K) -> (..., S)."""
        raise self._no_parts()

    def pool_parts(self, aligned: Tensor, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of sentences and photos, (G, S), from `align_parts` (R, S, K)."""
        raise self._no_parts()

    def _no_parts(self) -> TypeError:
        return TypeError(f"{type(self).__name__} aligns no parts; it has no fragments of sentences")


class Inner(Score):
    """The inner product.

    score(x, y) = x . y
    """

    unit = "inner product"
    meaning = "Inner product of the sentence's and the photo's vectors."
    normalized = False
    metric = "inner"

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return all scores, (G, S)."""
        return general.x @ specific.x.T

    def _compiled(
        self, kernels: ModuleType, query: Tensor, stored: Tensor, *, symmetric: bool
    ) -> Tensor:
        return cast(Tensor, kernels.products(query, stored))

    def best_beyond(self, query: Tensor, similarity: float) -> float:
        """Return the similarity, which is the score."""
        return similarity

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,)."""
        return (general.x * specific.x).sum(-1)

    def to_unit(self, scores: Tensor) -> Tensor:
        """Map scores to 0..1 by a sigmoid, as the inner product has no bounds."""
        return scores.sigmoid()


class Cosine(Score):
    """The cosine.

    score(x, y) = x . y / (|x| |y|)
    """

    unit = "cosine"
    meaning = "Cosine of the angle between the two vectors; 1 is the same direction."

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return all scores, (G, S)."""
        return F.normalize(general.x, dim=-1) @ F.normalize(specific.x, dim=-1).T

    def _compiled(
        self, kernels: ModuleType, query: Tensor, stored: Tensor, *, symmetric: bool
    ) -> Tensor:
        return cast(Tensor, kernels.cosines(query, stored))

    def best_beyond(self, query: Tensor, similarity: float) -> float:
        """Return the similarity, which is the score."""
        return similarity

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,)."""
        return F.cosine_similarity(general.x, specific.x, dim=-1)


class HubCorrected(Score):
    """The cosine, less what both items have with items of the other kind in general.

    score(x, y) = cos(x, y) - hub(x) - hub(y)

    The last number of an embedding is its hub, see `vsdemo.encoders.hubness`.
    """

    unit = "corrected cosine"
    meaning = (
        "Cosine of the angle between the two vectors, less how similar the photo is to sentences "
        "in general, and the sentence to photos."
    )
    normalized = False
    candidates = 20  # the engine does not know the hubs

    def angle_part(self, x: Tensor) -> Tensor:
        """Return embeddings (..., D + 1) without hubs, (..., D)."""
        return x[..., :-1]

    def offset(self, general: Embeddings) -> Tensor:
        """Return minus the hubs, (G,)."""
        return -general.x[:, -1]

    def symmetric(self, a: Embeddings, b: Embeddings) -> Tensor:
        """Return the cosines of items of one kind, (A, B): hubs compare both kinds."""
        return COSINE(self._vectors(a), self._vectors(b))

    def _vectors(self, embeddings: Embeddings) -> Embeddings:
        return Embeddings(self.angle_part(embeddings.x))

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return all scores, (G, S)."""
        return self.symmetric(general, specific) - general.x[:, -1:] - specific.x[:, -1]

    def _compiled(
        self, kernels: ModuleType, query: Tensor, stored: Tensor, *, symmetric: bool
    ) -> Tensor:
        similar: Tensor = kernels.cosines(query[:-1], stored)
        return similar if symmetric else similar - query[-1] - stored[:, -1].to(query)

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,)."""
        hubs = general.x[:, -1] + specific.x[:, -1]
        return COSINE.pairs(self._vectors(general), self._vectors(specific)) - hubs


class Euclidean(Score):
    """Minus the squared distance, which ranks as the distance does (Socher 2014, section 6.4).

    score(x, y) = -|x - y|^2
    """

    unit = "closeness"
    meaning = "Minus the squared distance of the sentence's and the photo's vectors; 0 is equal."
    normalized = False
    metric = "euclidean"

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return all scores, (G, S)."""
        lengths = general.x.square().sum(-1)[:, None] + specific.x.square().sum(-1)  # (G, S)
        return (2 * general.x @ specific.x.T - lengths).clamp(max=0)

    def _compiled(
        self, kernels: ModuleType, query: Tensor, stored: Tensor, *, symmetric: bool
    ) -> Tensor:
        return -cast(Tensor, kernels.squared_distances(query, stored))

    def best_beyond(self, query: Tensor, similarity: float) -> float:
        """Return the similarity, which is the score."""
        return similarity

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,)."""
        return -(general.x - specific.x).square().sum(-1)

    def to_unit(self, scores: Tensor) -> Tensor:
        """Map scores to 0..1: 1 / (1 + squared distance)."""
        return 1 / (1 - scores.clamp(max=0))


class Order(Score):
    """A score that says how far something general lies above something specific.

    Attributes:
        reversed: Whether photos lie above captions.
        by_coordinates: Whether each coordinate is an order of its own, so that `excess` is defined
            and E(x, y) + E(y, x) is the squared distance. Other violations are angles.
        is_emergent: Whether the order is read from a space that was trained without it.
        depth_name: Name of the length of a vector, shown to people.
    """

    by_coordinates: ClassVar[bool] = False
    is_emergent: ClassVar[bool] = False
    depth_name: ClassVar[str] = "length"
    reversed: bool = False

    @property
    def order(self) -> Order:
        """The score itself."""
        return self

    def order_part(self, x: Tensor) -> Tensor:
        """Return all coordinates, (N, D)."""
        return x

    def violation(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return E, (G, S): 0 where the general item lies above the specific one, or larger."""
        return (-self(general, specific)).clamp(min=0)

    def violations_around(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return E(x, y) and E(y, x) of items x (M, K) and one item y (1, K), (M,) each."""
        items, one = Embeddings(x), Embeddings(y)
        return self.violation(items, one)[:, 0], self.violation(one, items)[0]

    def excess(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return by how much matching rows violate the order in each coordinate, (N, D).

        The order holds where no number is above 0.

        Raises:
            TypeError: `by_coordinates` is false.
        """
        raise TypeError(f"{type(self).__name__} is no order of each coordinate")


class OrderViolation(Order):
    """Minus the order violation E (Vendrov 2016, Eq. 2 and section 4).

    score(x, y) = -E(y, x) = -|max(0, x - y)|^2

    The general x lies above the specific y when no coordinate of x exceeds that of y. `reversed`
    places photos above captions: score(x, y) = -|max(0, y - x)|^2.

    Attributes:
        reversed: Whether photos lie above captions.
    """

    by_coordinates = True
    unit = "order fit"
    meaning = (
        "1 minus the order violation: how fully the photo's vector covers the sentence's. "
        "1 means that the sentence lies above the photo in the hierarchy."
    )

    def __init__(self, *, reversed: bool = False) -> None:
        self.reversed = reversed

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return all scores, (G, S)."""
        return -self.violation(general, specific)

    def violation(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return E, (G, S)."""
        violation: Tensor
        if self.reversed:
            violation = _OrderViolation.apply(specific.x, general.x).T
        else:
            violation = _OrderViolation.apply(general.x, specific.x)
        return violation

    def _compiled(
        self, kernels: ModuleType, query: Tensor, stored: Tensor, *, symmetric: bool
    ) -> Tensor:
        if symmetric:  # E(x, y) + E(y, x) = |x - y|^2
            return -cast(Tensor, kernels.squared_distances(query, stored)) / 2
        violations = kernels.violations_above if self.reversed else kernels.violations_below
        return -cast(Tensor, violations(query, stored))

    def best_beyond(self, query: Tensor, similarity: float) -> float | None:
        """Return the best score of items of length 1 whose cosine with the query is lower.

        By Cauchy and Schwarz, x . (x - y) <= x . max(0, x - y) <= |x| E(y, x)^1/2 for x >= 0, and
        so E >= (1 - x . y)^2 for |x| = 1.
        """
        if self.reversed or bool((query < 0).any()):
            return None
        return -(max(0.0, 1 - similarity - ROUNDING) ** 2)

    def violations_around(self, x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        """Return E(x, y) and E(y, x) of items x (M, K) and one item y (1, K), (M,) each.

        Their sum is the squared distance |x - y|^2, which is quick.
        """
        above = self.violation(Embeddings(x), Embeddings(y))[:, 0]
        square = x.square().sum(1) - 2 * (x @ y[0]) + y.square().sum()
        return above, (square - above).clamp(min=0)

    def excess(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return by how much matching rows violate the order in each coordinate, (N, D).

        It is x - y, or y - x if reversed; the order holds where no number is above 0.
        """
        return specific.x - general.x if self.reversed else general.x - specific.x

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,)."""
        return -self.excess(general, specific).clamp(min=0).square().sum(-1)

    def to_unit(self, scores: Tensor) -> Tensor:
        """Map scores to 0..1; the violation of vectors of length 1 is at most 1."""
        return (1 + scores).clamp(0, 1)


class _OrderViolation(torch.autograd.Function):
    """E[i, j] = sum_d max(0, lower_id - upper_jd)^2, block by block in both directions.

    Autograd alone would keep (I, J, D) numbers for the backward pass: 20 GB for Flickr8k's test.
    """

    @staticmethod
    def forward(ctx: Any, lower: Tensor, upper: Tensor) -> Tensor:
        ctx.save_for_backward(lower, upper)
        if (kernels := _kernels_for_pairs(lower, upper)) is not None:
            return cast(Tensor, kernels.violation(lower, upper))
        violation = lower.new_empty(len(lower), len(upper))
        for i, j in _blocks(lower, upper):
            excess = (lower[i, None] - upper[j]).clamp_(min=0)  # (i, j, D)
            violation[i, j] = torch.linalg.vecdot(excess, excess)
        return violation

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        lower, upper = ctx.saved_tensors
        to_lower, to_upper = torch.zeros_like(lower), torch.zeros_like(upper)
        if lower.device.type != "cpu" and (kernels := _kernels_for_pairs(lower, upper)) is not None:
            return cast(tuple[Tensor, Tensor], kernels.violation_gradients(lower, upper, grad))
        if lower.device.type == "cpu" and grad.count_nonzero() < SPARSE * grad.numel():
            for rows, columns in _pairs(grad, lower):
                slope = (lower[rows] - upper[columns]).clamp_(min=0)  # (n, D)
                slope.mul_(2 * grad[rows, columns, None])
                to_lower.index_add_(0, rows, slope)
                to_upper.index_add_(0, columns, slope, alpha=-1)
            return to_lower, to_upper
        for i, j in _blocks(lower, upper):
            slope = (lower[i, None] - upper[j]).clamp_(min=0).mul_(2 * grad[i, j, None])
            to_lower[i] += slope.sum(1)
            to_upper[j] -= slope.sum(0)
        return to_lower, to_upper


def _kernels_for_pairs(lower: Tensor, upper: Tensor) -> ModuleType | None:
    """Return the compiled code of a device if it can compare these items and there are many."""
    many = MANY.get(lower.device.type)
    if many is None or not (lower.dtype == upper.dtype in COMPILED):
        return None
    return _kernels(lower.device) if len(lower) * upper.numel() >= many else None


def _kernels_for_stored(stored: Embeddings) -> ModuleType | None:
    """Return the compiled code of a device if it can read these items and there are many."""
    x = stored.x
    is_readable = x.device.type in KERNELS and x.dtype in STORED and x.numel() >= LARGE
    return _kernels(x.device) if is_readable else None


@cache
def _kernels(device: torch.device) -> ModuleType | None:
    """Return the compiled code of a device; None where nothing can be compiled."""
    try:
        kernels = import_module(KERNELS[device.type])
        one = torch.zeros(1, 1, device=device)
        kernels.violation(one, one)  # fails where Triton has no compiler
    except (ImportError, RuntimeError, OSError, CalledProcessError) as error:
        log.warning("scores are not compiled (%s)", error)
        return None
    return kernels


def _pairs(grad: Tensor, lower: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Cut the pairs whose gradient is not 0 so that a block of (n, D) numbers stays small."""
    size = max(1, _block_size(lower) // lower.shape[1])
    for block in grad.nonzero().split(size):
        yield block[:, 0], block[:, 1]


def _blocks(lower: Tensor, upper: Tensor) -> Iterator[tuple[slice, slice]]:
    """Cut (I, J) so that a block of (i, j, D) numbers stays small."""
    size, dim = _block_size(lower), upper.shape[1]
    columns = max(1, min(len(upper), size // dim))
    rows = max(1, size // (columns * dim))
    for i in range(0, len(lower), rows):
        for j in range(0, len(upper), columns):
            yield slice(i, i + rows), slice(j, j + columns)


def _block_size(x: Tensor) -> int:
    return CPU_BLOCK if x.device.type == "cpu" else GPU_BLOCK


class AngleAndOrder(Score):
    """The cosine of one part of the vectors minus the order violation of the other.

    score(x, y) = cos(a(x), a(y)) - weight |max(0, o(x) - o(y))|^2

    The first `angle` coordinates of an embedding, a, have length 1 and say what it is about. The
    others, o, are nonnegative and say how much it says: the order is among them.
    """

    unit = "match"
    meaning = (
        "Cosine of what the sentence and the photo are about, minus how far the sentence says more "
        "than the photo shows."
    )
    normalized = False
    candidates = 20  # the engine does not know the violation

    def __init__(self, angle: int, *, weight: float) -> None:
        self.angle, self.weight = angle, weight

    @property
    def directed(self) -> AngleAndOrder:
        """The score with the violation; a score of weight 0 has none, and so no direction."""
        return self if self.weight else angle_and_order(self.angle, weight=1.0)

    @property
    def order(self) -> OrderViolation:
        """The order of the second part."""
        return ORDER

    def angle_part(self, x: Tensor) -> Tensor:
        """Return a, (N, angle)."""
        return x[:, : self.angle]

    def order_part(self, x: Tensor) -> Tensor:
        """Return o, (N, K)."""
        return x[:, self.angle :]

    def _parts(self, embeddings: Embeddings) -> tuple[Tensor, Embeddings]:
        """Return a, (N, angle), and o, (N, K)."""
        x = embeddings.x
        return self.angle_part(x), Embeddings(self.order_part(x).contiguous())

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return all scores, (G, S)."""
        (a, o), (b, p) = self._parts(general), self._parts(specific)
        return a @ b.T + self.weight * ORDER(o, p)

    def _compiled(
        self, kernels: ModuleType, query: Tensor, stored: Tensor, *, symmetric: bool
    ) -> Tensor:
        angles: Tensor = kernels.products(query[: self.angle], stored)
        compare = kernels.squared_distances if symmetric else kernels.violations_below
        violations: Tensor = compare(query[self.angle :], stored, self.angle)
        return angles - self.weight * violations / (2 if symmetric else 1)

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,)."""
        (a, o), (b, p) = self._parts(general), self._parts(specific)
        return (a * b).sum(-1) + self.weight * ORDER.pairs(o, p)

    def to_unit(self, scores: Tensor) -> Tensor:
        """Map scores to 0..1 by a sigmoid, as the violation has no small bound."""
        return scores.sigmoid()


class RadialOrder(Order):
    """Minus the exterior angle in radians (Alper & Averbuch-Elor 2024, section 3).

    E(x, y) = acos( x . (y - x) / (|x| |y - x|) )

    It is 0 where y lies directly behind x as seen from the root, which is at 0, and pi where y lies
    between the root and x. The root lies above everything, and everything above itself.
    """

    is_emergent = True
    depth_name = "distance from the root"
    unit = "fit"
    meaning = (
        "Minus the angle at the sentence between the directions from the root and to the photo."
    )
    normalized = False

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return all scores, (G, S)."""
        x, y = general.x, specific.x
        inner = x @ y.T
        return -_exterior_angle(inner, x.square().sum(1)[:, None], y.square().sum(1))

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,)."""
        x, y = general.x, specific.x
        return -_exterior_angle((x * y).sum(1), x.square().sum(1), y.square().sum(1))

    def to_unit(self, scores: Tensor) -> Tensor:
        """Map scores to 0..1: 1 for an angle of 0."""
        return (1 + scores / torch.pi).clamp(0, 1)


def _exterior_angle(inner: Tensor, square_x: Tensor, square_y: Tensor) -> Tensor:
    """Return the exterior angle from x . y, |x|^2 and |y|^2, all of one shape."""
    between = (square_x + square_y - 2 * inner).clamp(min=0)  # |y - x|^2
    lengths = (square_x * between).sqrt()
    cosine = (inner - square_x) / lengths.clamp(min=TINY)
    return cosine.clamp(-1, 1).acos().masked_fill(lengths < TINY, 0)


class ExteriorAngle(Score):
    """The radial order of embeddings whose root is not at 0.

    Args:
        root: The root, (D,).
    """

    unit = RadialOrder.unit
    meaning = RadialOrder.meaning
    normalized = False

    def __init__(self, root: Tensor) -> None:
        self.root = root

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return all scores, (G, S)."""
        return RADIAL(Embeddings(general.x - self.root), Embeddings(specific.x - self.root))

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,)."""
        return RADIAL.pairs(Embeddings(general.x - self.root), Embeddings(specific.x - self.root))

    def to_unit(self, scores: Tensor) -> Tensor:
        """Map scores to 0..1: 1 for an angle of 0."""
        return RADIAL.to_unit(scores)


class FragmentAlignment(Score):
    """How well the fragments of a sentence match the regions of a photo (Karpathy 2014, Eq. 6).

    S_kl = 1 / (|g_k| (|g_l| + n)) sum_i sum_j max(0, v_i . s_j)

    over the regions i of photo k and the fragments j of sentence l; n is `smoothing`. With
    `best_region` only the best region of each fragment counts, without |g_k|. Sentences are
    (G, M, D) and photos (S, K, D) with masks; a missing fragment or region is a vector of zeros.
    With `signed`, a fragment whose last number is negative is denied: what it matches counts
    against the photo. The last number of a region is then 0.
    """

    unit = "alignment"
    meaning = (
        "How well the parts of the sentence match the regions of the photo, on average; "
        "it never reaches 1."
    )
    can_align = True

    def __init__(
        self, *, smoothing: float = 5.0, best_region: bool = False, signed: bool = False
    ) -> None:
        self.smoothing, self.best_region, self.signed = smoothing, best_region, signed

    def __call__(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return all scores, (G, S)."""
        size = _block_size(general.x) * 8  # a block is written once, not squared
        numbers = max(1, general.x.shape[1] * specific.x.shape[1])  # of a pair: M K
        columns = max(1, min(len(specific), size // numbers))
        rows = max(1, size // (numbers * columns))
        scores = general.x.new_zeros(len(general), len(specific))
        for i in range(0, len(general), rows):
            sentences = general[i : i + rows]
            for j in range(0, len(specific), columns):
                photos = specific[j : j + columns]
                aligned = self.align_parts(sentences, photos)
                scores[i : i + rows, j : j + columns] = self.pool_parts(aligned, sentences, photos)
        return scores

    def of_query(self, query: Embeddings, stored: Embeddings, *, symmetric: bool = False) -> Tensor:
        """Return the scores of one query with N stored items, (N,), in single precision."""
        is_compiled = not symmetric and stored.x.device.type == "cpu"
        if not is_compiled or (kernels := _kernels_for_stored(stored)) is None:
            return super().of_query(query, stored, symmetric=symmetric)
        fragments = query.x[_mask(query)]  # (M, D)
        regions = _mask(stored).sum(1).clamp(min=1)  # |g_k|, (N,)
        sums: Tensor = kernels.alignments(
            fragments, self._signs(fragments), stored.x, regions, best_region=self.best_region
        )
        return self.mean_part(sums, _mask(query).sum())

    def align(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return v_i . s_j of all fragments and regions, (G, S, M, K)."""
        return torch.einsum("gmd,skd->gsmk", general.x, specific.x)

    def align_pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return v_i . s_j of sentence n with photo n, (N, M, K)."""
        return general.x @ specific.x.transpose(1, 2)

    def align_parts(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return v_i . s_j of the R fragments that exist, (R, S, K): what the loss trains on."""
        flat = general.x[_mask(general)] @ specific.x.flatten(0, 1).T  # (R, S K)
        aligned: Tensor = flat.unflatten(1, specific.x.shape[:2])
        return aligned

    def part_scores(self, aligned: Tensor, fragments: Tensor, specific: Embeddings) -> Tensor:
        """Return the sum over regions of Eq. 6 / |g_k|, (..., S), or the best region's.

        Args:
            aligned: v_i . s_j, (..., S, K).
            fragments: s_j, (..., 1, D) or (..., S, D).
            specific: The S photos.
        """
        positive = aligned.clamp(min=0)
        if self.best_region:
            return self._signs(fragments) * positive.amax(-1)
        regions = _mask(specific).sum(-1).clamp(min=1)  # |g_k|, (S,)
        return self._signs(fragments) * positive.sum(-1) / regions

    def mean_part(self, parts: Tensor, count: Tensor) -> Tensor:
        """Return `part_scores`, or their sums, divided by |g_l| + n.

        Args:
            parts: What fragments add.
            count: |g_l|, the number of fragments; without any the score is 0.
        """
        return parts / (count + self.smoothing).clamp(min=1)

    def angle_part(self, x: Tensor) -> Tensor:
        """Return embeddings (..., D) without the number that says whether a fragment is denied.

        A denied fragment points the other way, so that it is not similar to the same fragment that
        is not denied.
        """
        return self._signs(x)[..., None] * x[..., :-1] if self.signed else x

    def _signs(self, fragments: Tensor) -> Tensor:
        """Return -1 for fragments (..., D) that are denied, 1 for the others, (...)."""
        last = fragments[..., -1]
        return torch.where(last < 0, -1.0, 1.0).to(last) if self.signed else torch.ones_like(last)

    def pool_parts(self, aligned: Tensor, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return Eq. 6, (G, S), from `align_parts` (R, S, K)."""
        mask = _mask(general)
        sentence = mask.nonzero()[:, 0]  # (R,)
        sums = aligned.new_zeros(len(mask), len(specific))
        parts = self.part_scores(aligned, general.x[mask][:, None], specific)  # (R, S)
        sums = sums.index_add(0, sentence, parts)
        return self.mean_part(sums, mask.sum(1, keepdim=True))

    def pairs(self, general: Embeddings, specific: Embeddings) -> Tensor:
        """Return the scores of matching rows, (N,)."""
        aligned = self.align_pairs(general, specific).transpose(0, 1)  # (M, N, K)
        sums = self.part_scores(aligned, general.x.transpose(0, 1), specific).sum(0)  # (N,)
        return self.mean_part(sums, _mask(general).sum(1))

    def to_unit(self, scores: Tensor) -> Tensor:
        """Map scores to 0..1: s / (1 + s), and negative ones to 0."""
        positive = scores.clamp(min=0)
        return positive / (1 + positive)


def _mask(embeddings: Embeddings) -> Tensor:
    """Return the mask of sets, (N, K)."""
    if embeddings.mask is None:
        raise TypeError("these embeddings are single vectors, not sets of parts")
    return embeddings.mask


COSINE = Cosine()
ORDER = OrderViolation()
RADIAL = RadialOrder()
SCORES: dict[str, Score] = {
    "inner": Inner(),
    "cosine": COSINE,
    "hub_corrected": HubCorrected(),
    "euclidean": Euclidean(),
    "order": ORDER,
    "order_reversed": OrderViolation(reversed=True),
}


@cache
def angle_and_order(angle: int, *, weight: float) -> AngleAndOrder:
    """Return the score with these settings, the same object each time."""
    return AngleAndOrder(angle, weight=weight)


@cache
def fragment_alignment(
    *, smoothing: float, best_region: bool, signed: bool = False
) -> FragmentAlignment:
    """Return the score with these settings, the same object each time."""
    return FragmentAlignment(smoothing=smoothing, best_region=best_region, signed=signed)
