"""The tree networks computed node by node, as the papers write them.

The tests compare level batching with it, and `vsdemo bench` times it.
"""

from __future__ import annotations

import torch
from torch import Tensor

from vsdemo.core.sentences import Sentence
from vsdemo.encoders.tree.lstm import TreeLSTM
from vsdemo.encoders.tree.rnn import TreeRNN


def rnn(encoder: TreeRNN, sentence: Sentence) -> Tensor:
    """Compute the state of the root, (D,) (Socher 2014, Eq. 1 to 4)."""
    nodes = encoder.shape(sentence, encoder.vocab)
    children, root = nodes.children()
    words = encoder.table(torch.tensor(nodes.words, device=encoder.weights.device))

    def visit(i: int) -> tuple[Tensor, int]:
        """Return the state of node i and its size."""
        total, size = encoder.word(words[i]), 1
        for j in children[i]:
            h, below = visit(j)
            group = nodes.groups[j]
            if group < len(encoder.weights):
                h = encoder.weights[group] @ h
            total = total + (below * h if encoder.weighted else h)
            size += below
        total = total / size if encoder.weighted else total
        return encoder.nonlinearity.apply_(total.clone()), size  # Eq. 4

    return visit(root)[0]


def lstm(encoder: TreeLSTM, sentence: Sentence) -> Tensor:
    """Compute h of the root, (units,) (Dufour 2015, Eq. 2 to 9)."""
    nodes = encoder.shape(sentence, encoder.vocab)
    children, root = nodes.children()
    words = encoder.table(torch.tensor(nodes.words, device=encoder.weights.device))
    d = encoder.weights.shape[2]

    def visit(i: int) -> tuple[Tensor, Tensor]:
        """Return h and c of node i."""
        below = [(nodes.groups[j], *visit(j)) for j in children[i]]
        x = encoder.word(words[i])
        x = torch.cat([x, x[3 * d :].repeat(len(encoder.weights) - 1)])
        gates = x + sum(encoder.weights[group] @ h for group, h, _ in below)
        i_gate, o, u, *forget = gates.split(d)
        c = i_gate.sigmoid() * u.tanh()
        for group, _, c_child in below:
            c = c + forget[group].sigmoid() * c_child  # Eq. 4
        return o.sigmoid() * c.tanh(), c  # Eq. 3

    return visit(root)[0]
