"""Level batching: all trees of a batch are computed level by level instead of node by node.

A level holds the nodes of one depth, so it depends only on the next deeper level. Within a level,
nodes whose edges to their parents are of one group (a position, a relation) are neighbours: their
states are multiplied by the group's matrix in one product, each state exactly once, and the
products are summed into the parents. A batch takes levels x groups products, regardless of the
number of trees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from vsdemo.encoders.tree.shapes import Nodes


class Segment(NamedTuple):
    """Neighbouring rows whose edges are of one group."""

    group: int
    rows: slice


class Level(NamedTuple):
    """All nodes of one depth; the level of the roots has no segments."""

    rows: slice
    segments: tuple[Segment, ...]


class Levels(NamedTuple):
    """The N nodes of B trees, the deepest first, the B roots last in the order of the trees.

    Within a level, nodes are ordered by the group of their edge. Each of the E = N - B nodes that
    is not a root owns the edge to its parent, so rows 0 ... E-1 also number the edges.

    Attributes:
        words: (N,) word ids, `PAD` where a node has no word.
        sizes: (N,) number of nodes at and below a node.
        parents: (E,) row of the parent.
        groups: (E,) group of the edge.
        by_group: (E,) all edges, ordered by group.
        levels: The levels, deepest first, the roots last.
        group_segments: Rows of `by_group`.
    """

    words: Tensor
    sizes: Tensor
    parents: Tensor
    groups: Tensor
    by_group: Tensor
    levels: tuple[Level, ...]
    group_segments: tuple[Segment, ...]

    def to(self, device: torch.device | str) -> Levels:
        """Copy the tensors to a device."""
        return self._replace(
            words=self.words.to(device),
            sizes=self.sizes.to(device),
            parents=self.parents.to(device),
            groups=self.groups.to(device),
            by_group=self.by_group.to(device),
        )

    @property
    def roots(self) -> slice:
        """The rows of the B roots."""
        return self.levels[-1].rows


def flatten(nodes: Nodes) -> Tensor:
    """Lay out one tree as numbers (n, 5): word, parent, group of the edge to it, depth, size."""
    children, root = nodes.children()
    depth, size, order = [0] * len(nodes.words), [1] * len(nodes.words), [root]
    for node in order:  # grows during the loop: every node comes after its parent
        for child in children[node]:
            depth[child] = depth[node] + 1
            order.append(child)
    for node in reversed(order[1:]):
        size[nodes.parents[node]] += size[node]
    return torch.tensor([nodes.words, nodes.parents, nodes.groups, depth, size]).T.contiguous()


def collate(trees: Sequence[Tensor]) -> Levels:
    """Sort the nodes of B trees, (n_i, 5) each as `flatten` returns them, into levels."""
    lengths = torch.tensor([len(tree) for tree in trees])  # (B,)
    words, parents, groups, depths, sizes = torch.cat(list(trees)).unbind(1)  # (N,) each
    parents = parents + (lengths.cumsum(0) - lengths).repeat_interleave(lengths)
    width = int(groups.max()) + 1
    # Sort by depth, deepest first, then by group; roots are alone at depth 0, in their order.
    key, order = ((depths.max() - depths) * width + groups).sort(stable=True)
    row = torch.empty_like(order)
    row[order] = torch.arange(len(order))
    edges = len(words) - len(trees)
    edge_groups = groups[order][:edges]
    grouped, by_group = edge_groups.sort(stable=True)
    roots = Level(slice(edges, len(words)), segments=())
    return Levels(
        words=words[order],
        sizes=sizes[order],
        parents=row[parents[order]][:edges],
        groups=edge_groups,
        by_group=by_group,
        levels=(*_levels(key[:edges], width), roots),
        group_segments=_segments(grouped),
    )


def _segments(numbers: Tensor) -> tuple[Segment, ...]:
    """Split sorted numbers (E,) into runs of equal ones."""
    values, counts = torch.unique_consecutive(numbers, return_counts=True)
    segments, start = [], 0
    for value, count in zip(values.tolist(), counts.tolist(), strict=True):
        segments.append(Segment(value, slice(start, start + count)))
        start += count
    return tuple(segments)


def _levels(key: Tensor, width: int) -> tuple[Level, ...]:
    """Split ascending keys (E,), level * width + group, into levels."""
    levels: dict[int, list[Segment]] = {}
    for number, rows in _segments(key):
        level, group = divmod(number, width)
        levels.setdefault(level, []).append(Segment(group, rows))
    return tuple(
        Level(slice(segments[0].rows.start, segments[-1].rows.stop), tuple(segments))
        for segments in levels.values()
    )


def multiply(segments: Sequence[Segment], x: Tensor, weights: Tensor, out: Tensor) -> None:
    """Set out[row] = x[row] @ weights[group] for the rows of the segments.

    Args:
        segments: The rows to multiply.
        x: (N, I).
        weights: (G, I, O); a group beyond the last matrix has the identity.
        out: (E, O), written in place.
    """
    for group, rows in segments:
        if group < len(weights):
            torch.mm(x[rows], weights[group], out=out[rows])
        else:
            out[rows] = x[rows]


def weight_gradient(tree: Levels, x: Tensor, grad: Tensor, weights: Tensor) -> Tensor:
    """Return the gradient of `multiply` for its weights, with one product per group.

    Args:
        tree: The batch.
        x: (N, I), the factors.
        grad: (E, O), the gradient of the products.
        weights: (G, I, O).

    Returns:
        (G, I, O).
    """
    x, grad = x[tree.by_group], grad[tree.by_group]
    out = torch.zeros_like(weights)
    for group, rows in tree.group_segments:
        if group < len(weights):
            torch.mm(x[rows].T, grad[rows], out=out[group])
    return out
