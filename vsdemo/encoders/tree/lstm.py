"""An LSTM over trees with separate matrices for each group of edges."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from vsdemo.core.embeddings import Embeddings
from vsdemo.data.text.vocab import Vocab
from vsdemo.encoders.heads import Head
from vsdemo.encoders.tree.encoder import TreeEncoder
from vsdemo.encoders.tree.levels import Levels, multiply, weight_gradient
from vsdemo.encoders.tree.shapes import Shape


class _Recursion(torch.autograd.Function):
    """The states h (N, D) of an LSTM over trees with K groups of edges and so 3 + K gates.

    Takes x (N, 4 D), what each word adds to the gates i, o, u and to every forget gate, and weights
    (K, D, (3 + K) D), what a child of each group adds to i, o, u and the K forget gates. The states
    and all products have the precision of the weights, sums and gates that of x.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weights: Tensor, tree: Levels) -> Tensor:
        n, d, k = len(x), x.shape[1] // 4, len(weights)
        gates = torch.cat([x, x[:, 3 * d :].repeat(1, k - 1)], 1)  # (N, (3 + K) D)
        # Row of each edge's forget gate among those of gates.view(-1, d), (N (3 + K), D).
        forget = tree.parents * (3 + k) + 3 + tree.groups  # (E,)
        products = weights.new_empty(len(forget), gates.shape[1])
        c, h, f = x.new_zeros(n, d), weights.new_empty(n, d), x.new_empty(len(forget), d)
        for rows, segments in tree.levels:
            gates[rows, : 2 * d].sigmoid_()
            gates[rows, 2 * d : 3 * d].tanh_()
            i, o, u, _ = gates[rows].split([d, d, d, k * d], 1)  # Eq. 7 to 9
            c[rows] += i * u  # Eq. 4; the children have added their part
            torch.mul(o, c[rows].tanh(), out=h[rows])  # Eq. 3
            if not segments:  # roots have no parent
                break
            multiply(segments, h, weights, products)
            gates.index_add_(0, tree.parents[rows], products[rows].to(x.dtype))
            torch.sigmoid(gates.view(-1, d)[forget[rows]], out=f[rows])  # Eq. 5 and 6
            c.index_add_(0, tree.parents[rows], f[rows] * c[rows])
        ctx.save_for_backward(h, c, f, gates, weights, forget)
        ctx.tree = tree
        return h

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        h, c, f, gates, weights, forget = ctx.saved_tensors
        tree = ctx.tree
        d, transposed = h.shape[1], weights.transpose(1, 2)
        grad = grad.to(c.dtype, copy=True)
        to_c, to_gates = torch.zeros_like(c), torch.zeros_like(gates)
        products, below = h.new_empty(len(forget), gates.shape[1]), h.new_empty(len(forget), d)
        _to_own_gates(tree.roots, to_h=grad, to_c=to_c, to_gates=to_gates, c=c, gates=gates)
        for rows, segments in reversed(tree.levels[:-1]):
            up, keep = to_c[tree.parents[rows]], f[rows]
            torch.mul(up, keep, out=to_c[rows])
            to_gates.view(-1, d).index_add_(0, forget[rows], up * c[rows] * keep * (1 - keep))
            products[rows] = to_gates[tree.parents[rows]]
            multiply(segments, products, transposed, below)
            grad[rows] += below[rows]
            _to_own_gates(rows, to_h=grad, to_c=to_c, to_gates=to_gates, c=c, gates=gates)
        to_forget = to_gates[:, 3 * d :].view(len(h), -1, d).sum(1)
        to_x = torch.cat([to_gates[:, : 3 * d], to_forget], 1)
        return to_x, weight_gradient(tree, h, products, weights), None


def _to_own_gates(
    rows: slice, *, to_h: Tensor, to_c: Tensor, to_gates: Tensor, c: Tensor, gates: Tensor
) -> None:
    """Pass the gradient of some nodes' h on to their c and to their gates i, o and u."""
    d = c.shape[1]
    i, o, u = gates[rows, : 3 * d].chunk(3, 1)
    to_i, to_o, to_u = to_gates[rows, : 3 * d].chunk(3, 1)
    tanh = c[rows].tanh()
    to_c[rows] += to_h[rows] * o * (1 - tanh * tanh)
    torch.mul(to_c[rows] * u, i * (1 - i), out=to_i)
    torch.mul(to_h[rows] * tanh, o * (1 - o), out=to_o)
    torch.mul(to_c[rows] * i, 1 - u * u, out=to_u)


class TreeLSTM(TreeEncoder):
    """An LSTM over trees (Dufour 2015, Eq. 2 to 9): h of the root, then a layer, (N, D).

        i, o = sigmoid(W x + sum_j U_g(j) h_j + b)                          (Eq. 7, 8)
        u    = tanh(W_u x + sum_j U_g(j) h_j + b_u)                         (Eq. 9)
        f_j  = sigmoid(W_f x + sum_k U_g(j)g(k) h_k + b_f)                  (Eq. 5, 6)
        c    = i * u + sum_j f_j * c_j                                      (Eq. 4)
        h    = o * tanh(c)                                                  (Eq. 3)

    over the children j, k of a node; g(j) is the group of the edge from j. Children of one group
    share a forget gate, as if their h and c had been summed before (Eq. 2).

    Args:
        vocab: The known words.
        shape: How a sentence becomes a tree.
        word_dim: Length of a word vector.
        units: Length of h and c.
        dim: Length D of the embeddings.
        layer: (B, units) -> (B, dim), applied to h of the root.
        dropout: Share of word vectors and of the root's state set to 0.
        head: Applied last; by default it normalises to length 1.
    """

    def __init__(  # noqa: PLR0913 -- hyperparameters, keyword-only
        self,
        vocab: Vocab,
        shape: Shape,
        *,
        word_dim: int,
        units: int,
        dim: int,
        layer: nn.Module,
        dropout: float = 0.0,
        head: Head | None = None,
    ) -> None:
        super().__init__(vocab, shape, word_dim)
        self.dim = dim
        groups = len(shape.names)
        self.word = nn.Linear(word_dim, 4 * units)  # i, o, u, f
        self.weights = nn.Parameter(torch.zeros(groups, (3 + groups) * units, units))
        self.layer = layer
        self.dropout = nn.Dropout(dropout)
        self.head = Head() if head is None else head
        for weights in (self.word.weight.data, *self.weights.data):
            for gate in weights.split(units):
                nn.init.xavier_uniform_(gate)
        nn.init.zeros_(self.word.bias)
        nn.init.ones_(self.word.bias[3 * units :])

    def states(self, tree: Levels) -> Tensor:
        """Compute h of every node, (N, units), in the order of `tree`."""
        words: Tensor = self.word(self.dropout(self.table(tree.words)))  # (N, 4 units)
        x, weights = words.to(self.weights.dtype), self.weights.transpose(1, 2)
        if torch.is_autocast_enabled(x.device.type) and torch.is_grad_enabled():
            # Its products take about half the time; what was learned is used in full precision.
            weights = weights.to(torch.get_autocast_dtype(x.device.type))
        with torch.autocast(x.device.type, enabled=False):  # the recursion writes in place
            h: Tensor = _Recursion.apply(x, weights, tree)
        return h

    def forward(self, batch: Levels) -> Embeddings:
        """Embed a batch of B trees: (B, D)."""
        roots = self.dropout(self.states(batch)[batch.roots])  # (B, units)
        return Embeddings(self.head(self.layer(roots)))
