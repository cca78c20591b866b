"""Level batching: all trees of a batch run level by level instead of node by node.

A level holds the nodes of one depth, so it depends on the next deeper level only. Within a level,
nodes whose edges to their parents are of one group (a position, a relation) stand side by side:
their states are multiplied by the group's matrix in one product, each state exactly once, and the
products are summed into the parents. A batch takes levels x groups products, however many trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor


class Segment(NamedTuple):
    """Neighbouring rows whose edges are of one group."""

    group: int
    rows: slice


class Level(NamedTuple):
    """All nodes of one depth; the roots' level has no segments."""

    rows: slice
    segments: tuple[Segment, ...]


class Levels(NamedTuple):
    """The N nodes of B trees: the deepest first, the B roots last, in the order of the trees.

    Within a level, nodes are ordered by the group of their edge. The E = N - B nodes that are no
    root own one edge each, to the parent, so that rows 0 ... E-1 number the edges too.
    """

    words: Tensor  # (N,) numbers of words, PAD where a node has none
    sizes: Tensor  # (N,) nodes at and below a node
    parents: Tensor  # (E,) row of the parent
    groups: Tensor  # (E,) group of the edge
    by_group: Tensor  # (E,) all edges, ordered by group
    levels: tuple[Level, ...]  # deepest first, the roots last
    group_segments: tuple[Segment, ...]  # rows of `by_group`

    def to(self, device: torch.device | str) -> Levels:
        return Levels(*(x.to(device) if isinstance(x, Tensor) else x for x in self))

    @property
    def roots(self) -> slice:
        """The rows of the B roots."""
        return self.levels[-1].rows


def flatten(words: Sequence[int], parents: Sequence[int], groups: Sequence[int]) -> Tensor:
    """One tree as numbers (n, 5): word, parent, group of the edge to it, depth, size.

    parents: the number of each node's parent, the root's being its own.
    """
    children: list[list[int]] = [[] for _ in words]
    root = 0
    for node, parent in enumerate(parents):
        if node == parent:
            root = node
        else:
            children[parent].append(node)
    depth, size, order = [0] * len(words), [1] * len(words), [root]
    for node in order:  # grows while it is walked: every node after its parent
        for child in children[node]:
            depth[child] = depth[node] + 1
            order.append(child)
    for node in reversed(order[1:]):
        size[parents[node]] += size[node]
    return torch.tensor([words, parents, groups, depth, size]).T.contiguous()


def collate(trees: Sequence[Tensor]) -> Levels:
    """Trees as `flatten` gives them, (n_i, 5) each, as one batch."""
    lengths = torch.tensor([len(tree) for tree in trees])
    words, parents, groups, depths, sizes = torch.cat(list(trees)).unbind(1)
    parents = parents + (lengths.cumsum(0) - lengths).repeat_interleave(lengths)
    width = int(groups.max()) + 1
    key, order = ((depths.max() - depths) * width + groups).sort(stable=True)
    row = torch.empty_like(order)
    row[order] = torch.arange(len(order))
    edges = len(words) - len(trees)
    groups = groups[order][:edges]
    grouped, by_group = groups.sort(stable=True)
    return Levels(
        words[order],
        sizes[order],
        row[parents[order]][:edges],
        groups,
        by_group,
        (*_levels(key[:edges], width), Level(slice(edges, len(words)), ())),
        _segments(grouped),
    )


def _segments(numbers: Tensor) -> tuple[Segment, ...]:
    """Stretches of equal numbers."""
    values, counts = numbers.unique_consecutive(return_counts=True)
    stops = counts.cumsum(0).tolist()
    return tuple(map(Segment, values.tolist(), map(slice, [0, *stops], stops)))


def _levels(key: Tensor, width: int) -> tuple[Level, ...]:
    """key: (E,) ascending, level * width + group."""
    levels: dict[int, list[Segment]] = {}
    for number, rows in _segments(key):
        levels.setdefault(number // width, []).append(Segment(number % width, rows))
    return tuple(
        Level(slice(segments[0].rows.start, segments[-1].rows.stop), tuple(segments))
        for segments in levels.values()
    )


def multiply(segments: Sequence[Segment], x: Tensor, weights: Tensor, out: Tensor) -> None:
    """out[row] = x[row] @ weights[group] for the rows of the segments.

    x: (N, I); weights: (G, I, O); out: (E, O). A group beyond the last matrix has the identity.
    """
    for group, rows in segments:
        if group < len(weights):
            torch.mm(x[rows], weights[group], out=out[rows])
        else:
            out[rows] = x[rows]


def weight_gradient(tree: Levels, x: Tensor, grad: Tensor, weights: Tensor) -> Tensor:
    """The gradient (G, I, O) of `multiply`'s weights over all levels: one product a group.

    x: (N, I), what was multiplied; grad: (E, O), the gradient of the products.
    """
    x, grad = x[tree.by_group], grad[tree.by_group]
    out = torch.zeros_like(weights)
    for group, rows in tree.group_segments:
        if group < len(weights):
            torch.mm(x[rows].T, grad[rows], out=out[group])
    return out
