"""Recursive networks with one matrix per group of edges, over trees of any shape."""

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
    """A function f.

    Attributes:
        apply_: Applies f in place.
        slope: Slope of f as a function of its value y.
    """

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

    Takes x (N, D), weights (G, D, D) and shares (E, 1), returns h (N, D). Autograd alone would keep
    a copy of the weights' gradient for each level.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weights: Tensor, shares: Tensor, tree: Levels, f: Nonlinearity
    ) -> Tensor:
        h = x.clone()  # the sum so far for nodes of later levels
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
        h, weights, shares = ctx.saved_tensors
        tree, f = ctx.tree, ctx.f
        transposed = weights.transpose(1, 2)
        grad = grad.clone()  # of h; of the sum below f for nodes of finished levels
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
    """A recursive network (Socher 2014, Eq. 1 to 4): the state of the root, (N, D).

        h_i = f(1 / l(i) (W_v x_i + sum_j l(j) W_g(j) h_j))                  (Eq. 4)

    over the children j of node i; g(j) is the group of the edge from j to i. A group beyond the
    last name of the shape has the identity as its matrix. All matrices start as the identity (W_v
    as a block of it) plus normal noise.

    Args:
        vocab: The known words.
        shape: How a sentence becomes a tree.
        word_dim: Length of a word vector.
        dim: Length D of the states and of the embeddings.
        nonlinearity: Name of f in `NONLINEARITIES`.
        weighted: Let l(i) be the number of words at and below i; otherwise it is 1.
        noise: Standard deviation of the noise.
        dropout: Share of word vectors and of the root's state set to 0.
        head: Applied last; by default it normalises to length 1.
    """

    def __init__(  # noqa: PLR0913 -- hyperparameters, keyword-only
        self,
        vocab: Vocab,
        shape: Shape,
        *,
        word_dim: int,
        dim: int,
        nonlinearity: str = "tanh",
        weighted: bool = False,
        noise: float = 0.01,
        dropout: float = 0.0,
        head: Head | None = None,
    ) -> None:
        super().__init__(vocab, shape, word_dim)
        self.dim = dim
        self.nonlinearity = NONLINEARITIES[nonlinearity]
        self.weighted = weighted
        self.word = nn.Linear(word_dim, dim, bias=False)
        self.weights = nn.Parameter(torch.eye(dim).repeat(len(shape.names), 1, 1))
        self.dropout = nn.Dropout(dropout)
        self.head = Head() if head is None else head
        with torch.no_grad():
            self.word.weight.copy_(torch.eye(dim, word_dim))
            for matrix in (self.word.weight, self.weights):
                matrix += noise * torch.randn_like(matrix)

    def states(self, tree: Levels) -> Tensor:
        """Compute h of every node, (N, D), in the order of `tree`."""
        words: Tensor = self.word(self.dropout(self.table(tree.words)))  # (N, D)
        x = words.to(self.weights.dtype)
        sizes = tree.sizes[:, None].to(x.dtype) if self.weighted else x.new_ones(len(x), 1)
        shares = sizes[: len(tree.parents)] / sizes[tree.parents]  # l(j) / l(i), (E, 1)
        with torch.autocast(x.device.type, enabled=False):  # the recursion writes in place
            weights = self.weights.transpose(1, 2)
            h: Tensor = _Recursion.apply(x / sizes, weights, shares, tree, self.nonlinearity)
        return h  # Eq. 4

    def forward(self, batch: Levels) -> Embeddings:
        """Embed a batch of B trees: (B, D)."""
        roots = self.states(batch)[batch.roots]
        return Embeddings(self.head(self.dropout(roots)))
