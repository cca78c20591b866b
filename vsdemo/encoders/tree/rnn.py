"""Recursive networks of one matrix a group of edges, over any shape of tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from vsdemo.core.embeddings import Embeddings
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.heads import Head
from vsdemo.encoders.tree.encoder import TreeEncoder
from vsdemo.encoders.tree.levels import Levels, multiply, weight_gradient
from vsdemo.encoders.tree.shapes import Shape


class Nonlinearity(NamedTuple):
    """f in place, and its slope where f took the value y."""

    apply_: Callable[[Tensor], Tensor]
    slope: Callable[[Tensor], Tensor]


NONLINEARITIES = {  # those of Socher 2014, section 3.2
    "tanh": Nonlinearity(torch.tanh_, lambda y: 1 - y * y),
    "sigmoid": Nonlinearity(torch.sigmoid_, lambda y: y * (1 - y)),
    "relu": Nonlinearity(torch.relu_, lambda y: (y > 0).to(y.dtype)),
    "none": Nonlinearity(lambda x: x, torch.ones_like),
}


class _Recursion(torch.autograd.Function):
    """h[i] = f(x[i] + sum over children j of share[j] * h[j] @ weights[group of j]).

    x: (N, D); weights: (G, D, D); shares: (E, 1) -> h: (N, D). Autograd alone would keep a copy
    of the weights' gradient for each level.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weights: Tensor, shares: Tensor, tree: Levels, f: Nonlinearity
    ) -> Tensor:
        h = x.clone()  # of a node whose level is still to come: the sum so far
        products = x.new_empty(len(tree.parents), x.shape[1])
        for rows, segments in tree.levels:
            f.apply_(h[rows])
            multiply(segments, h, weights, products)
            h.index_add_(0, tree.parents[rows], products[rows] * shares[rows])
        ctx.save_for_backward(h, weights, shares)
        ctx.tree, ctx.f = tree, f
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        (h, weights, shares), tree, f = ctx.saved_tensors, ctx.tree, ctx.f
        transposed = weights.transpose(1, 2)
        grad = grad.clone()  # of h; once a node's level is done, of the sum below its f
        products = h.new_empty(len(tree.parents), h.shape[1])
        below = torch.empty_like(products)
        grad[tree.roots] *= f.slope(h[tree.roots])
        for rows, segments in reversed(tree.levels[:-1]):
            torch.mul(grad[tree.parents[rows]], shares[rows], out=products[rows])
            multiply(segments, products, transposed, below)
            grad[rows] += below[rows]
            grad[rows] *= f.slope(h[rows])
        return grad, weight_gradient(tree, h, products, weights), None, None, None


class TreeRNN(TreeEncoder):
    """Sentences -> (N, D): the state of the root (Socher 2014, Eq. 1 to 4).

        h_i = f(1 / l(i) (W_v x_i + sum_j l(j) W_g(j) h_j))

    over the children j of node i, g(j) being the group of the edge from j to i that `shape` tells.
    weighted: l(i) is the number of words at and below i; otherwise 1. A group beyond the last name
    of the shape has the identity for its matrix. All matrices start as the identity (of W_v a
    block) plus normal noise.
    """

    def __init__(
        self,
        vocab: Vocab,
        shape: Shape,
        word_dim: int,
        dim: int,
        f: str = "tanh",
        weighted: bool = False,
        noise: float = 0.01,
        dropout: float = 0.0,
        unit: bool = True,
    ) -> None:
        super().__init__(vocab, shape, word_dim)
        self.dim = dim
        self.f, self.weighted = NONLINEARITIES[f], weighted
        self.word = nn.Linear(word_dim, dim, bias=False)
        self.weights = nn.Parameter(torch.eye(dim).repeat(len(shape.names), 1, 1))
        self.dropout = nn.Dropout(dropout)
        self.head = Head(nonnegative=False, unit=unit)
        with torch.no_grad():
            self.word.weight.copy_(torch.eye(dim, word_dim))
            for matrix in (self.word.weight, self.weights):
                matrix += noise * torch.randn_like(matrix)

    def states(self, tree: Levels) -> Tensor:
        """h of every node, (N, D), in the order of `tree`."""
        x = self.word(self.dropout(self.table(tree.words))).to(self.weights.dtype)
        sizes = tree.sizes[:, None].to(x.dtype) if self.weighted else x.new_ones(len(x), 1)
        shares = sizes[: len(tree.parents)] / sizes[tree.parents]
        with torch.autocast(x.device.type, enabled=False):  # its products write in place
            weights = self.weights.transpose(1, 2)
            return _Recursion.apply(x / sizes, weights, shares, tree, self.f)

    def forward(self, batch: Levels) -> Embeddings:
        return Embeddings(self.head(self.dropout(self.states(batch)[batch.roots])))
